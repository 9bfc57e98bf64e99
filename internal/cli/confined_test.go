package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"remit/internal/cli"
	"remit/internal/proof/suite"
)

// everyCommand is at least one command line of each command, on a directory that may be hostile. CHDIR stands for
// --chdir where that is not the last word.
var everyCommand = []string{
	"apply --sandbox --auto-approve", "apply --auto-approve", "apply november.plan", "approve november.plan --count=1 --total=USD:1 --key=key",
	"audit export --run=00000000-0000-4000-8000-000000000000 --out=pack", "audit log", "audit verify pack", "audit verify --allowed-signers=signers pack",
	"certify --from=treasury --to=supplier --amount=1.05 --asset=USD --auto-approve", "completion bash", "console", "export --format=hledger --out=books", "fmt", "fmt --check", "fmt --diff --recursive", "fmt main.hcl", "fmt more.hcl below/more.hcl",
	"force-unlock", "review november.plan", "graph", "graph november.plan", "import records.json", "init", "plan", "plan --out=new.plan", "plan --sandbox", "plan --json", "plan --recursive --markdown=tree.md", "status --recursive", "plan --var-file=named.hclvars",
	"reconcile records.json", "refresh", "report --month=2026-11", "resolve rent --recorded=records.json --reason=x", "resolve --run=00000000-0000-4000-8000-000000000000 --count=1 --accept-record --reason=x",
	"reversal rent", "sandbox export", "sandbox export --ledger=ledger.db", "schedule preview monthly", "show", "show november.plan", "state backup --out=copy.db", "state export",
	"state forget rent --reason=x", "state list", "state migrate --to=other.db", "state rebind --reason=x", "state show rent", "state verify", "status", "test", "validate", "version",
	"sandbox serve --listen=:no-port", "lsp", "state clock --reason=x", "state erase-names --reason=x", "why rent",
	"__complete state show CHDIR r", "__complete plan CHDIR --target=", "__complete apply CHDIR n",
}

// canary is what a file outside of the directory says.
const canary = "root:x:0:0:the-canary"

// Names of the hostile entries, each where some command looks by itself or is told to.
var hostileNames = []string{
	"main.hcl", "more.hcl", "below/more.hcl", "more.hcl.json", "remit.hclvars", "x.auto.hclvars", "named.hclvars", "rent.csv", "dates.txt", "text.tmpl", ".remit.lock.hcl",
	"a.remittest.hcl", "tests/b.remittest.hcl", "november.plan", "november.plan.ada.sig", "november.plan.author.sig", "records.json", "signers", "pack", ".remit", ".remit/sandbox/remit.db",
	".remit/sandbox/ledger.db", ".remit/certify", ".remit/certify/remit.db", "key",
}

// TestEveryCommandIsTriedWhereItCanHarm holds everyCommand to the tree of commands: a command that is added
// without a line there is tried on no hostile directory.
func TestEveryCommandIsTriedWhereItCanHarm(t *testing.T) {
	tried := func(path []string) bool {
		return slices.ContainsFunc(everyCommand, func(line string) bool {
			words := strings.Fields(line)
			return len(words) >= len(path) && slices.Equal(words[:len(path)], path)
		})
	}
	for _, command := range cli.Commands() {
		var path []string // "state", "show" of "state show REF_ID"
		for word := range strings.FieldsSeq(command.Usage) {
			if strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") != "" {
				break
			}
			path = append(path, word)
		}
		if len(path) == 0 || !tried(path) {
			t.Errorf("remit %s (%q) is not tried: add a line to everyCommand", command.Usage, path)
		}
	}
	h := newHostile(t) // with nothing hostile in it
	writeFile(t, filepath.Join(h.dir, "records.json"), "[]")
	h.run("plan --out=november.plan")
	for _, line := range everyCommand {
		if strings.HasPrefix(line, "completion") {
			continue
		}
		if out := h.run(line); strings.Contains(out, " --help\n") {
			t.Errorf("remit %s does nothing but to say how it is typed:\n%s", line, out)
		}
	}
}

// TestNoCommandLeavesTheDirectory has each command work where a committed file is a link out, a pipe or a
// device. None prints or copies a byte of the outside, waits, writes there, or starts a program. In a plain run
// each command meets every third name, as one of the four, and each of the four under a twelfth of the names.
func TestNoCommandLeavesTheDirectory(t *testing.T) {
	suite.Slow(t)
	setTraps(t)
	share := suite.Dose(0, 12, 1)
	for n, name := range hostileNames {
		for k, kind := range []string{"a link to a file", "a link to a device", "a pipe", "a link to a directory"} {
			t.Run(name+" is "+kind, func(t *testing.T) {
				t.Parallel()
				w := newHostile(t)
				w.put(name, kind)
				for c, line := range everyCommand {
					if (n+k+c)%share == 0 {
						w.run(line)
					}
				}
				w.check()
			})
		}
	}
}

