package terminal

import (
	"sync"
	"sync/atomic"
	"time"

	"remit/internal/view"
)

// When a long command tells its progress. Most commands end before.
const (
	progressFirst   = 400 * time.Millisecond
	progressScreens = 200 * time.Millisecond // between two looks of a terminal
	progressLines   = 5 * time.Second        // between two lines elsewhere
)

// progress tells the step that a command is in on standard error, until the command writes something else.
type progress struct {
	doing atomic.Pointer[Step]
	stop  chan struct{}
	ended sync.WaitGroup
}

// Step is a step of a command, with the number of transfers that it has passed.
type Step struct {
	name      string
	transfers atomic.Int64
}

// Add counts transfers of the step.
func (s *Step) Add(n int) { s.transfers.Add(int64(n)) }

// Begin tells the step that begins now.
func (s *Streams) Begin(name string) *Step {
	s.telling.Lock()
	defer s.telling.Unlock()
	next := &Step{name: name}
	if s.isApart || s.NoProgress {
		return next
	}
	if s.progress == nil {
		s.progress = &progress{stop: make(chan struct{})}
		s.progress.doing.Store(next)
		shown := view.NewProgress(s.Err, s.Screen(s.Err))
		pause := progressLines
		if s.Screen(s.Err).Terminal {
			pause = progressScreens
		}
		s.progress.ended.Go(func() { s.progress.tell(shown, pause, s.Outlets) })
	}
	s.progress.doing.Store(next)
	return next
}

// Quiet ends the progress, so that something else can be written.
func (s *Streams) Quiet() {
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.progress != nil {
		close(s.progress.stop)
		s.progress.ended.Wait()
		s.progress = nil
	}
}

func (pr *progress) tell(shown *view.Progress, pause time.Duration, through *Outlets) {
	timer := time.NewTimer(progressFirst)
	defer timer.Stop()
	defer shown.Clear()
	for {
		select {
		case <-pr.stop:
			return
		case <-timer.C:
			if doing := pr.doing.Load(); !through.AreBehind() {
				shown.Tell(doing.name, doing.transfers.Load())
			}
			timer.Reset(pause)
		}
	}
}
