package lsp_test

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"
	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/suite"
)

// TestAKilledServerLeavesNothingBehind kills the process of a server while somebody types, and starts another one with the texts that the editor
// has. It shows what a server shows that was never killed, and no server has written or removed a file.
func TestAKilledServerLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": payroll, "staff.csv": staff, ".remit.lock.hcl": ""})
	before := filesBelow(t, folder)
	const seed = 20261126
	random := rand.New(rand.NewPCG(seed, seed))
	for round := range suite.Dose(2, 4, 40) {
		texts := map[string]string{"main.hcl": payroll, "staff.csv": staff}
		command, client := startServer(t, folder)
		e := editorOf(t, folder)
		e.client = client
		after := time.Duration(random.Int64N(int64(400 * time.Millisecond))) // drawn here: the one who types draws too
		told := make(chan struct{})
		go func() { // until the server is gone
			defer close(told)
			ctx := context.Background()
			_, _ = client.Call(ctx, "initialize", object{"capabilities": object{}, "workspaceFolders": []object{{"uri": uri(folder), "name": "payments"}}})
			for name := range texts {
				_ = client.Notify(ctx, "textDocument/didOpen", object{"textDocument": object{"uri": uri(filepath.Join(folder, name)), "languageId": "hcl", "version": 0, "text": texts[name]}})
			}
			for n := 1; ; n++ {
				for _, name := range []string{"main.hcl", "main.hcl", "staff.csv"} {
					at := random.IntN(len(texts[name]))
					texts[name] = texts[name][:at] + pieces[random.IntN(len(pieces))] + texts[name][at:]
					err := client.Notify(ctx, "textDocument/didChange", object{
						"textDocument": object{"uri": uri(filepath.Join(folder, name)), "version": n}, "contentChanges": []object{{"text": texts[name]}},
					})
					if err != nil || len(texts[name]) > 20_000 {
						return
					}
				}
				if _, err := client.Call(ctx, "textDocument/diagnostic", object{"textDocument": e.name("main.hcl")}); err != nil {
					return
				}
			}
		}()
		time.Sleep(after)
		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-told
		_ = client.Close()
		_ = command.Wait() // it was killed

		again, client := startServer(t, folder)
		got := shownBy(t, client, folder, texts)
		_ = client.Close()
		_ = again.Wait() // it ends with its input
		fresh := newEditor(t, folder)
		want := map[string][]diagnostic{}
		for name, text := range texts {
			fresh.open(name, text)
		}
		for name := range texts {
			want[name] = fresh.diagnostics(name)
		}
		fresh.stop()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d: one that was never killed (-) and one that follows a killed one (+) differ:\n%s", round, diff)
		}
	}
	if diff := cmp.Diff(before, filesBelow(t, folder)); diff != "" {
		t.Errorf("files were changed: %s", diff)
	}
}

// startServer starts remit lsp as a process of its own.
func startServer(t *testing.T, folder string) (*exec.Cmd, *jrpc2.Client) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "lsp")
	command.Env, command.Dir = append(os.Environ(), asProgram+"=1"), folder
	to, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	from, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill() }) // where the test ended early
	return command, jrpc2.NewClient(channel.LSP(from, to), nil)
}

// shownBy opens texts in a server and returns its diagnostics.
func shownBy(t *testing.T, client *jrpc2.Client, folder string, texts map[string]string) map[string][]diagnostic {
	t.Helper()
	e := editorOf(t, folder)
	e.client = client
	e.begin()
	shown := map[string][]diagnostic{}
	for name, text := range texts {
		e.open(name, text)
	}
	for name := range texts {
		shown[name] = e.diagnostics(name)
	}
	return shown
}

// filesBelow are the files of a folder, with their texts and when they were written.
func filesBelow(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = info.ModTime().String() + " " + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
