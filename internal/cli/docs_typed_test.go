package cli_test

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-shellwords"

	"remit/internal/cli"
)

// TestDocsTyped holds every command line of remit on a page, in a block, a table or a sentence, to a command and
// flags that there are, and has remit read each of them, up to where it would begin: it ends with --help.
func TestDocsTyped(t *testing.T) {
	flags := map[string][]string{} // by the words of the command
	for _, command := range cli.Commands() {
		var names []string
		for _, flag := range command.Flags {
			names = append(names, flag.Name)
		}
		flags[wordsOf(command.Usage)] = names
	}
	for name, page := range markdown(t) {
		for _, line := range slices.Concat(typed(page.text), typedInFences(page)) {
			if err := checkLine(line, flags); err != nil {
				t.Errorf("%s shows %q: %v", name, line, err)
			}
			if said := readAsHelp(t, line); said != "" {
				t.Errorf("%s shows %q, which remit does not take:\n%s", name, line, said)
			}
		}
	}
}

// typedInFences are the command lines of fences for a shell that begin where a line does.
func typedInFences(page document) []string {
	var lines []string
	language, isFence := "", false
	for line := range strings.Lines(page.text) {
		if of, isMark := strings.CutPrefix(strings.TrimSpace(line), "```"); isMark {
			language, isFence = of, !isFence
			continue
		}
		if m := regexp.MustCompile(`^(?:[A-Z_]+=\S+ )*(remit .*)`).FindStringSubmatch(line); m != nil && isFence && slices.Contains([]string{"", "sh", "console"}, language) {
			lines = append(lines, m[1])
		}
	}
	return lines
}

// readAsHelp has remit read a command line whose last word is --help, and returns what it says against it. A value
// that the page leaves to its reader, such as N, is left out.
func readAsHelp(t *testing.T, line string) string {
	line = regexp.MustCompile(`\$\([^)]*\)`).ReplaceAllString(strings.ReplaceAll(line, `\|`, "|"), "X")
	line, _, _ = strings.Cut(regexp.MustCompile(`;.*$|\s(?:[|>&]|2>).*$`).ReplaceAllString(line, ""), " # ")
	line = regexp.MustCompile(`\s--[a-z-]+$`).ReplaceAllString(line, "") // a flag in a sentence, without its value
	words, err := shellwords.Parse(strings.NewReplacer("$", "", "…", "X").Replace(line))
	if err != nil || len(words) < 2 || regexp.MustCompile(`^[A-Z]`).MatchString(words[1]) {
		return "" // remit COMMAND
	}
	words = slices.DeleteFunc(words[1:], func(word string) bool { return regexp.MustCompile(`^--[a-z-]+=[A-Z_]+$`).MatchString(word) })
	var out strings.Builder
	code := cli.Run(t.Context(), append(words, "--help"), strings.NewReader(""), io.Discard, &out, func(string) (string, bool) { return "", false })
	if code != 0 {
		return out.String()
	}
	return ""
}

// wordsOf are the words that name a command, such as "state show", of how it is used.
func wordsOf(usage string) string {
	return regexp.MustCompile(`^[a-z-]+(?: [a-z][a-z-]*\b)*`).FindString(regexp.MustCompile(` [^a-z].*| \S*\|.*`).ReplaceAllString(usage, ""))
}

// typed are the command lines of remit on a page.
func typed(text string) []string {
	var lines []string
	for _, m := range regexp.MustCompile("(?m)^(?:\\$ |    +)(?:[A-Z_]+=\\S+ )*(remit .*)$|`(remit [^`\n]+)`").FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[1]+m[2])
	}
	return lines
}

// checkLine fails where no command has the words of a line, or where it lacks a flag of it.
func checkLine(line string, flags map[string][]string) error {
	line = regexp.MustCompile(`'[^']*'|"[^"]*"`).ReplaceAllString(line, "…")
	line, _, _ = strings.Cut(regexp.MustCompile(`;.*$|\s(?:[|>&]|2>).*$`).ReplaceAllString(line, ""), " # ")
	words := strings.Fields(line)[1:]
	if len(words) == 0 || regexp.MustCompile(`^[A-Z…-]`).MatchString(words[0]) {
		return nil // remit COMMAND
	}
	path := ""
	for n := min(2, len(words)); n > 0 && path == ""; n-- {
		if _, known := flags[strings.Join(words[:n], " ")]; known {
			path = strings.Join(words[:n], " ")
		}
	}
	if path == "" {
		for command := range flags {
			if strings.HasPrefix(command, words[0]+" ") && (len(words) == 1 || words[1] == "…") {
				return nil // a group of commands
			}
		}
		return fmt.Errorf("there is no such command")
	}
	for _, word := range words {
		m := regexp.MustCompile(`^--?([a-z][a-z-]+)`).FindStringSubmatch(word)
		if m != nil && !slices.Contains(flags[path], m[1]) && m[1] != "help" && m[1] != "no-color" {
			return fmt.Errorf("remit %s has no flag --%s", path, m[1])
		}
	}
	return nil
}

// TestDocsRun holds that a script runs each page that shows commands and what they print.
func TestDocsRun(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]bool{"../README.md": true} // TestReadme
	for _, script := range scripts {
		for _, m := range regexp.MustCompile(`(?m)^page (\S+)`).FindAllStringSubmatch(readFile(t, script), -1) {
			run[m[1]] = true
		}
	}
	for name, page := range markdown(t) {
		if strings.Contains(page.text, "```console\n") && !run[name] {
			t.Errorf("no script runs what %s shows", name)
		}
	}
}

// TestDocsNamed holds that the pages which remit names in what it prints are there.
func TestDocsNamed(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, page := range regexp.MustCompile(`docs/[a-z0-9/-]+\.md`).FindAllString(string(content), -1) {
			if _, err := os.Stat(filepath.Join(root, page)); err != nil {
				t.Errorf("%s names %s, which is not there", path, page)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
