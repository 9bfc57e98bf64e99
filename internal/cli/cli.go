// Package cli is the command line: one file a command, with its flags, its wiring and its
// exit code.
//
// Its one invariant: a command that ends with exit code 1 or 5 sent nothing.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/user"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"remit/internal/clock/boot"
	"remit/internal/service"
	"remit/internal/view"
	"remit/state"
)

// The exit codes of design section 6.
const (
	exitDone        = 0
	exitError       = 1 // nothing was sent
	exitChanges     = 2 // plan --detailed-exitcode
	exitPartial     = 3 // some refused, failed or not attempted; fmt --check: unformatted
	exitLook        = 4 // a person should look
	exitControl     = 5 // nothing was sent: a control said no
	exitInterrupted = 128
	exitUnread      = exitInterrupted + int(syscall.SIGPIPE) // whoever read the result went away
)

// Run carries out one command line and returns the exit code. Results go to stdout,
// everything else to stderr; lookupEnv is the environment. A cancelled ctx is an interrupt,
// with an [Interrupt] as its cause.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) int {
	return runAt(ctx, time.Now, boot.Clock(), args, stdin, stdout, stderr, lookupEnv)
}

// runAt is Run with clocks.
func runAt(ctx context.Context, now func() time.Time, boot func() boot.Reading, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) int {
	log.SetOutput(io.Discard) // where net/http writes bytes of the service, as they come
	p := &process{
		stdin: stdin, stdout: &hidden{to: forJob(stdout, lookupEnv)}, stderr: &hidden{to: forJob(stderr, lookupEnv)}, lookupEnv: lookupEnv, now: now, boot: boot, ctx: ctx,
	}
	root := newRoot(p)
	args, err := withEnvironmentArgs(root, args, p.getenv("REMIT_CLI_ARGS"))
	if err == nil {
		root.SetArgs(longFlags(root, args))
		err = root.ExecuteContext(ctx)
	}
	code := p.exit(ctx, err)
	if p.atEnd != nil {
		p.atEnd(ctx, code)
	}
	for _, to := range p.printers() {
		to.flush()
	}
	if p.into != nil {
		_ = p.into.Close() // each line was written when its method returned
	}
	return code
}

// forJob keeps what a CI job prints from being a command to its runner. What is redirected to a file is
// no log, and is written as it is.
func forJob(to io.Writer, lookupEnv func(string) (string, bool)) io.Writer {
	if file, isFile := to.(*os.File); isFile {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return to
		}
	}
	return view.JobLog(to, lookupEnv)
}

// process is what a command has of the world around it.
type process struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	lookupEnv      func(string) (string, bool)
	now            func() time.Time
	boot           func() boot.Reading
	ctx            context.Context // of [Run]
	noColor        bool            // --no-color
	lines          *view.JSON
	into           *os.File                    // of --json-into; nil for none
	intoHidden     *hidden                     // to into; nil before a line is written
	sensitive      []string                    // what may stand in nothing that is printed
	telling        sync.Mutex                  // an interrupted command may still go on while its end is told
	progress       *progress                   // guarded by telling; nil while there is none to tell
	here           func(command string) string // see [view.Screen]; nil before a directory is known

	runID      string                              // of an apply; "" for other commands
	watch      func(service.Seen)                  // is shown each request; nil for nobody
	watchList  func(service.List)                  // is shown each page of a lookup; nil for nobody
	atEnd      func(ctx context.Context, code int) // what is done when all else is over; nil for nothing
	failed     error                               // the first thing that was said to be wrong; nil for nothing
	failedHint string                              // a command that helps; "" for none
}

// clock is the executor's time.
func (p *process) clock() clock { return clock{p.now, p.boot} }

// getenv is the value of an environment variable; "" where it is not set.
func (p *process) getenv(name string) string {
	value, _ := p.lookupEnv(name)
	return value
}

