package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/internal/cli/exit"
	"remit/internal/text/lazyregexp"
)

// checkValues refuses a flag that stands where the value of the one before it is missing. Behind an equals sign it
// is a value. The words are not repeated: one may be a secret.
func checkValues(root *cobra.Command, args []string) error {
	command, words, err := root.Find(args)
	if err != nil || isCompletion(args) {
		return nil
	}
	for i := 0; i+1 < len(words) && words[i] != "--"; i++ {
		flag := flagOf(command, words[i])
		if flag == nil || flag.NoOptDefVal != "" || strings.Contains(words[i], "=") {
			continue
		}
		if i++; words[i] == "--" || strings.HasPrefix(words[i], "-") && (longFlag.MatchString(words[i]) || flagOf(command, words[i]) != nil) {
			name, _, _ := strings.Cut(words[i], "=")
			return exit.WithHint(fmt.Errorf("--%s is without its value: %s, which comes next, is a flag itself. Write the value behind an equals sign, as in --%[1]s=VALUE", flag.Name, name),
				command.CommandPath()+" --help")
		}
	}
	return nil
}

// longFlag matches a word that is meant as a flag, also one that no command has.
var longFlag = lazyregexp.New(`^--[a-zA-Z][a-zA-Z0-9-]*(=|$)`)

// flagOf is the flag of a command that a word names, in its long form or by its letter; nil for none.
func flagOf(command *cobra.Command, word string) *pflag.Flag {
	if len(word) == 2 && word[0] == '-' && word[1] != '-' {
		if flag := command.Flags().ShorthandLookup(word[1:]); flag != nil {
			return flag
		}
		return command.InheritedFlags().ShorthandLookup(word[1:])
	}
	if !strings.HasPrefix(word, "-") {
		return nil
	}
	return lookupFlag(command, flagName(word))
}
