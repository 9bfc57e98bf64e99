//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/jackc/pgx/v5"
)

// program is a server that was started.
type program struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed once it has ended
	how   error         // it ended; written before ended is closed
}

func start(cmd *exec.Cmd) (*program, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &program{cmd: cmd, ended: make(chan struct{})}
	go func() {
		p.how = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// stop sends it a signal, and returns once it has ended.
func (p *program) stop(sig os.Signal) {
	_ = p.cmd.Process.Signal(sig) // it may have ended
	<-p.ended
}

func (p *program) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// answers waits until it answers at a URL. No time of its own ends the wait, which is long on a busy machine,
// but the end of the program does; one that hangs is ended by the time limit of the test.
func (p *program) answers(url string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-p.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	for {
		err := ping(ctx, url)
		if err == nil {
			return nil
		}
		select {
		case <-p.ended:
			return fmt.Errorf("it ended before it answered: %w", errors.Join(p.how, err))
		case <-time.After(pauseReady):
		}
	}
}

func ping(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}
