// Package cli is the command line: one file a command, with its flags, its wiring and its
// exit code.
//
// Its one invariant: a command that ends with exit code 1 or 5 sent nothing.
package cli

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"time"

	"github.com/spf13/cobra"

	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/clock/boot"
	"remit/internal/view"
)

// Run carries out one command line and returns the exit code. Results go to stdout,
// everything else to stderr; lookupEnv is the environment. A cancelled ctx is an interrupt, with an
// [exit.Interrupt] as its cause, or else that of Ctrl-C.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) int {
	return RunOn(ctx, ThisMachine(nil), args, stdin, stdout, stderr, lookupEnv)
}

// ThisMachine is the machine of this process, whose environment environ lists; nil lists none.
func ThisMachine(environ func() []string) Machine {
	return Machine{Now: time.Now, Boot: boot.Clock(), Environ: environ}
}

// RunOn is [Run] on a machine that is not the one of this process.
func RunOn(ctx context.Context, on Machine, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) int {
	log.SetOutput(io.Discard) // where net/http writes bytes of the service, as they come
	outlets := terminal.NewOutlets(ctx)
	p := newProcess(ctx, on, stdin, forJob(outlets.Of(stdout), lookupEnv), forJob(outlets.Of(stderr), lookupEnv), lookupEnv)
	p.streams.Outlets = outlets
	args = joinLeading(args)
	p.typed = args
	root := newRoot(p)
	if isCompletion(args) {
		completeWords(p, root)
	}
	args, err := withEnvironmentArgs(root, args, p.host.Getenv("REMIT_CLI_ARGS"))
	if err == nil {
		args = p.belowHome(root, longFlags(root, args))
		root.SetArgs(args)
		if err = checkValues(root, args); err == nil {
			err = root.ExecuteContext(ctx)
		}
	}
	code := p.streams.End(ctx, err)
	if p.atEnd != nil {
		p.atEnd(ctx, code)
	}
	switch err := p.streams.Close(); {
	case err == nil || code != exit.Done:
		return code
	case errors.Is(err, terminal.ErrStalled):
		return exit.CodeOf(ctx)
	case exit.IsUnread(err):
		return exit.Unread
	}
	return exit.Look // the end of a run could not be shown: it may have sent something
}

// forJob keeps what a CI job prints from being a command to its runner. A file is no log, and
// keeps the text.
func forJob(to io.Writer, lookupEnv func(string) (string, bool)) io.Writer {
	if file, isFile := to.(*os.File); isFile {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return to
		}
	}
	return view.JobLog(to, lookupEnv)
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
				return p.unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return p.checkFlags(cmd) }
	root.SetIn(p.streams.In)
	root.SetOut(p.streams.Out)
	root.SetErr(p.streams.Err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
			return p.unknownCommand(cmd, cmd.Flags().Arg(0)) // the flag is of the command that was meant
		}
		return p.unknownFlag(cmd, err)
	})
	root.PersistentFlags().BoolVar(&p.streams.NoColor, "no-color", false, "write without colour")
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
	root.SetUsageFunc(writeUsage)
	addGuides(root)
	return root
}
