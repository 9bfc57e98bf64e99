package evidence

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"remit/planner"
	"remit/state"
)

// Journal is what an export reads of a state; a [state.Snapshot] is one, whose contract its
// methods have: order, completeness and errors.
type Journal interface {
	Meta() state.Meta
	Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error]
}

// Material is what a pack is made from.
type Material struct {
	Journal Journal
	RunID   string
	Plan    string // path of the saved plan; "" where the run planned by itself
	Faces   []Face
	Version string // of remit
}

// Exported is a pack that was written.
type Exported struct {
	Facts    Facts
	Files    int
	Manifest string // SHA-256 of the manifest, which stands for the whole pack
}

// The refusals of an export.
var (
	// ErrNotEmpty says that the directory has something in it.
	ErrNotEmpty = errors.New("the directory is not empty; a pack is written to a new or an empty one")

	// ErrOtherPlan says that a file is not the plan of the run.
	ErrOtherPlan = errors.New("it is not the plan that the run carried out")
)

// Export writes a pack to a directory, which need not be there yet and must be empty. The same
// run and state make the same bytes. Written files are removed again where the pack can't be
// finished. The error is wrapped around [ErrNotEmpty], [ErrOtherPlan], a *[state.ChainError]
// where the journal itself is broken, or what the state or the system said.
func Export(ctx context.Context, dir string, from Material) (*Exported, error) {
	w, err := newWriter(dir)
	if err != nil {
		return nil, err
	}
	exported, err := w.export(ctx, from)
	if err != nil {
		w.remove()
		return nil, err
	}
	return exported, nil
}

// writer writes the files of a pack.
type writer struct {
	dir   string
	made  bool // the directory was made here
	files manifest
}

func newWriter(dir string) (*writer, error) {
	w := &writer{dir: dir, files: manifest{}}
	err := os.Mkdir(dir, 0o700)
	if err == nil {
		w.made = true
		return w, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = ErrNotEmpty
	}
	return w, err
}

// remove takes back the written files.
func (w *writer) remove() {
	for name := range w.files {
		_ = os.Remove(filepath.Join(w.dir, name)) // a pack without its manifest proves nothing anyway
	}
	_ = os.Remove(filepath.Join(w.dir, ManifestFile))
	if w.made {
		_ = os.Remove(w.dir)
	}
}

// write writes one file, which only its owner may read, and notes its hash.
func (w *writer) write(name string, content func(io.Writer) error) error {
	path := filepath.Join(w.dir, name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w.files[name] = ""
	buffered := bufio.NewWriterSize(file, 64<<10)
	err = content(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	w.files[name], err = sumOfFile(path)
	return err
}

func (w *writer) writeText(name string, text []byte) error {
	return w.write(name, func(out io.Writer) error {
		_, err := out.Write(text)
		return err
	})
}

func (w *writer) export(ctx context.Context, from Material) (*Exported, error) {
	if err := w.writeJournal(ctx, from); err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(w.dir, JournalFile))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	part, err := readPart(file, "")
	if err != nil {
		return nil, fmt.Errorf("read %s again: %w", JournalFile, err)
	}
	made, err := derive(ctx, part, from.Version)
	if err != nil {
		return nil, err
	}
	if err := w.writePlan(part, from.Plan); err != nil {
		return nil, err
	}
	for _, f := range made.files(from.Faces) {
		if err := w.write(f.name, f.write); err != nil {
			return nil, err
		}
	}
	text, files := w.files.text(), len(w.files)
	if err := w.writeText(ManifestFile, text); err != nil {
		return nil, err
	}
	return &Exported{Facts: made.facts, Files: files, Manifest: sumOf(text)}, nil
}

// writePlan copies the plan, which must have the bytes that the run carried out.
func (w *writer) writePlan(p *part, path string) error {
	want := p.run.Begun.PlanSHA256
	if want == "" {
		if path != "" {
			return fmt.Errorf("%s: %w: %s", path, ErrOtherPlan, planAbsent)
		}
		return nil
	}
	plan, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = plan.Close() }() // only read
	if err := w.write(PlanFile, func(out io.Writer) error {
		_, err := io.Copy(out, plan)
		return err
	}); err != nil {
		return err
	}
	if got := w.files[PlanFile]; got != want {
		return fmt.Errorf("%s: %w: its SHA-256 is %s, that of the run's plan %s", path, ErrOtherPlan, got, want)
	}
	return nil
}

// writeJournal writes the part of the journal that is about the run.
func (w *writer) writeJournal(ctx context.Context, from Material) error {
	span, err := findSpan(ctx, from.Journal, from.RunID)
	if err != nil {
		return err
	}
	return w.write(JournalFile, func(out io.Writer) error {
		return span.write(ctx, from.Journal, newLineWriter(out))
	})
}

// span is a run's place in a journal.
type span struct {
	first    int64 // of the run, or of an earlier event of one of its transfers
	previous string
	begun    int64
	last     int64 // in full: the run's end, or the next run's beginning where it has none
	refIDs   map[string]bool
}

// findSpan reads a journal up to a run's end, and again up to its beginning for what the run's
// transfers had behind them.
func findSpan(ctx context.Context, journal Journal, runID string) (*span, error) {
	s := &span{refIDs: map[string]bool{}}
	for e, err := range journal.Events(ctx, 0, "") {
		if err != nil {
			return nil, err
		}
		if s.begun == 0 && (e.Kind != state.KindBegun || e.RunID != runID) {
			continue
		}
		if s.begun == 0 {
			s.begun = e.Seq
		}
		s.last = e.Seq
		if e.RefID != "" {
			s.refIDs[e.RefID] = true
		}
		if e.Kind == state.KindEnded || e.Kind == state.KindBegun && e.Seq > s.begun {
			break
		}
	}
	if s.begun == 0 {
		return nil, fmt.Errorf("the journal has no run %q", runID)
	}
	for e, err := range journal.Events(ctx, 0, "") {
		if err != nil {
			return nil, err
		}
		if s.isShown(&e) {
			s.first = e.Seq
			break
		}
		s.previous = e.Hash
	}
	return s, nil
}

// isShown reports whether a pack has the event in full.
func (s *span) isShown(e *state.Event) bool {
	return e.Seq >= s.begun && e.Seq <= s.last || e.Seq < s.begun && s.refIDs[e.RefID]
}

// write writes the events from the first one on, and checks their chain.
func (s *span) write(ctx context.Context, journal Journal, out *lineWriter) error {
	previous, head := s.previous, journal.Meta()
	var last int64
	for e, err := range journal.Events(ctx, s.first-1, "") {
		if err != nil {
			return err
		}
		if e.Hash != e.Chain(previous) {
			return &state.ChainError{Seq: e.Seq, Reason: "its hash is not that of its content after the event before it"}
		}
		l := withheld(e)
		if s.isShown(&e) {
			l = shown(e, previous)
		}
		if err := out.write(l); err != nil {
			return err
		}
		last, previous = e.Seq, e.Hash
	}
	if last != head.Serial || previous != head.Head {
		return fmt.Errorf("the journal ends with event %d, its state says %d: %w", last, head.Serial, state.ErrDamaged)
	}
	return nil
}

// openPlan reads the plan of a pack.
func openPlan(path string) (*planner.Plan, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return planner.Open(bufio.NewReaderSize(file, 64<<10))
}

// copyOf returns a function that writes text.
func copyOf(text []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(text))
		return err
	}
}
