package cli

import (
	"context"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/clock/boot"
	"remit/state"

	"github.com/spf13/cobra"
)

// No test sends its trace to a collector that does not answer, and a slow machine sends it late.
func init() { traceMax = 5 * time.Minute }

// RunAt is RunOn at a time, on a machine that does not know how long it is up and on which no command takes long.
func RunAt(ctx context.Context, now func() time.Time, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) int {
	on := Machine{Now: now, Boot: func() boot.Reading { return boot.Reading{} }, NoProgress: true}
	return RunOn(ctx, on, args, stdin, stdout, stderr, lookupEnv)
}

// DeclarationOf is the block that import --generate-config writes for a request.
var DeclarationOf = declarationOf

// NewRoot is the tree of commands, of a process that does nothing.
func NewRoot() *cobra.Command {
	return newRoot(&process{host: &host.Host{}, streams: &terminal.Streams{}})
}

// Guided are the commands that the tables of the help name, by their words behind "remit".
func Guided() []string {
	return slices.Concat(slices.Collect(maps.Keys(guides)), slices.Collect(maps.Keys(groupPages)))
}

// FlagNames are the names of flags below each heading of the help.
var FlagNames = flagNames

// FaceFlags are the names of flags that are faces.
func FaceFlags() []string { return faceFlags() }

// FlagTitles are the headings of flags.
var FlagTitles = flagTitles

// PageOf is the page that the help of a command names.
func PageOf(cmd *cobra.Command) string { return cmd.Annotations[pageAnnotation] }

// ObjectTypes are the types of what commands print as one JSON object, by the names of their schemas.
func ObjectTypes() map[string]any {
	return map[string]any{"version": build{}, "sandbox": sandboxAddresses{}}
}

// InOrder is inOrder, of work whose results are numbers.
func InOrder(ctx context.Context, count int, work func(i int) int) iter.Seq[int] {
	return inOrder(ctx, count, work)
}

// LooksAgain is how often a runner looks for a run again that meets these errors one after the other, and what it says. The state
// was opened for those in opened.
func LooksAgain(ctx context.Context, now func() time.Time, timeout time.Duration, errs []error, opened map[int]bool) (times int, told []string) {
	from := awayFrom{
		failover: &failover{timeout: timeout, host: &host.Host{Now: now}},
		tell:     func(reason string) error { told = append(told, reason); return nil },
	}
	for i, err := range errs {
		if errors.Is(err, state.ErrNoRun) && !from.awaitRun(ctx) || !errors.Is(err, state.ErrNoRun) && !from.awaitAgain(ctx, &apartError{err, !opened[i]}) {
			break
		}
		times++
	}
	return times, told
}

// ExitOfRun is the exit code of a run that ended.
var ExitOfRun = exitOfRun
