package cli

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"remit/config"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// When a command that takes its time says what it is doing. Most have ended before.
const (
	progressFirst   = 400 * time.Millisecond
	progressScreens = 200 * time.Millisecond // between two looks of a terminal
	progressLines   = 5 * time.Second        // between two lines elsewhere
)

// progress tells a person on standard error what a command is doing, until it has something
// else to say.
type progress struct {
	doing atomic.Pointer[step]
	stop  chan struct{}
	ended sync.WaitGroup
}

// step is one thing that a command does, and how many transfers it got through.
type step struct {
	name      string
	transfers atomic.Int64
}

// begin says what is being done from now on.
func (p *process) begin(name string) *step {
	p.telling.Lock()
	defer p.telling.Unlock()
	next := &step{name: name}
	if p.progress == nil {
		p.progress = &progress{stop: make(chan struct{})}
		p.progress.doing.Store(next)
		shown := view.NewProgress(p.stderr, p.screen(p.stderr))
		pause := progressLines
		if p.screen(p.stderr).Terminal {
			pause = progressScreens
		}
		p.progress.ended.Go(func() { p.progress.tell(shown, pause) })
	}
	p.progress.doing.Store(next)
	return next
}

// quiet ends the progress, so that something else can be written.
func (p *process) quiet() {
	p.telling.Lock()
	defer p.telling.Unlock()
	if p.progress != nil {
		close(p.progress.stop)
		p.progress.ended.Wait()
		p.progress = nil
	}
}

func (pr *progress) tell(shown *view.Progress, pause time.Duration) {
	timer := time.NewTimer(progressFirst)
	defer timer.Stop()
	defer shown.Clear()
	for {
		select {
		case <-pr.stop:
			return
		case <-timer.C:
			doing := pr.doing.Load()
			shown.Tell(doing.name, doing.transfers.Load())
			timer.Reset(pause)
		}
	}
}

// counted is a record whose transfers are counted while a plan reads them.
type counted struct {
	planner.Record
	read *step
}

// Unwrap returns the record itself.
func (c counted) Unwrap() planner.Record { return c.Record }

func (c counted) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		for t, err := range c.Record.Outlines(ctx) {
			c.read.transfers.Add(1)
			if !yield(t, err) {
				return
			}
		}
	}
}

// counting counts what is declared while it is read. The first one ends what was done before.
func (p *process) counting(declared iter.Seq[config.Transfer]) iter.Seq[config.Transfer] {
	return func(yield func(config.Transfer) bool) {
		read := p.begin("reading the declaration")
		for t := range declared {
			read.transfers.Add(1)
			if !yield(t) {
				return
			}
		}
		p.begin("comparing the declaration with the state")
	}
}
