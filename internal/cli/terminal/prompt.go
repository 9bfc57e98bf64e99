package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"remit/internal/cli/exit"
	"remit/internal/view"
)

// Interactive reports whether a person can be asked.
func (s *Streams) Interactive() bool {
	file, ok := s.In.(*os.File)
	return ok && !s.NoInput && s.getenv("CI") == "" && term.IsTerminal(int(file.Fd()))
}

// Unasked is why nobody can be asked here about what Out shows; "" where somebody can. Where the question comes on a terminal
// and the text that it is about went into a pipe or a file, nobody has read that.
func (s *Streams) Unasked() string {
	switch {
	case !s.Interactive():
		return "no terminal, CI is set, or --input=false"
	case isTerminal(s.Err) && !isTerminal(s.Out):
		return "standard output is no terminal, so nobody can read the plan before the yes"
	}
	return ""
}

// Confirm asks a person for a yes; any other answer is the error declined.
func (s *Streams) Confirm(ctx context.Context, question, declined string) error {
	_, err := fmt.Fprintf(s.Err, "\n%s\n  Only 'yes' will be accepted: ", question)
	if err != nil {
		return err
	}
	answer, err := s.readLine(ctx)
	switch {
	case ctx.Err() != nil:
		return exit.Interrupted("before it was approved")
	case err != nil && answer == "":
		return fmt.Errorf("read the answer: %w. Nothing was sent", err)
	case strings.TrimSpace(answer) != "yes":
		return errors.New(declined)
	}
	return nil
}

// readLine reads a line that a person types, until ctx ends. Nothing can end the read itself: it stays
// behind with the process.
func (s *Streams) readLine(ctx context.Context) (string, error) {
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(s.In).ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case l := <-read:
		return l.text, l.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// AskText asks a person who signs a plan for a line.
func (s *Streams) AskText(ctx context.Context, question string) (string, error) {
	if _, err := fmt.Fprint(s.Err, question); err != nil {
		return "", err
	}
	answer, err := s.readLine(ctx)
	if ctx.Err() != nil {
		return "", errors.New("interrupted; nothing was signed")
	}
	if err != nil && answer == "" {
		return "", fmt.Errorf("read the answer: %w; nothing was signed", err)
	}
	return strings.TrimSpace(answer), nil
}

// AskPassphrase asks for the passphrase of a key file, without echo.
func (s *Streams) AskPassphrase(ctx context.Context, file string) ([]byte, error) {
	terminal, ok := s.In.(*os.File)
	if !ok {
		return nil, errors.New("there is no terminal")
	}
	if _, err := fmt.Fprintf(s.Err, "Passphrase of %s: ", view.Visible(file)); err != nil {
		return nil, err
	}
	before, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return nil, fmt.Errorf("ask for the passphrase: %w", err)
	}
	var passphrase []byte
	err = exit.OrInterrupted(ctx, func() (err error) {
		passphrase, err = term.ReadPassword(int(terminal.Fd()))
		return err
	})
	_ = term.Restore(int(terminal.Fd()), before) // an interrupted question leaves it without echo
	_, _ = fmt.Fprintln(s.Err)
	if err != nil {
		return nil, fmt.Errorf("ask for the passphrase: %w", err)
	}
	return passphrase, nil
}
