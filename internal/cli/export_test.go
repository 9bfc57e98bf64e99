package cli

import (
	"context"
	"io"
	"time"

	"remit/internal/clock/boot"
)

// RunOn is Run with clocks, for tests of what happens when.
var RunOn = runAt

// RunAt is RunOn on a machine that does not know how long it is up.
func RunAt(ctx context.Context, now func() time.Time, args []string, stdin io.Reader, stdout, stderr io.Writer, lookupEnv func(string) (string, bool)) int {
	return runAt(ctx, now, func() boot.Reading { return boot.Reading{} }, args, stdin, stdout, stderr, lookupEnv)
}

// PrintHidden prints parts one after the other, with the texts hidden.
func PrintHidden(to io.Writer, texts []string, parts ...string) {
	h := &hidden{to: to}
	h.hide(texts)
	for _, part := range parts {
		_, _ = h.Write([]byte(part)) // the tests write into memory
	}
	h.flush()
}
