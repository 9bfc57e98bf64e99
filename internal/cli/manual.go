package cli

import (
	"fmt"
	"strings"
	"time"

	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/text/lazyregexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Page is a page of the manual, of section 1.
type Page struct {
	Name string // its file, such as remit-state-show.1
	Text string // in the macros of man(7)
}

// Manual is a page for remit and one for each of its commands, dated with that day. The same commands
// and the same day make the same bytes.
//
// cobra's package doc is no substitute. It writes Markdown, which go-md2man, a dependency more, turns into roff: a `*`
// or `_` of a help text becomes emphasis, indented examples are filled like prose, and there is no place for the exit
// status. The pages would need the same 150 lines again to mend that.
func Manual(day time.Time) []Page {
	return pagesBelow(newRoot(&process{host: &host.Host{}, streams: &terminal.Streams{}}), day.UTC().Format(time.DateOnly))
}

func pagesBelow(cmd *cobra.Command, day string) []Page {
	pages := []Page{{pageName(cmd) + ".1", pageOf(cmd, day)}}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			pages = append(pages, pagesBelow(sub, day)...)
		}
	}
	return pages
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func pageOf(cmd *cobra.Command, day string) string {
	var b strings.Builder
	name := pageName(cmd)
	fmt.Fprintf(&b, ".TH %s 1 %s \"remit %s\" \"remit\"\n", quoteRoff(strings.ToUpper(name)), day, readVersion().Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", escapeRoff(name), escapeRoff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", escapeRoff(cmd.CommandPath()))
	if words := strings.TrimSpace(strings.TrimPrefix(cmd.Use, cmd.Name())); words != "" {
		fmt.Fprintf(&b, "%s\n", escapeRoff(words))
	}
	if cmd.HasSubCommands() {
		b.WriteString("COMMAND\n")
	}
	if cmd.HasAvailableFlags() {
		b.WriteString("[FLAGS]\n")
	}
	if cmd.Long != "" {
		b.WriteString(".SH DESCRIPTION\n" + paragraphs(wrapped(cmd.Long)))
	}
	flagsRoff(&b, "FLAGS", cmd.NonInheritedFlags())
	flagsRoff(&b, "FLAGS OF ALL COMMANDS", cmd.InheritedFlags())
	commandsRoff(&b, cmd)
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + ".nf\n" + lines(cmd.Example) + ".fi\n")
	}
	if !cmd.HasParent() {
		b.WriteString(exitsRoff)
	}
	alsoRoff(&b, cmd)
	return b.String()
}

// exitsRoff is what a scheduler needs to know.
const exitsRoff = `.SH EXIT STATUS
.TP
.B 0
done, or nothing to do
.TP
.B 1
an error: nothing was sent
.TP
.B 2
of plan \-\-detailed\-exitcode: there is something to submit or to resolve
.TP
.B 3
some of the run's transfers were refused, failed or not attempted
.TP
.B 4
some are in doubt, unverified or in conflict, or the state failed: action needed
.TP
.B 5
a control said no: nothing was sent
.TP
.B 129, 130, 143
interrupted, nothing in doubt
`

func flagsRoff(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", escapeRoff(name))
		if value != "" {
			fmt.Fprintf(b, "=\\fI%s\\fR", escapeRoff(value))
		}
		fmt.Fprintf(b, "\n%s", lines(usage))
	})
}

func commandsRoff(b *strings.Builder, cmd *cobra.Command) {
	if !cmd.HasSubCommands() {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			fmt.Fprintf(b, ".TP\n.BR %s (1)\n%s", escapeRoff(pageName(sub)), lines(sub.Short))
		}
	}
}

func alsoRoff(b *strings.Builder, cmd *cobra.Command) {
	b.WriteString(".SH SEE ALSO\n")
	if cmd.HasParent() {
		fmt.Fprintf(b, ".BR %s (1),\n", escapeRoff(pageName(cmd.Parent())))
	}
	b.WriteString("/usr/share/doc/remit\n")
}

// paragraphs sets a help text; indented lines keep their layout.
func paragraphs(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(part, " ") {
			b.WriteString(".nf\n" + lines(part) + ".fi\n")
			continue
		}
		b.WriteString(lines(part))
	}
	return b.String()
}

func lines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(escapeRoff(line) + "\n")
	}
	return b.String()
}

// control is a line that roff would take for a request.
var control = lazyregexp.New(`(?m)^([.'])`)

// escapeRoff writes text so that roff shows just that: hyphens are those that can be pasted into a shell.
func escapeRoff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return control.ReplaceAllString(text, `\&$1`)
}

func quoteRoff(text string) string { return `"` + strings.ReplaceAll(text, "-", `\-`) + `"` }
