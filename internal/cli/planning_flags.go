package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/internal/text/shell"
)

// controlFlags are the flags that change which plan is made.
type controlFlags struct {
	targets          []string
	allowEmpty       bool
	acceptDuplicate  []string
	acceptDuplicates []string // BATCH:COUNT
	acceptRenames    []string // BLOCK:COUNT
	overrideLimit    []string
	acceptLate       int
}

// declare gives them to cmd.
func (o *controlFlags) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&o.targets, "target", nil, "plan only this `address`, block or batch, and what it depends on; may be repeated")
	flags.BoolVar(&o.allowEmpty, "allow-empty", false, "let a configuration without transfers stand over a state that has some")
	flags.StringArrayVar(&o.acceptDuplicate, "accept-duplicate", nil, "accept that the transfer with this `REF_ID` looks like another one; may be repeated")
	flags.StringArrayVar(&o.overrideLimit, "override-limit", nil, "let the plan exceed the limit of this `name`; may be repeated")
	flags.StringArrayVar(&o.acceptDuplicates, "accept-duplicates", nil, "accept exactly so many look-alikes of a batch, or of a block without one, as `BATCH:COUNT`; may be repeated")
	flags.StringArrayVar(&o.acceptRenames, "accept-renames", nil, "accept exactly so many transfers of a block whose names were made in another way before, as `BLOCK:COUNT`; may be repeated")
	flags.IntVar(&o.acceptLate, "accept-late", 0, "accept exactly so many occurrences of schedules that come late, as `COUNT`")
	saidOnce(cmd, "accept-late")
}

// scoped are the flags that say which part is planned, for a command to type.
func (o *controlFlags) scoped() string { return flagWords("target", o.targets) }

// accepted are the others, for a command to type where nothing was sent. After a run some of it is done, and a
// count accepts another plan.
func (o *controlFlags) accepted() string {
	flags := flagWords("accept-duplicate", o.acceptDuplicate) + flagWords("accept-duplicates", o.acceptDuplicates) +
		flagWords("accept-renames", o.acceptRenames) + flagWords("override-limit", o.overrideLimit)
	if o.acceptLate != 0 {
		flags += flagWords("accept-late", []string{strconv.Itoa(o.acceptLate)})
	}
	if o.allowEmpty {
		flags += " --allow-empty"
	}
	return flags
}

// typed are all of them, for a command to type; "" where none was given.
func (o *controlFlags) typed() string { return o.scoped() + o.accepted() }

// planFlagsOf are the control flags that were typed to a command that makes a plan, for a command to type.
func planFlagsOf(cmd *cobra.Command) string {
	if lookupFlag(cmd, "accept-late") == nil {
		return ""
	}
	flags := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values, isList := f.Value.(pflag.SliceValue)
		switch isControl := f.Name == "target" || f.Name == "override-limit" || strings.HasPrefix(f.Name, "accept-"); {
		case isControl && isList:
			flags += flagWords(f.Name, values.GetSlice())
		case f.Name == "allow-empty":
			flags += " --allow-empty"
		case isControl:
			flags += flagWords(f.Name, []string{f.Value.String()})
		}
	})
	return flags
}

// flagWords is a flag with each of values, for a command to type.
func flagWords(name string, values []string) string {
	flags := ""
	for _, value := range values {
		flags += " --" + name + "=" + shell.Word(value)
	}
	return flags
}
