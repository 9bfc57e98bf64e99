package cli_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"remit/internal/cli"
)

// Each command has a page with each of its flags, and the day is the only thing of the world in it.
func TestManualHasEachCommandAndFlag(t *testing.T) {
	day := time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)
	pages := map[string]string{}
	for _, page := range cli.Manual(day) {
		pages[page.Name] = page.Text
	}
	for _, page := range cli.Manual(day.In(time.FixedZone("east", 5*3600))) {
		if pages[page.Name] != page.Text {
			t.Errorf("%s depends on a time zone", page.Name)
		}
	}
	name := regexp.MustCompile(`^[a-z-]+( [a-z][a-z-]*)*`)
	for _, command := range cli.Commands() {
		words := name.FindString(command.Usage)
		if command.Usage == "completion bash|zsh|fish|powershell" {
			words = "completion"
		}
		text, ok := pages["remit-"+strings.ReplaceAll(words, " ", "-")+".1"]
		if !ok {
			t.Errorf("remit %s has no page", command.Usage)
			continue
		}
		if !strings.Contains(text, " 1 2026-11-21 ") {
			t.Errorf("the page of remit %s lacks its day", words)
		}
		for _, flag := range command.Flags {
			if !strings.Contains(text, `\fB`+strings.ReplaceAll("--"+flag.Name, "-", `\-`)+`\fR`) {
				t.Errorf("the page of remit %s lacks --%s", words, flag.Name)
			}
		}
	}
	for name, text := range pages {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "'") {
				t.Errorf("%s: roff takes %q for a request", name, line)
			}
		}
	}
}