// json is what a command with --json or --json-into writes to; there is one, whose first line says its
// format. From the first call on, errors are written there as well.
func (p *process) json() *view.JSON {
	if p.lines == nil {
		w := p.stdout
		if p.into != nil {
			p.intoHidden = &hidden{to: p.into}
			p.intoHidden.hide(p.sensitive)
			w = p.intoHidden
		}
		p.lines = view.NewJSON(w, readVersion().Version)
	}
	p.lines.SetHere(p.here)
	return p.lines
}

// exitCode is an error that only sets the exit code: what there was to say was said.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// hinted is an error with a command that helps.
type hinted struct {
	error
	hint string // a line to type
	code int
}

func (h hinted) Unwrap() error { return h.error }

// withHint wraps err, keeping the exit code 1, with a command to type.
func withHint(err error, hint string) error { return hinted{err, hint, exitError} }

// withCode is err with another exit code.
func withCode(err error, code int) error {
	var silent exitCode
	var hint hinted
	switch {
	case err == nil, errors.As(err, &silent):
		return exitCode(code)
	case !errors.As(err, &hint):
		return hinted{err, "", code}
	}
	hint.code = code
	return hint
}

// exit says what err is and returns its code. Where a signal had come, an error with which
// nothing was sent ends as that signal asks.
func (p *process) exit(ctx context.Context, err error) int {
	code := p.say(err)
	if interrupted := interruptCode(ctx); code == exitError && interrupted != exitDone {
		return interrupted
	}
	return code
}

// say says what err is and returns its code.
func (p *process) say(err error) int {
	p.quiet()
	var code exitCode
	var hint hinted
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case !errors.As(err, &hint) && isUnread(err):
		return exitUnread // who went away wants no complaint
	case hint.error == nil:
		hint = hinted{err, "", exitError}
	}
	p.keep(hint.error, hint.hint)
	// Nothing better can be done about an error that can't be shown than its exit code.
	if p.lines != nil {
		_ = p.lines.Error(hint.error, hint.hint)
	}
	_ = view.Error(p.stderr, hint.error, hint.hint, p.screen(p.stderr))
	return hint.code
}

// isUnread reports whether err is that whoever read standard output went away.
func isUnread(err error) bool {
	var write *fs.PathError
	return errors.As(err, &write) && write.Path == os.Stdout.Name() && errors.Is(write, syscall.EPIPE)
}

// screen says how to write for whoever reads w.
func (p *process) screen(w io.Writer) view.Screen {
	s := view.Screen{Width: 80, Here: p.here}
	file, ok := beneath(w).(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s
	}
	s.Terminal = true
	s.Color = !p.noColor && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.Width = width
	}
	return s
}

// interactive reports whether a person can be asked.
func (p *process) interactive() bool {
	file, ok := p.stdin.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && p.getenv("CI") == ""
}

// holder says who this process is, for locks and the journal.
func (p *process) holder(command string) state.Holder {
	name := p.getenv("USER")
	if account, err := user.Current(); err == nil {
		name = account.Username
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return state.Holder{
		Command: command, User: name, Host: host, PID: os.Getpid(),
		Since: p.now().UTC(), Version: readVersion().Version,
	}
}

func newRoot(p *process) *cobra.Command {
	root := &cobra.Command{
		Use:           "remit",
		Short:         "Declare funds transfers in files, review them like code, pay each exactly once",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
			return unknownCommand(cmd, cmd.Flags().Arg(0)) // the flag is of the command that was meant
		}
		return withHint(err, cmd.CommandPath()+" --help")
	})
	root.PersistentFlags().BoolVar(&p.noColor, "no-color", false, "write without colour")
	groups := commandGroups(p)
	for _, group := range groups {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title})
		for _, command := range group.commands {
			command.GroupID = group.title
			root.AddCommand(command)
		}
	}
	root.SetHelpCommandGroupID(groups[len(groups)-1].title)
	orderHelp(root, groups)
	return root
}
