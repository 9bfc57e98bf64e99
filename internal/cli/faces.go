package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/executor"
	"remit/internal/accounts/books"
	"remit/internal/accounts/reconcile"
	"remit/internal/evidence"
	"remit/internal/tree"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// face is one form in which a command writes what it found, besides text for a terminal and JSON Lines. W is the
// type of its writer. The tables in this file have every face of every command: a new one is a writer in
// package view and a line here. Flags, usage texts, completion and messages are made from the line.
type face[W any] struct {
	name  string // of its flag, or the word that --format takes
	usage string // of its flag; where --format names the face, what help calls it
	start string // how its files begin, so that --out replaces only such a file; "" where there is no --out
	write W
}

// faces are those of one command.
type faces[W any] []face[W]

// showFaces are those of a saved plan and of a past run.
func showFaces() faces[showWriters] {
	return faces[showWriters]{
		{name: "markdown", usage: "write a saved plan or a run as Markdown, for a comment of a pull request", write: showWriters{view.PlanMarkdown, view.PastMarkdown}},
		{name: "html", usage: "write a saved plan or a run as one page that needs nothing else, for a browser and for paper", write: showWriters{view.PlanHTML, view.PastHTML}},
		{name: "csv", usage: "write a saved plan or a run as a payment register, for a spreadsheet", write: showWriters{view.PlanCSV, view.PastCSV}},
	}
}

// treeFaces are those of the configurations of a tree, each written to a file beside what a person or a program reads.
func treeFaces() faces[treeWriter] {
	return faces[treeWriter]{
		{name: "markdown", usage: "with --recursive: write Markdown to this `file` as well, for a comment of a pull request", start: view.TreeMarkdownStart, write: view.TreeMarkdown},
		{name: "html", usage: "with --recursive: write one page that needs nothing else to this `file` as well", start: view.TreeStart, write: view.TreeHTML},
	}
}

// treeWriter writes the configurations of a tree.
type treeWriter func(io.Writer, *tree.Tree, view.Screen) error

// showWriters are the two that each face of show has.
type showWriters struct {
	plan func(io.Writer, *planner.Plan, view.PlanOptions) error
	run  func(io.Writer, *executor.PastRun, view.PastOptions) error
}

// reconcileFaces are those of a reconciliation.
func reconcileFaces() faces[reconcileWriter] {
	return faces[reconcileWriter]{
		{name: "markdown", usage: "write Markdown, for a comment or a ticket", write: atEnd(view.ReconciliationMarkdown)},
		{name: "html", usage: "write one page that needs nothing else, for a browser and for paper", write: atEnd(view.ReconciliationHTML)},
		{name: "csv", usage: "write a line for each transfer, for a spreadsheet", write: reconcileCSV},
	}
}

// reconcileWriter makes a face of a reconciliation that writes to out.
type reconcileWriter func(out io.Writer) reconcileFace

type reconcileFace struct {
	line func(*reconcile.Item) error // is told of each transfer as soon as it is judged; nil for a face that needs the whole alone
	end  func(*reconcile.Summary, view.ReconciliationOptions) error
}

// atEnd makes a face that needs the whole alone.
func atEnd(write func(io.Writer, *reconcile.Summary, view.ReconciliationOptions) error) reconcileWriter {
	return func(out io.Writer) reconcileFace {
		return reconcileFace{end: func(s *reconcile.Summary, o view.ReconciliationOptions) error { return write(out, s, o) }}
	}
}

func reconcileCSV(out io.Writer) reconcileFace {
	c := view.NewReconciliationCSV(out)
	return reconcileFace{c.Line, c.End}
}

// bookFaces are those of export.
func bookFaces() faces[bookWriter] {
	return faces[bookWriter]{
		{name: "csv", start: view.CSVStart, write: bookWriter{books.ByTime, view.BooksCSV}},
		{name: "jsonl", start: linesStart, write: bookWriter{books.ByTime, view.BooksJSON}},
		{name: "hledger", start: view.HledgerStart, write: bookWriter{books.ByTime, view.BooksHledger}},
		{name: "beancount", start: view.BeancountStart, write: bookWriter{books.ByTime, view.BooksBeancount}},
		{name: "ledger", start: view.LedgerStart, write: bookWriter{books.ByTime, view.BooksLedger}},
		{name: "pain002", start: view.Pain002Start, write: bookWriter{books.ByPayment, view.BooksPain002}},
	}
}

// bookWriter writes entries that come in an order.
type bookWriter struct {
	by    books.Grouping
	books view.WriteBooks
}

// graphFaces are those of graph; the first is written where none is named.
func graphFaces() faces[func(*view.Flow, io.Writer) error] {
	return faces[func(*view.Flow, io.Writer) error]{
		{name: "dot", usage: "Graphviz's DOT", write: (*view.Flow).DOT},
		{name: "mermaid", usage: "Mermaid", write: (*view.Flow).Mermaid},
		{name: "svg", usage: "SVG", write: (*view.Flow).SVG},
	}
}

// packFaces are the files of an evidence pack that show how each transfer ended. They have the text
// of show --run, without facts that only the day of the export knows.
func packFaces() []evidence.Face {
	options := func(past *executor.PastRun) view.PastOptions {
		b := past.Run.Begun
		return view.PastOptions{Meta: state.Meta{Environment: b.Environment, Lineage: b.Lineage, Service: b.Service}}
	}
	return []evidence.Face{
		{File: evidence.LinesFile, Write: func(w io.Writer, past *executor.PastRun) error {
			return view.NewJSON(w, readVersion().Version).Past(past, options(past))
		}},
		{File: evidence.RegisterFile, Write: func(w io.Writer, past *executor.PastRun) error { return view.PastCSV(w, past, options(past)) }},
	}
}

// faceFlags are the names of the faces that have flags, each once. Help lists them below Output.
func faceFlags() []string {
	names := slices.Concat(showFaces().names(), treeFaces().names(), reconcileFaces().names())
	slices.Sort(names)
	return slices.Compact(names)
}

// flags adds a flag for each face.
func (f faces[W]) flags(cmd *cobra.Command) {
	for _, one := range f {
		cmd.Flags().Bool(one.name, false, one.usage)
	}
}

// asked are the faces whose flags are given.
func (f faces[W]) asked(flags *pflag.FlagSet) faces[W] {
	return slices.DeleteFunc(slices.Clone(f), func(one face[W]) bool {
		isAsked, err := flags.GetBool(one.name)
		return err != nil || !isAsked
	})
}

// named is the face of a name.
func (f faces[W]) named(name string) (face[W], bool) {
	i := slices.IndexFunc(f, func(one face[W]) bool { return one.name == name })
	if i < 0 {
		return face[W]{}, false
	}
	return f[i], true
}

// names are those of the faces, in order.
func (f faces[W]) names() []string {
	names := make([]string, len(f))
	for i, one := range f {
		names[i] = one.name
	}
	return names
}

// usages are those of the faces, in order.
func (f faces[W]) usages() []string {
	usages := make([]string, len(f))
	for i, one := range f {
		usages[i] = one.usage
	}
	return usages
}

// choice lists names of which one may be given.
func choice(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
