package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"remit/internal/cli/terminal"
)

// askedFor is the value of --input. It is true until it is said to be false.
type askedFor struct{ streams *terminal.Streams }

// Set sets whether somebody may be asked.
func (a askedFor) Set(text string) error {
	may, err := strconv.ParseBool(text)
	if err != nil {
		return err
	}
	a.streams.NoInput = !may
	return nil
}

// String is the value, which help shows as the default one.
func (a askedFor) String() string { return strconv.FormatBool(a.streams == nil || !a.streams.NoInput) }

// Type is that of a flag without a value.
func (a askedFor) Type() string { return "bool" }

// inputFlag adds --input to a command that may ask somebody.
func inputFlag(cmd *cobra.Command, streams *terminal.Streams) {
	cmd.Flags().VarPF(askedFor{streams}, "input", "", "ask a person where an answer is needed").NoOptDefVal = "true"
}

// inputUnasked lets a command that asks nothing take --input, where Terraform's command of that name has the flag: a
// script that sets it everywhere goes on.
func inputUnasked(cmd *cobra.Command, streams *terminal.Streams) {
	inputFlag(cmd, streams)
	cmd.Flags().Lookup("input").Hidden = true
}
