package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"remit/internal/cli/exit"

	"github.com/spf13/cobra"
)

func newVersion(p *process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  exactArgs(),
		RunE: func(*cobra.Command, []string) error {
			b := readVersion()
			if asJSON {
				return json.NewEncoder(p.streams.Out).Encode(b)
			}
			_, err := fmt.Fprintf(p.streams.Out, "remit %s\n", b.Version)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write one JSON object, with the commit, the dependencies and the releases of SQLite and of the time zones")
	return cmd
}

func newCompletion(p *process) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Write a completion script for a shell",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactArgs("SHELL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return bashCompletion(root, p.streams.Out)
			case "zsh":
				return root.GenZshCompletion(p.streams.Out)
			case "fish":
				return fishCompletion(root, p.streams.Out)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(p.streams.Out)
			}
			return exit.WithHint(fmt.Errorf("there is no completion for %q; bash, zsh, fish and powershell have one", args[0]), "remit completion --help")
		},
	}
}

// bashWords and bashWordsQuoted are the lines of cobra's script that take over the words of the command line, and
// what stands in their place: a word with an open quotation mark, such as 'transfer.internal.payroll["E-, is closed
// before it is evaluated, and what is offered is escaped as that mark wants it; also of several words, because bash
// inserts what they begin with.
const (
	bashWords       = "    args=(\"${words[@]:1}\")\n"
	bashWordsQuoted = bashWords + `    __remit_quote=""
    local last="${args[${#args[@]}-1]}"
    if [[ ${last} == [\'\"]* || ${last} == -*=[\'\"]* ]]; then
        local before="${last%%[\'\"]*}"
        __remit_quote="${last:${#before}:1}"
        cur="${last:$((${#before}+1))}"
        [[ ${__remit_quote} == '"' ]] && cur="${cur//\\/}"
        cur="$(printf "%q" "${cur}")"
        args[$((${#args[@]}-1))]="${before}${cur}"
    fi
`
	bashSingle       = "        if (( ${#COMPREPLY[@]} == 1 )); then\n            COMPREPLY[0]=$(printf \"%q\" \"${COMPREPLY[0]}\")\n        fi\n"
	bashSingleQuoted = `        local i
        for i in ${!COMPREPLY[*]}; do
            case ${__remit_quote} in
            \") COMPREPLY[i]="${COMPREPLY[i]//\"/\\\"}" ;;
            \') ;;
            *) COMPREPLY[i]=$(printf "%q" "${COMPREPLY[i]}") ;;
            esac
        done
`
)

// fishWords are the lines of cobra's script for fish that put the words of the command line together, and what stands in
// their place: fish hands words over without their quotation marks, and the line is evaluated. A ref_id that was pasted would
// be carried out where it has brackets.
const (
	fishWords       = "__complete $args[2..-1] $lastArg\"\n"
	fishWordsQuoted = "__complete $quoted $lastArg\"\n"
	fishArgs        = "    set -l args (commandline -opc)\n"
	fishArgsQuoted  = fishArgs + "    set -l quoted\n    for arg in $args[2..-1]\n        set -a quoted (string escape -- $arg)\n    end\n"
)

// bashCompletion writes cobra's script, with words in quotation marks completed as well.
func bashCompletion(root *cobra.Command, out io.Writer) error {
	return changedCompletion(func(script io.Writer) error { return root.GenBashCompletionV2(script, true) }, out,
		[2]string{bashWords, bashWordsQuoted}, [2]string{bashSingle, bashSingleQuoted})
}

// fishCompletion writes cobra's script, which evaluates no word that was quoted.
func fishCompletion(root *cobra.Command, out io.Writer) error {
	return changedCompletion(func(script io.Writer) error { return root.GenFishCompletion(script, true) }, out,
		[2]string{fishArgs, fishArgsQuoted}, [2]string{fishWords, fishWordsQuoted})
}

// changedCompletion writes a script of cobra to out, with lines of it changed, each of which it has once.
func changedCompletion(generate func(io.Writer) error, out io.Writer, changes ...[2]string) error {
	var script strings.Builder
	if err := generate(&script); err != nil {
		return err
	}
	text := script.String()
	for _, change := range changes {
		if strings.Count(text, change[0]) != 1 {
			panic("a completion script has other lines than were expected")
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	_, err := io.WriteString(out, text)
	return err
}
