//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"remit/internal/bench/figures"
	"remit/internal/bench/load"
	"remit/internal/bench/measure"
)

// editedSize is how many rows stand beside what the editor of the bench edits.
const editedSize = 100_000

// keystrokes is how often the editor of the bench types.
const keystrokes = 60

// typed is what the editor types at the end of a word of an amount, and takes away again: half of it is a mistake of one argument, and half of it
// leaves a text that cannot be read. After each the file is right again.
var typed = []string{"x", "\"", "x", "{\""}

func prepareEdited(_ context.Context, s *session, size int) error {
	dir := s.dir("edited", size)
	return s.once(dir, func() error { return load.WriteEdited(dir, size) })
}

// edit serves an editor that types, and asks four things after each keystroke at once, as editors do.
func edit(ctx context.Context, s *session, size int) (figures.Sample, error) {
	dir := s.dir("edited", size)
	waits := make(map[string][]float64)
	usage, err := measure.Talk(ctx, s.command(dir, s.remit("lsp")), func(to io.WriteCloser, from io.Reader) error {
		e := &typist{ctx: ctx, client: jrpc2.NewClient(channel.LSP(from, to), nil), waits: waits}
		return e.session(dir)
	})
	sample := sampleOf(usage)
	sample.Waits = make(map[string]figures.Wait)
	for name, all := range waits {
		sample.Waits[name] = figures.NewWait(all)
	}
	return sample, err
}

// typist is an editor, and the one who types in it.
type typist struct {
	ctx    context.Context
	client *jrpc2.Client
	uri    string

	mu    sync.Mutex
	waits map[string][]float64 // seconds
}

// named is what many messages have.
type named map[string]any

func (e *typist) session(dir string) error {
	path := filepath.Join(dir, load.EditedFile)
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	e.uri = "file://" + filepath.ToSlash(path)
	if _, err := e.client.Call(e.ctx, "initialize", named{
		"capabilities": named{}, "workspaceFolders": []named{{"uri": "file://" + filepath.ToSlash(dir), "name": "edited"}},
	}); err != nil {
		return err
	}
	opened := named{"textDocument": named{"uri": e.uri, "languageId": "hcl", "version": 0, "text": string(raw)}}
	if err := e.client.Notify(e.ctx, "textDocument/didOpen", opened); err != nil {
		return err
	}
	if err := e.expect(0); err != nil {
		return err
	}
	lines := strings.Split(string(raw), "\n")
	var amounts []int
	for i, line := range lines {
		if strings.HasPrefix(line, "  amount ") {
			amounts = append(amounts, i)
		}
	}
	for i := range keystrokes {
		at := amounts[i/2*7919%len(amounts)]
		if err := e.press(i, at, len(lines[at])-1); err != nil {
			return err
		}
	}
	if _, err := e.client.Call(e.ctx, "shutdown", nil); err != nil {
		return err
	}
	return e.client.Notify(e.ctx, "exit", nil)
}

// press types at a place, or takes away what the press before typed, and waits for all answers.
func (e *typist) press(number, line, character int) error {
	text := typed[number/2%len(typed)]
	mistakes := 1
	place := func(character int) named { return named{"line": line, "character": character} }
	change := named{"range": named{"start": place(character), "end": place(character)}, "text": text}
	if number%2 == 1 {
		mistakes = 0
		change = named{"range": named{"start": place(character), "end": place(character + len(text))}, "text": ""}
	}
	began := time.Now()
	if err := e.client.Notify(e.ctx, "textDocument/didChange", named{
		"textDocument": named{"uri": e.uri, "version": number + 1}, "contentChanges": []named{change},
	}); err != nil {
		return err
	}
	name := named{"uri": e.uri}
	asked := map[string]func() error{
		"diagnostics": func() error { return e.expect(mistakes) },
		"completion": func() error {
			_, err := e.client.Call(e.ctx, "textDocument/completion", named{"textDocument": name, "position": place(2)})
			return err
		},
		"hover": func() error {
			_, err := e.client.Call(e.ctx, "textDocument/hover", named{"textDocument": name, "position": place(4)})
			return err
		},
		"symbols": func() error {
			_, err := e.client.Call(e.ctx, "textDocument/documentSymbol", named{"textDocument": name})
			return err
		},
	}
	return e.await(began, asked)
}

// await asks all at once, and notes how long after a moment each answer came.
func (e *typist) await(began time.Time, asked map[string]func() error) error {
	failed := make(chan error, len(asked))
	for what, ask := range asked {
		go func() {
			err := ask()
			e.mu.Lock()
			defer e.mu.Unlock()
			e.waits[what] = append(e.waits[what], time.Since(began).Seconds())
			failed <- err
		}()
	}
	var errs []error
	for range asked {
		errs = append(errs, <-failed)
	}
	return errors.Join(errs...)
}

// expect waits for the diagnostics of the newest text. It is an error where the file has mistakes and should have none, or the
// other way round.
func (e *typist) expect(mistakes int) error {
	answer, err := e.client.Call(e.ctx, "textDocument/diagnostic", named{"textDocument": named{"uri": e.uri}})
	if err != nil {
		return err
	}
	var report struct {
		Items []struct{ Message string }
	}
	if err := answer.UnmarshalResult(&report); err != nil {
		return err
	}
	if min(len(report.Items), 1) != mistakes {
		return fmt.Errorf("the file has %d mistakes: %v", len(report.Items), report.Items)
	}
	return nil
}
