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
	os.Exit(cli.RunOn(ctx, machine.Of(os.Getenv), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
}