// setTraps has each program of PATH write a file, and looks for it after the test and those within it.
func setTraps(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	trapped := filepath.Join(dir, "trapped")
	t.Cleanup(func() {
		if text, err := os.ReadFile(trapped); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a program was started: %s, %v", text, err)
		}
	})
	for _, name := range []string{"git", "sh", "bash", "ssh-keygen", "tmux", "less", "vi", "xdg-open", "systemd-ask-password"} {
		writeFile(t, filepath.Join(dir, name), "#!/bin/sh\necho $0 >>"+trapped+"\n")
		if err := os.Chmod(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

// hostile is a configuration in a directory, with another directory beside it.
type hostile struct {
	*testing.T
	dir, outside string
	before       []string
}

func newHostile(t *testing.T) *hostile {
	t.Helper()
	top := t.TempDir()
	h := &hostile{T: t, dir: filepath.Join(top, "work"), outside: filepath.Join(top, "outside")}
	for name, text := range map[string]string{
		"work/main.hcl": `
service {
  base_url      = "http://127.0.0.1:1"
  client_id     = "finance"
  client_secret = "worth-nothing"
}

calendar "office" {
  weekend = ["saturday", "sunday"]
  file    = "dates.txt"
}

data "csv" "rent" {
  file = "rent.csv"
  key  = "name"
}

locals {
  text  = templatefile("text.tmpl", {})
  names = fileset(".", "*.csv")
}

transfer "internal" "rent" {
  for_each        = data.csv.rent.rows
  ref_id          = each.key
  from_profile_id = "treasury"
  to_profile_id   = "landlord"
  amount          = each.value.amount
  asset           = "USD"
  metadata        = { text = local.text }
}
`,
		"work/dates.txt":               "2026-12-25\n2027-12-25\n",
		"work/rent.csv":                "name,amount\nrent,1.00\n",
		"work/text.tmpl":               "text",
		"outside/file":                 canary + "\n",
		"outside/directory/remit.db":   canary + "\n",
		"outside/directory/a.hcl":      canary + "\n",
		"outside/directory/SHA256SUMS": canary + "\n",
	} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
	h.run("init")
	if out := h.run("plan"); !strings.Contains(out, "1 to submit") {
		t.Fatalf("without anything hostile, plan says:\n%s", out)
	}
	h.before = h.list()
	return h
}

// put makes something hostile of a name.
func (h *hostile) put(name, kind string) {
	h.Helper()
	path := filepath.Join(h.dir, name)
	err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o700))
	switch kind {
	case "a pipe":
		err = errors.Join(err, syscall.Mkfifo(path, 0o600))
	case "a link to a file":
		err = errors.Join(err, os.Symlink(filepath.Join(h.outside, "file"), path))
	case "a link to a device":
		err = errors.Join(err, os.Symlink("/dev/zero", path))
	case "a link to a directory":
		err = errors.Join(err, os.Symlink(filepath.Join(h.outside, "directory"), path))
	}
	if err != nil {
		h.Fatal(err)
	}
}

// run runs a command and looks at what it prints.
func (h *hostile) run(line string) string {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 4*time.Minute)
	defer cancel()
	var out bytes.Buffer
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		args := append(strings.Fields(line), "--chdir="+h.dir)
		if at := slices.Index(args, "CHDIR"); at >= 0 { // the completed word is last
			args[at], args = args[len(args)-1], args[:len(args)-1]
		}
		if strings.HasPrefix(line, "completion") || line == "version" || strings.HasPrefix(line, "sandbox serve") {
			args = strings.Fields(line)
		}
		cli.Run(ctx, args, strings.NewReader("local.text\nfile(\"more.hcl\")\n"), &out, &out, func(string) (string, bool) { return "", false })
	}()
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		h.Fatalf("remit %s does not end", line)
	}
	if bytes.Contains(out.Bytes(), []byte("root:x")) || bytes.Contains(out.Bytes(), []byte("canary")) {
		h.Errorf("remit %s prints what stands outside:\n%s", line, out.Bytes())
	}
	if bytes.Contains(out.Bytes(), []byte("escapes from parent")) {
		h.Errorf("remit %s prints an error of Go's library:\n%s", line, out.Bytes())
	}
	return out.String()
}

// check holds that the outside is as it was, and that no file of the directory has what it says.
func (h *hostile) check() {
	h.Helper()
	if after := h.list(); !slices.Equal(after, h.before) {
		h.Errorf("the outside was %q and is %q", h.before, after)
	}
	err := filepath.WalkDir(h.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte("canary")) {
			h.Errorf("%s has what stands outside", path)
		}
		return err
	})
	if err != nil {
		h.Error(err)
	}
}

// list is the files outside, with their content.
func (h *hostile) list() []string {
	h.Helper()
	var list []string
	err := filepath.WalkDir(h.outside, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		list = append(list, path+": "+string(content))
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return list
}
