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

// DeclarationOf is the block that import --generate-config writes for a request.
var DeclarationOf = declarationOf
