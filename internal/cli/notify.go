package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"remit/internal/cli/terminal"
	"remit/internal/view"
)

// How long a command that is told of the end of a run may take. The person who interrupted the run
// waits.
const (
	notifyMax     = 30 * time.Second
	notifyHurried = 5 * time.Second
)

// notify runs the command and hands it how the run ended. Its output goes to standard error.
func (m *monitoring) notify(ctx context.Context, p *process, ended view.Ended) error {
	words, err := m.words()
	if err != nil {
		return err
	}
	longest := notifyMax
	if ctx.Err() != nil {
		longest = notifyHurried
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer cancel()
	var line bytes.Buffer
	if err := view.NewJSON(&line, readVersion().Version).Ended(ended); err != nil {
		return fmt.Errorf("--notify-command: %w", err)
	}
	cmd := p.host.Command(ctx, words)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(p.streams.Redact(line.String())), terminal.Beneath(p.streams.Err), terminal.Beneath(p.streams.Err)
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("--notify-command: %s was ended after %s", filepath.Base(words[0]), longest)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it ended well; what it left behind in the background has its own life
	case err != nil:
		return fmt.Errorf("--notify-command: %s: %w", filepath.Base(words[0]), err)
	}
	return nil
}
