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

// process is what one command line runs with.
type process struct {
	host    *host.Host
	streams *terminal.Streams
	ctx     context.Context // of [Run]
	typed   []string        // the command line, without the program's name

	onRequest func(service.Seen)                  // is shown each request; nil for nobody
	atEnd     func(ctx context.Context, code int) // is called when all else is over; nil for nothing
}

// newProcess has everything that is printed pass a writer that hides sensitive values.
func newProcess(ctx context.Context, now func() time.Time, boot func() boot.Reading, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) *process {
	host := &host.Host{LookupEnv: lookupEnv, Now: now, Boot: boot, Version: readVersion().Version}
	return &process{host: host, streams: terminal.New(stdin, stdout, stderr, host.Getenv, host.Version), ctx: ctx}
}
