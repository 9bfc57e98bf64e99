package lsp

import (
	"context"
	"slices"
	"sync"
	"time"

	"remit/config"
)

// settleTime is how long the server waits for the next keystroke before it checks a directory.
const settleTime = 80 * time.Millisecond

// checks check directories behind the keystrokes, one at a time, and tell the editor what they find.
type checks struct {
	ctx       context.Context
	options   Options
	client    *client
	folders   *folders
	documents *documents
	running   sync.WaitGroup
	turn      chan struct{} // the check under way holds its one place

	mu        sync.Mutex
	isEnding  bool                // no check begins any more
	isOver    bool                // and none is installed
	projects  map[string]*project // by directory
	published published
}

func newChecks(ctx context.Context, o Options, c *client, f *folders, d *documents) *checks {
	return &checks{
		ctx: ctx, options: o, client: c, folders: f, documents: d, turn: make(chan struct{}, 1),
		projects: map[string]*project{}, published: published{client: c, last: map[string]string{}},
	}
}

// end stops the checks under way, and begins no other.
func (c *checks) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isEnding = true
	for _, p := range c.projects {
		p.stop()
	}
}

// close ends the checks under way, waits for them, and closes what they found.
func (c *checks) close() {
	c.mu.Lock()
	c.isOver = true
	c.mu.Unlock()
	c.end()
	c.running.Wait()
	for _, p := range c.projects {
		p.snapshot.close()
	}
}

// forgetOthers forgets the checks of directories that are in no folder any more.
func (c *checks) forgetOthers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for directory, p := range c.projects {
		if c.folders.holding(directory) == "" {
			p.stop()
			p.shown = nil
			delete(c.projects, directory)
			go p.snapshot.close()
		}
	}
	c.published.tell(c.projects)
}

// changed has every directory checked that a file may be part of.
func (c *checks) changed(path string) {
	if path == "" {
		return
	}
	for _, directory := range c.folders.concerned(path) {
		c.begin(directory)
	}
}

// begin begins to check a directory, in the place of a check that is under way.
func (c *checks) begin(directory string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isEnding {
		return
	}
	p := c.projects[directory]
	if p == nil {
		p = &project{directory: directory, memory: config.NewMemory()}
		c.projects[directory] = p
	}
	p.stop()
	p.asked++
	ctx, cancel := context.WithCancel(c.ctx)
	p.cancel, p.done = cancel, make(chan struct{})
	number, done := p.asked, p.done
	c.running.Go(func() {
		defer close(done)
		defer func() {
			if fault := recover(); fault != nil {
				c.client.tellFault("a check of "+directory, fault)
			}
			c.mu.Lock()
			if p.asked == number {
				p.cancel = nil
			}
			c.mu.Unlock()
		}()
		c.check(ctx, cancel, p, number)
	})
}

// check waits until nothing was typed for a moment, and checks a directory. The configuration is evaluated with ctx for as long as
// the editor shows it.
func (c *checks) check(ctx context.Context, cancel context.CancelFunc, p *project, number int) {
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
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-c.turn }()
	if !isOurs(c.folders, c.documents, p.directory) {
		c.install(p, number, nil, nil)
		return
	}
	next, err := c.read(ctx, p.directory, p.memory)
	if err != nil || ctx.Err() != nil {
		next.close()
		return
	}
	next.release, isKept = cancel, true
	c.install(p, number, next, diagnosticsOf(c.documents, p.directory, next.checked))
}

// read checks a directory and gathers what its transfers come to.
func (c *checks) read(ctx context.Context, directory string, memory *config.Memory) (*snapshot, error) {
	next := &snapshot{data: map[string]dataSource{}, now: c.options.Now()}
	var err error
	next.checked, err = c.options.Check(ctx, Checking{
		Directory: directory, Folder: c.folders.holding(directory), Unsaved: c.documents.unsaved(), Memory: memory,
	})
	if err != nil {
		return next, err
	}
	for _, checked := range next.checked {
		for _, d := range config.DataSources(checked.Configuration) {
			if _, isKnown := next.data[d.Address]; !isKnown && len(d.Columns) > 0 {
				next.data[d.Address] = dataSource{d.File, d.Columns}
			}
		}
	}
	return next, nil
}

// install takes what a check found, unless a newer one has begun, and tells the editor.
func (c *checks) install(p *project, number int, next *snapshot, found map[string][]diagnostic) {
	c.mu.Lock()
	if p.asked != number || c.isOver {
		c.mu.Unlock()
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
	c.published.tell(c.projects)
	c.mu.Unlock()
	old.close()
	c.client.refresh()
}

// underWay is closed at the end of a check that is under way of a directory that may read a file; nil where there is none.
func (c *checks) underWay(path string) chan struct{} {
	concerned := c.folders.concerned(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	var done chan struct{}
	for _, directory := range concerned {
		if p := c.projects[directory]; p != nil && p.cancel != nil {
			done = p.done
		}
	}
	return done
}

// settled waits until no check of a directory that may read a file is under way.
func (c *checks) settled(ctx context.Context, path string) error {
	for {
		done := c.underWay(path)
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

// snapshotOf is the newest snapshot of the project that a file belongs to, and the project's directory: the one of its own directory, else the
// nearest above it that is one of remit, else one that includes its directory. It is nil where there is none.
func (c *checks) snapshotOf(path string) (*snapshot, string) {
	concerned := c.folders.concerned(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, directory := range concerned {
		if p := c.projects[directory]; p != nil && p.snapshot != nil {
			return p.snapshot, p.directory
		}
	}
	return nil, ""
}

// isActive reports whether a file is one of remit: of a directory that was found to be one, or that is one.
func (c *checks) isActive(path string) bool {
	if path == "" {
		return false
	}
	if found, _ := c.snapshotOf(path); found != nil {
		return true
	}
	return slices.ContainsFunc(c.folders.concerned(path), func(directory string) bool { return isOurs(c.folders, c.documents, directory) })
}

// diagnostic answers a client that asks, when the newest text was checked. It is not offered: an editor would show each diagnostic twice, as all are
// published.
func (c *checks) diagnostic(ctx context.Context, p *documentParams) (any, error) {
	path := pathOf(p.TextDocument.URI)
	if err := c.settled(ctx, path); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return diagnosticReport{"full", diagnosticsAt(c.projects, path)}, nil
}
