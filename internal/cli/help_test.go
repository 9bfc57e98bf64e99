package cli_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"remit/internal/cli"
	"remit/internal/cli/host"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// below calls visit with cmd and all commands below it.
func below(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		below(sub, visit)
	}
}

// The help of each command names a page that there is, and that of each that does something ends with
// two command lines that remit takes.
func TestHelpEndsWithTwoExamplesAndAPage(t *testing.T) {
	var paths []string
	below(cli.NewRoot(), func(cmd *cobra.Command) {
		path := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "remit"), " ")
		paths = append(paths, path)
		page := cli.PageOf(cmd)
		if text, err := os.ReadFile(filepath.Join("../..", page)); err != nil {
			t.Errorf("remit %s: no page to read: %v", path, err)
		} else if !cmd.HasSubCommands() && !strings.Contains(string(text), cmd.Name()) {
			t.Errorf("%s does not name remit %s", page, path)
		}
		if cmd.HasSubCommands() {
			return
		}
		examples := strings.Split(cmd.Example, "\n")
		if len(examples) != 2 || examples[0] == examples[len(examples)-1] {
			t.Errorf("remit %s has the examples %q; want two", path, examples)
		}
		for _, example := range examples {
			if err := accepted(example, cmd.CommandPath()); err != "" {
				t.Errorf("remit %s shows %q: %s", path, example, err)
			}
		}
		usage := strings.TrimRight(cmd.UsageString(), "\n")
		if want := "Examples:\n" + cmd.Example + "\n\nRead more: " + page; !strings.HasSuffix(usage, want) {
			t.Errorf("the help of remit %s ends with %q, not with %q", path, usage[max(0, len(usage)-len(want)):], want)
		}
	})
	slices.Sort(paths)
	guided := cli.Guided()
	slices.Sort(guided)
	if !slices.Equal(paths, guided) {
		t.Errorf("the help has guides for\n%q\nand remit has the commands\n%q", guided, paths)
	}
}

// beforeOperator is a command line of a shell up to its redirection or its pipe.
var beforeOperator = regexp.MustCompile(`^(?:[^'"<>|]|'[^']*'|"[^"]*")*`)

// accepted says why remit would not take an example of the command with that path, or nothing.
func accepted(example, path string) string {
	line := regexp.MustCompile(`remit .*`).FindString(example)
	if strings.Contains(example, "<(") {
		line = strings.TrimSuffix(line, ")")
	}
	words, err := host.SplitWords(beforeOperator.FindString(line))
	if err != nil || len(words) == 0 {
		return "it has no words of remit"
	}
	cmd, rest, err := cli.NewRoot().Find(words[1:])
	if err != nil || cmd.CommandPath() != path {
		return "it is of another command"
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err.Error()
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err.Error()
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return err.Error()
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return err.Error()
	}
	return ""
}

// Every flag has one heading of the help, and every heading's names are those of flags.
func TestHelpHasAHeadingForEachFlag(t *testing.T) {
	titles := map[string][]string{}
	for title, names := range cli.FlagNames {
		if !slices.Contains(cli.FlagTitles, title) {
			t.Errorf("the heading %s has no place in the help", title)
		}
		for name := range strings.FieldsSeq(names) {
			titles[name] = append(titles[name], title)
		}
	}
	for _, name := range cli.FaceFlags() {
		titles[name] = append(titles[name], "Output")
	}
	flags := map[string]bool{}
	below(cli.NewRoot(), func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		visit := func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			flags[f.Name] = true
			if len(titles[f.Name]) != 1 {
				t.Errorf("--%s of %s has the headings %q; want one in flagNames", f.Name, cmd.CommandPath(), titles[f.Name])
			}
		}
		cmd.LocalFlags().VisitAll(visit)
		cmd.InheritedFlags().VisitAll(visit)
	})
	for _, name := range slices.Sorted(maps.Keys(titles)) {
		if !flags[name] {
			t.Errorf("no command has the flag --%s of the heading %q", name, titles[name])
		}
	}
}

// The part below the text of a command's help fits on a terminal of 80 columns, and no heading is empty.
func TestHelpFitsOnATerminal(t *testing.T) {
	below(cli.NewRoot(), func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		usage := cmd.UsageString()
		for line := range strings.Lines(usage) {
			if line = strings.TrimRight(line, "\n"); utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: %d columns: %s", cmd.CommandPath(), utf8.RuneCountInString(line), line)
			}
		}
		if empty := regexp.MustCompile(`(?m)^\w+:\n(\n|\z)`).FindString(usage); empty != "" {
			t.Errorf("%s has nothing below %q", cmd.CommandPath(), empty)
		}
		if cmd.HasSubCommands() {
			return
		}
		shown := strings.Count(usage, "\n      --") + strings.Count(usage, "\n  -h, --")
		want := 0
		count := func(f *pflag.Flag) {
			if !f.Hidden {
				want++
			}
		}
		cmd.LocalFlags().VisitAll(count)
		cmd.InheritedFlags().VisitAll(count)
		if shown != want {
			t.Errorf("the help of %s shows %d of %d flags", cmd.CommandPath(), shown, want)
		}
	})
}
