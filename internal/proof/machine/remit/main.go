// Command remit is the remit of scripts: the program, on a machine whose clocks a script sets.
package main

import (
	"context"
	"os"

	"remit/internal/cli"
	"remit/internal/cli/exit"
	"remit/internal/proof/machine"
)

func main() {
	ctx := exit.WithInterrupt(context.Background())
	on := machine.Of(os.Getenv)
	on.Environ = os.Environ
	os.Exit(cli.RunOn(ctx, on, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
}
