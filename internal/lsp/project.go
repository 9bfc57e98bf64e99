package lsp

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"remit/config"
)

// settleTime is how long the server waits for the next keystroke before it checks a directory.
const settleTime = 80 * time.Millisecond

// project is a directory that may be a configuration, and what its last check found. The server's mu guards it.
type project struct {
	directory string
	memory    *config.Memory     // of the check under way: there is one at a time
	asked     int                // the number of the newest check
	cancel    context.CancelFunc // of that check; nil where none is under way
	done      chan struct{}      // is closed when that check has ended
	snapshot  *snapshot          // nil before the first check, and where the directory is none of remit
	shown     map[string][]diagnostic
}

func (p *project) stop() {
	if p.cancel != nil {
		p.cancel()
	}
}

// snapshot is what one check found.
type snapshot struct {
	mu      sync.Mutex // of the configurations, which are not for several goroutines
	checked []Checked
	now     time.Time // of the check
	closed  bool
	release context.CancelFunc    // of what the configurations evaluate with
	data    map[string]dataSource // by address; those of an earlier check where the newest could read none
}

// dataSource is what completion knows of a data source.
type dataSource struct {
	File    string
	Columns []string
}

// close closes the configurations. A nil snapshot has none.
func (s *snapshot) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.release != nil {
		s.release()
	}
	for _, c := range s.checked {
		config.Close(c.Configuration)
	}
}

// with calls use with the configuration of the first environment, while nobody else uses it, and not where there is none.
func (s *snapshot) with(use func(c *config.Configuration)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && len(s.checked) > 0 {
		use(s.checked[0].Configuration)
	}
}

// changed has every directory checked that a file may be part of.
func (s *server) changed(path string) {
	if path == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, directory := range s.concerned(path) {
		s.check(directory)
	}
}

// concerned are the directories that may read a file: its own, those above it in the folder, and those that include its
// own. It is called with mu held.
func (s *server) concerned(path string) []string {
	folder := s.folderHolding(path)
	if folder == "" {
		return nil
	}
	var all []string
	for at := filepath.Dir(path); isBelow(folder, at); at = filepath.Dir(at) {
		all = append(all, at)
		if at == folder || at == filepath.Dir(at) {
			break
		}
	}
	for _, includer := range s.includers[filepath.Dir(path)] {
		if !slices.Contains(all, includer) {
			all = append(all, includer)
		}
	}
	return all
}

// check begins to check a directory, in the place of a check that is under way. It is called with mu held.
func (s *server) check(directory string) {
	if s.over || s.shutDown {
		return
	}
	p := s.projects[directory]
	if p == nil {
		p = &project{directory: directory, memory: config.NewMemory()}
		s.projects[directory] = p
	}
	p.stop()
	p.asked++
	ctx, cancel := context.WithCancel(s.ctx)
	p.cancel, p.done = cancel, make(chan struct{})
	number, done := p.asked, p.done
	s.running.Go(func() {
		defer close(done)
		defer func() {
			if fault := recover(); fault != nil {
				s.tellFault("a check of "+directory, fault)
			}
			s.mu.Lock()
			if p.asked == number {
				p.cancel = nil
			}
			s.mu.Unlock()
		}()
		s.checkNow(ctx, cancel, p, number)
	})
}

// checkNow waits until nothing was typed for a moment, and checks a directory. The configuration is evaluated with ctx for as long as
// the editor shows it.
func (s *server) checkNow(ctx context.Context, cancel context.CancelFunc, p *project, number int) {
	isKept := false
	defer func() {
		if !isKept {
			cancel()
		}
	}()
	settled := time.NewTimer(settleTime)
	defer settled.Stop()
	select {
	case <-settled.C:
	case <-ctx.Done():
		return
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-s.turn }()
	if !s.isOurs(p.directory) {
		s.install(p, number, nil, nil)
		return
	}
	next, err := s.read(ctx, p.directory, p.memory)
	if err != nil || ctx.Err() != nil {
		next.close()
		return
	}
	next.release, isKept = cancel, true
	s.install(p, number, next, s.diagnosticsOf(p.directory, next.checked))
}

// read checks a directory and gathers what its transfers come to.
func (s *server) read(ctx context.Context, directory string, memory *config.Memory) (*snapshot, error) {
	next := &snapshot{data: map[string]dataSource{}, now: s.options.Now()}
	var err error
	next.checked, err = s.options.Check(ctx, Checking{
		Directory: directory, Folder: s.folderOf(directory), Unsaved: s.unsaved(), Memory: memory,
	})
	if err != nil {
		return next, err
	}
	for _, c := range next.checked {
		for _, d := range config.DataSources(c.Configuration) {
			if _, isKnown := next.data[d.Address]; !isKnown && len(d.Columns) > 0 {
				next.data[d.Address] = dataSource{d.File, d.Columns}
			}
		}
	}
	return next, nil
}

// install takes what a check found, unless a newer one has begun, and tells the editor.
func (s *server) install(p *project, number int, next *snapshot, found map[string][]diagnostic) {
	s.mu.Lock()
	if p.asked != number || s.over {
		s.mu.Unlock()
		next.close()
		return
	}
	old := p.snapshot
	if next != nil && old != nil {
		for address, d := range old.data {
			if _, isKnown := next.data[address]; !isKnown {
				next.data[address] = d
			}
		}
	}
	p.snapshot, p.shown, p.cancel = next, found, nil
	s.publish()
	refreshes := s.client.Capabilities.Workspace
	s.mu.Unlock()
	old.close()
	if refreshes.InlayHint.RefreshSupport {
		go s.ask("workspace/inlayHint/refresh")
	}
	if refreshes.CodeLens.RefreshSupport {
		go s.ask("workspace/codeLens/refresh")
	}
}

// settled waits until no check of a directory that may read a file is under way.
func (s *server) settled(ctx context.Context, path string) error {
	for {
		var done chan struct{}
		s.mu.Lock()
		for _, directory := range s.concerned(path) {
			if p := s.projects[directory]; p != nil && p.cancel != nil {
				done = p.done
			}
		}
		s.mu.Unlock()
		if done == nil {
			return nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// projectOf is the project that a file belongs to: the one of its own directory, else the nearest above it that is one of
// remit, else one that includes its directory. It is nil where there is none.
func (s *server) projectOf(path string) *project {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, directory := range s.concerned(path) {
		if p := s.projects[directory]; p != nil && p.snapshot != nil {
			return p
		}
	}
	return nil
}

// snapshotOf is the newest snapshot of the project of a file; nil where there is none.
func (s *server) snapshotOf(path string) (*snapshot, string) {
	p := s.projectOf(path)
	if p == nil {
		return nil, ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.snapshot, p.directory
}
