//go:build linux

package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Talk runs a command, and has talk speak with it through its standard input, which then ends, and its standard output. Its standard
// error goes to its log.
func Talk(ctx context.Context, c Command, talk func(to io.WriteCloser, from io.Reader) error) (Usage, error) {
	process, log, end, err := c.prepared(ctx)
	if err != nil {
		return Usage{}, err
	}
	defer end()
	process.Stderr = log
	to, err := process.StdinPipe()
	if err != nil {
		return Usage{}, fmt.Errorf("run %s: %w", c.name(), err)
	}
	from, err := process.StdoutPipe()
	if err != nil {
		return Usage{}, fmt.Errorf("run %s: %w", c.name(), err)
	}
	began := time.Now()
	if err := process.Start(); err != nil {
		return Usage{}, fmt.Errorf("run %s: %w", c.name(), err)
	}
	said := talk(to, from)
	if said != nil {
		end() // it may wait for more
	}
	_ = to.Close()
	usage, err := c.wait(process, began)
	return usage, errors.Join(said, err)
}
