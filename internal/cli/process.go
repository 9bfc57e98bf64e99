package cli

import (
	"context"
	"io"
	"time"

	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/clock/boot"
	"remit/internal/service"
)

// Machine is what a command line runs on.
type Machine struct {
	Now  func() time.Time
	Boot func() boot.Reading // how long the machine is up, and since which boot

	// Environ lists the variables of the environment, as [os.Environ] does; nil lists none.
	Environ func() []string

	// NoProgress is a machine on which no command takes long: none tells on standard error what it is
	// doing. Whether one takes long follows from what else a real machine does.
	NoProgress bool

	ShellWaits time.Duration // for the words that complete a command line; 0 is [completionTime]
}

// process is what one command line runs with.
type process struct {
	host    *host.Host
	streams *terminal.Streams
	ctx     context.Context // of [Run]
	typed   []string        // the command line, without the program's name

	shellWaits time.Duration // of [Machine]

	onRequest func(service.Seen)                  // is shown each request; nil for nobody
	atEnd     func(ctx context.Context, code int) // is called when all else is over; nil for nothing
}

// newProcess has everything that is printed pass a writer that hides sensitive values.
func newProcess(ctx context.Context, on Machine, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) *process {
	host := &host.Host{LookupEnv: lookupEnv, Environ: on.Environ, Now: on.Now, Boot: on.Boot, Version: readVersion().Version}
	streams := terminal.New(stdin, stdout, stderr, host.Getenv, host.Version)
	streams.NoProgress = on.NoProgress
	return &process{host: host, streams: streams, ctx: ctx, shellWaits: on.ShellWaits}
}
