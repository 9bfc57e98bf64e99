package lsp

import (
	"context"

	"remit/config"
)

// project is a directory that may be a configuration, and what its last check found.
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
