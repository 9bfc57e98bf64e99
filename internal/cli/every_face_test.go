package cli

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"iter"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/shopspring/decimal"

	"remit/executor"
	"remit/internal/accounts/books"
	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
	"remit/internal/tree"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// facesOf are the tables of faces.go, by the functions that return them. Each writes its faces of things of which every text is one.
var facesOf = map[string]func(t *testing.T, text string) map[string]string{
	"showFaces": func(t *testing.T, text string) map[string]string {
		written := make(map[string]string)
		for _, f := range showFaces() {
			written[f.name+" of a plan"] = writtenBy(t, func(w io.Writer) error {
				return f.write.plan(w, planOf(text), view.PlanOptions{Saved: true, Names: map[string]string{text: text}, Approvals: filled[[]view.Approval](text), NoTier: []string{text}, NoLimit: []string{text}})
			})
			written[f.name+" of a run"] = writtenBy(t, func(w io.Writer) error { return f.write.run(w, pastOf(text), filled[view.PastOptions](text)) })
		}
		return written
	},
	"treeFaces": func(t *testing.T, text string) map[string]string {
		return each(t, treeFaces(), func(write treeWriter, w io.Writer) error { return write(w, treeOf(text), view.Screen{}) })
	},
	"reconcileFaces": func(t *testing.T, text string) map[string]string {
		return each(t, reconcileFaces(), func(write reconcileWriter, w io.Writer) error {
			s := summaryOf(text)
			face := write(w)
			for _, list := range s.Lists {
				if face.line != nil && face.line(&list[0]) != nil {
					t.Error("no line")
				}
			}
			o := filled[view.ReconciliationOptions](text)
			o.Screen, o.ShowAll = view.Screen{}, true
			return face.end(s, o)
		})
	},
	"bookFaces": func(t *testing.T, text string) map[string]string {
		return each(t, bookFaces(), func(write bookWriter, w io.Writer) error {
			s, o := filled[books.Summary](text), filled[view.BooksOptions](text)
			o.Prefix, o.Version = "Assets", "1.0.0" // which are no text from elsewhere
			return write.books(w, &s, entriesOf(text), o)
		})
	},
	"graphFaces": func(t *testing.T, text string) map[string]string {
		return each(t, graphFaces(), func(write func(*view.Flow, io.Writer) error, w io.Writer) error {
			return write(view.NewFlow(planOf(text), map[string]string{text: text}), w)
		})
	},
	"packFaces": func(t *testing.T, text string) map[string]string {
		written := make(map[string]string)
		for _, f := range packFaces() {
			written[f.File] = writtenBy(t, func(w io.Writer) error { return f.Write(w, pastOf(text)) })
		}
		return written
	},
}

// TestEveryFaceWritesHostileTextAsText gives each face of each table text that would be a formula, an element of a page, a
// command to a terminal or a line of its own, and looks for it in what the face writes. No face needs an edit here.
func TestEveryFaceWritesHostileTextAsText(t *testing.T) {
	const harmless = "h0st"
	for name, write := range facesOf {
		benign, isTold := write(t, harmless), make(map[string]bool)
		for _, text := range []string{
			"=HYPERLINK(\"//x.example\") h0st", "@SUM(1) h0st", "+1 h0st", "-1 h0st", "\t=1 h0st", "a\",\"=1 h0st", "a;=1 h0st",
			"<script>h0st</script>", "\"><script>h0st</script>", "`<script>`<script>h0st", "\x1b[2J\x07h0st\u202e\u200b\u009b31m\u2028\U000E0041", "h0st\r\nforged", "h0st\nforged",
		} {
			for face, got := range write(t, text) {
				if !strings.Contains(benign[face], harmless) {
					t.Fatalf("%s, %s: no text of a thing is in %q", name, face, benign[face])
				}
				if why := rawText(got, benign[face]); why != "" && !isTold[face] {
					isTold[face] = true
					t.Errorf("%s, %s, with the text %q: %s. Write text from elsewhere through Visible, or cellText in a cell of CSV", name, face, text, why)
				}
			}
		}
	}
}

// TestEveryTableOfFacesIsTried names a table that the test above does not know.
func TestEveryTableOfFacesIsTried(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "faces.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		f, isFunction := decl.(*ast.FuncDecl)
		if !isFunction || f.Recv != nil || f.Type.Results == nil {
			continue
		}
		if of := types.ExprString(f.Type.Results.List[0].Type); (strings.HasPrefix(of, "faces[") || of == "[]evidence.Face") && facesOf[f.Name.Name] == nil {
			t.Errorf("facesOf, in every_face_test.go, lacks the table %s", f.Name.Name)
		}
	}
}

// markup is of a page or of Markdown.
var markup = regexp.MustCompile("(?m)<|\\*\\*|`|^(#|\\|)")

// rawText says which text of a thing a face wrote as it is; "" for none. benign is the same with a harmless text.
func rawText(got, benign string) string {
	separator := separatorOf(benign)
	for _, r := range strings.ReplaceAll(got, "\r\n", "\n") {
		if r != '\n' && r != separator && unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' {
			return fmt.Sprintf("it writes the character %U", r)
		}
	}
	if strings.Contains(got, "\nforged") {
		return "the text begins a line"
	}
	if separator != 0 {
		return formulaIn(got, separator)
	}
	page := got
	if !strings.HasPrefix(benign, "<") || !strings.HasSuffix(strings.TrimSpace(benign), ">") { // Markdown, and text
		page = outsideCode(got)
	}
	if markup.MatchString(benign) && strings.Contains(page, "<script>h0st") {
		return "it writes an element of a page"
	}
	return ""
}

