package cli

import (
	"strings"

	"remit/internal/cli/host"
	"remit/internal/cli/terminal"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command is what the command line has of one command: what docs/commands lists.
type Command struct {
	Usage string // the words behind "remit", such as "state show REF_ID"
	Flags []Flag // its own, by name; not --no-color and --help, which every command has
}

// Flag is one flag of a command.
type Flag struct {
	Name    string // without its dashes
	Default string // "" where the flag does nothing unless it is given
	Usage   string // its line of help, without the name of its value
	Value   string // the name of its value, as help has it; "" where it takes none
}

// Commands lists every command that does something; groups of commands are left out.
func Commands() []Command {
	return commandsBelow(newRoot(&process{host: &host.Host{}, streams: &terminal.Streams{}}))
}

func commandsBelow(parent *cobra.Command) []Command {
	var list []Command
	for _, command := range parent.Commands() {
		switch {
		case command.Hidden:
		case command.HasSubCommands():
			list = append(list, commandsBelow(command)...)
		default:
			path := strings.TrimPrefix(parent.CommandPath(), parent.Root().Name())
			list = append(list, Command{strings.TrimSpace(path + " " + command.Use), flagsOf(command)})
		}
	}
	return list
}

func flagsOf(command *cobra.Command) []Flag {
	var flags []Flag
	command.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		flag := Flag{Name: f.Name, Default: f.DefValue, Usage: usage, Value: value}
		switch f.DefValue {
		case "false", "0", "0s", "[]":
			flag.Default = ""
		}
		flags = append(flags, flag)
	})
	return flags
}
