// Package terminal is what a command reads, writes, asks and tells: its standard streams, the file of JSON
// Lines, progress, questions and errors.
//
// Its one invariant: no sensitive value of the configuration reaches a stream.
package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"remit/internal/transfer"
	"remit/internal/view"
)

// Streams are the standard streams of a command, and the file of --json-into. A command reads, writes, asks
// and tells through them alone. Made by [New].
type Streams struct {
	In         io.Reader
	Out, Err   io.Writer
	NoColor    bool                        // --no-color
	NoInput    bool                        // --input=false: nobody is asked
	NoProgress bool                        // nothing tells what a long command is doing
	AsJSON     bool                        // --json: lines of JSON take the place of all that a person reads
	Here       func(command string) string // see [view.Screen]; nil before a directory is known
	Protected  bool                        // the environment that was loaded is
	Scales     transfer.Scales             // of the configuration that was loaded; nil before
	Outlets    *Outlets                    // through which they reach readers; nil for none

	Failed     error  // the first error that was shown; nil for none
	FailedHint string // a command that helps; "" for none

	getenv    func(string) string // decides about colour, and whether a person can be asked
	version   string              // of remit, for the first line of JSON Lines
	lines     *view.JSON          // nil before the first line
	file      io.Writer           // where lines go beside what a person reads, as --json-into says; nil for nowhere
	toFile    *writer             // to file; nil before the first line
	isApart   bool                // see [Streams.Apart]
	sensitive []string            // texts to hide

	telling  sync.Mutex // an interrupted command may go on while its end is told
	progress *progress  // guarded by telling; nil for none
}

// New hides sensitive values in all that is written to Out and Err. The version is that of remit.
func New(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string, version string) *Streams {
	return &Streams{In: stdin, Out: &writer{to: stdout}, Err: &writer{to: stderr}, getenv: getenv, version: version}
}

// WriteLines writes JSON Lines to a file as well, from now on and errors included. [Streams.Close] closes it.
func (s *Streams) WriteLines(file *os.File) {
	s.file = file
	s.JSON()
}

// Close writes text that is held back, waits until its readers have all, and closes the file of JSON Lines. It returns the first error of
// a write that nobody was told.
func (s *Streams) Close() error {
	for _, to := range s.printers() {
		to.flush()
	}
	err := s.Outlets.Flush(0)
	if file, ok := s.file.(io.Closer); ok {
		_ = file.Close() // each line is written
	}
	return err
}

// Apart returns the streams of one of several configurations that a command works on side by side: what is told
// a person goes to told, and the lines of it for programs to lines. Standard input is empty, standard output goes
// nowhere, and no progress is told.
func (s *Streams) Apart(told, lines io.Writer) *Streams {
	apart := New(strings.NewReader(""), io.Discard, told, s.getenv, s.version)
	apart.isApart, apart.file = true, lines
	return apart
}

// WantsLines reports whether a command writes JSON Lines, in the place of other output ([Streams.AsJSON]) or beside it
// ([Streams.WriteLines]).
func (s *Streams) WantsLines() bool { return s.AsJSON || s.file != nil }

// JSON returns the one writer of JSON Lines, whose first line says the format. From the first call on, errors
// are written there as well.
func (s *Streams) JSON() *view.JSON {
	if s.lines == nil {
		w := s.Out
		if s.file != nil {
			s.toFile = &writer{to: s.Outlets.Of(s.file)}
			s.toFile.hide(s.sensitive)
			w = s.toFile
		}
		s.lines = view.NewJSON(w, s.version)
	}
	s.lines.SetHere(s.Here)
	s.lines.SetProtected(s.Protected)
	return s.lines
}

// isTerminal reports whether a person may read what is written to w.
func isTerminal(w io.Writer) bool {
	file, ok := Beneath(w).(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Screen says how to write to w: as to a terminal of some width, or plain.
func (s *Streams) Screen(w io.Writer) view.Screen {
	screen := view.Screen{Width: 80, Here: s.Here, Scales: s.Scales, Protected: s.Protected}
	file, ok := Beneath(w).(*os.File)
	if !ok || !isTerminal(w) || !obeys(file) {
		return screen
	}
	screen.Terminal = true
	screen.Color = !s.NoColor && s.getenv("NO_COLOR") == "" && s.getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		screen.Width = width
	}
	return screen
}

// Sentences are lines of text as Out shows them.
func (s *Streams) Sentences(text string) string { return s.Screen(s.Out).Sentences(text) }

// printers are the writers that hide.
func (s *Streams) printers() []*writer {
	var all []*writer
	for _, w := range []io.Writer{s.Out, s.Err} {
		if h, ok := w.(*writer); ok {
			all = append(all, h)
		}
	}
	if s.toFile != nil {
		all = append(all, s.toFile)
	}
	return all
}

// Hide hides texts in everything that is written from now on.
func (s *Streams) Hide(texts []string) {
	s.sensitive = append(s.sensitive, texts...)
	for _, to := range s.printers() {
		to.hide(texts)
	}
}

// Redact hides in text what the streams hide, for a trace or a child process.
func (s *Streams) Redact(text string) string {
	var out bytes.Buffer
	h := writer{to: &out}
	h.hide(s.sensitive)
	_, _ = h.Write([]byte(text)) // into memory
	h.flush()
	return out.String()
}

// WriteHidden has write write to a file, without what the streams hide.
func (s *Streams) WriteHidden(to io.Writer, write func(io.Writer) error) error {
	h := &writer{to: to}
	h.hide(s.sensitive)
	if err := write(h); err != nil {
		return err
	}
	h.flush()
	return nil
}