// separatorOf is the character between the cells of a face that a spreadsheet reads; 0 for another face.
func separatorOf(benign string) rune {
	for _, separator := range ",;\t" {
		rows, err := readCells(benign, separator)
		if err == nil && len(rows) > 1 && len(rows[0]) > 2 { // each row has as many
			return separator
		}
	}
	return 0
}

func readCells(text string, separator rune) ([][]string, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = separator
	return r.ReadAll()
}

// formulaIn says which cell a spreadsheet would compute; "" for none.
func formulaIn(text string, separator rune) string {
	rows, err := readCells(text, separator)
	if err != nil {
		return err.Error()
	}
	for _, row := range rows {
		for _, cell := range row {
			for part := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(",;|\t\"", r) }) {
				if start := strings.TrimLeft(part, " "); start != "" && strings.ContainsRune("=+-@", rune(start[0])) {
					return fmt.Sprintf("a cell begins a formula, %q", cell)
				}
			}
		}
	}
	return ""
}

// outsideCode is Markdown without its blocks and spans of code.
func outsideCode(text string) string {
	var out strings.Builder
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			if len(run) >= len(fence) && strings.TrimRight(line, " `") == "" {
				fence = ""
			}
			continue
		case len(run) >= 3 && !strings.Contains(line[len(run):], "`"):
			fence = run
			continue
		}
		for line != "" {
			before, rest, isCode := strings.Cut(line, "`")
			out.WriteString(before)
			if !isCode {
				break
			}
			after := strings.TrimLeft(rest, "`")
			run := len(rest) - len(after) + 1
			end := regexp.MustCompile("(^|[^`])`{" + strconv.Itoa(run) + "}([^`]|$)").FindStringIndex(after)
			if end == nil {
				out.WriteString(strings.Repeat("`", run))
				line = after
				continue
			}
			line = strings.TrimLeft(after[end[0]+strings.Index(after[end[0]:], strings.Repeat("`", run)):], "`")
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// each writes every face of a table.
func each[W any](t *testing.T, table faces[W], write func(W, io.Writer) error) map[string]string {
	t.Helper()
	written := make(map[string]string)
	for _, f := range table {
		written[f.name] = writtenBy(t, func(w io.Writer) error { return write(f.write, w) })
	}
	return written
}

func writtenBy(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Error(err)
	}
	return b.String()
}

// planOf has a line of every action.
func planOf(text string) *planner.Plan {
	p := filled[planner.Plan](text)
	p.Totals = make(map[planner.Action]*transfer.Totals)
	for _, action := range planner.Actions() {
		c := filled[planner.Change](text)
		c.Action, c.Recorded.Status = action, state.Recorded
		p.Changes.Add(&c)
		p.Totals[action] = new(transfer.Totals)
		p.Totals[action].AddRequest(&c.Request)
	}
	return &p
}

// pastOf has a line of every result.
func pastOf(text string) *executor.PastRun {
	past := filled[executor.PastRun](text)
	line := past.Lines[0]
	past.Lines = nil
	for _, result := range executor.Results() {
		line.Result = result
		past.Lines = append(past.Lines, line)
	}
	return &past
}

func treeOf(text string) *tree.Tree {
	found := filled[tree.Tree](text)
	found.Entries[0].Brief.Actions = planOf(text).Totals
	return &found
}

// summaryOf has an item of every break.
func summaryOf(text string) *reconcile.Summary {
	s := filled[reconcile.Summary](text)
	item := filled[reconcile.Item](text)
	s.Lists = make(map[reconcile.Break][]reconcile.Item)
	for _, b := range reconcile.Breaks() {
		item.Result, item.Breaks = reconcile.Differs, []reconcile.Break{b}
		s.Lists[b] = []reconcile.Item{item}
		s.Breaks[b], s.Gravest[b] = 1, 1
	}
	return &s
}

// entriesOf has an entry of every cause, and one without. A cause and an operation are words of remit.
func entriesOf(text string) iter.Seq2[*books.Entry, error] {
	return func(yield func(*books.Entry, error) bool) {
		for _, cause := range append(books.Causes(), "") {
			e := filled[books.Entry](text)
			e.Status, e.Cause, e.Operation = state.Recorded, cause, transfer.Internal
			if !yield(&e, nil) {
				return
			}
		}
	}
}

// filled is a thing with a text wherever any can be, and one of everything that there can be several of.
func filled[T any](text string) T {
	var thing T
	fill(reflect.ValueOf(&thing).Elem(), text)
	return thing
}

func fill(v reflect.Value, text string) {
	switch one := v.Addr().Interface().(type) {
	case *time.Time:
		*one = time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
		return
	case *decimal.Decimal:
		*one = decimal.RequireFromString("10.00")
		return
	case *transfer.Amount:
		*one = transfer.MustAmount("10.00")
		return
	case *transfer.Totals:
		one.Add(text, transfer.MustAmount("10.00"))
		return
	case *json.RawMessage:
		*one, _ = json.Marshal(text)
		return
	}
	switch kind := v.Kind(); {
	case kind == reflect.String:
		v.SetString(text)
	case v.CanInt():
		v.SetInt(1)
	case v.CanUint():
		v.SetUint(1)
	case kind == reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), text)
			}
		}
	case kind == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case kind == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case kind == reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text)
		fill(value, text)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	}
}
