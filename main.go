// Command remit reconciles declared funds transfers with those that were really made.
package main

import (
	"context"
	"os"

	"remit/internal/cli"
	"remit/internal/cli/exit"
)

func main() {
	cli.AbortOnCrash()
	ctx := exit.WithInterrupt(context.Background())
	os.Exit(cli.RunOn(ctx, cli.ThisMachine(os.Environ), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
}
