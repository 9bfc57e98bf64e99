package cli

import (
	"cmp"
	"fmt"
	"strings"

	"remit/internal/view"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagsUngroupedMax is up to how many flags of its own a command has one list of them: headings would be
// longer than it.
const flagsUngroupedMax = 8

// helpWidth is how wide commands and flags are written, in columns.
const helpWidth = 80

const (
	titleReview  = "Review"
	titleApprove = "Approve"
	titleRun     = "Run"
	titleData    = "Data"
	titleOutput  = "Output"
	titleSandbox = "Sandbox"
	titleOther   = "Other"
)

// flagTitles are the headings of flags in the order of the help.
var flagTitles = []string{titleReview, titleApprove, titleRun, titleData, titleOutput, titleSandbox, titleOther}

// flagNames are the flags below each heading, beside [faceFlags]. A flag has the same one in all commands.
var flagNames = map[string]string{
	titleReview: "target show refresh against declared check diff " +
		"accept-duplicate accept-duplicates accept-late accept-renames accept-shortfall override-limit allow-empty",
	titleApprove: "sign author key expires-in plan-digest auto-approve input count total accept-record not-made reason register person no-browser without-state",
	titleRun:     "parallelism wait lock-timeout failover-timeout port on-refusal retry-refused resume join notify-command new-state same-client",
	titleData: "chdir environment var var-file policy-dir root from until month timezone batch run where plan to platform-to amount too-much asset " +
		"recorded reconcile debits-only recursive changed filter test-directory schema head manifest allowed-signers allowed-passkeys revoked-keys",
	titleOutput: "json json-into out format no-color verbose detailed-exitcode junit-xml metrics-file " +
		"generate-config account-prefix complete",
	titleSandbox: "sandbox fault rehearse from-balances practice-approvals opening-balance ledger listen operator seed client-id client-secret",
	titleOther:   "help stdio",
}

// titlesOfFlags is flagNames the other way round: the heading of each flag.
func titlesOfFlags() map[string]string {
	titles := map[string]string{}
	for _, name := range faceFlags() {
		titles[name] = titleOutput
	}
	for title, names := range flagNames {
		for name := range strings.FieldsSeq(names) {
			titles[name] = title
		}
	}
	return titles
}

// wrapped breaks the description of a command into lines of the help's width. A block of lines that are indented
// stays as it is.
func wrapped(long string) string {
	blocks := strings.Split(long, "\n\n")
	for i, block := range blocks {
		if !strings.HasPrefix(block, " ") && !strings.Contains(block, "\n ") {
			blocks[i] = strings.Join(view.Wrap(strings.Join(strings.Fields(block), " "), helpWidth), "\n")
		}
	}
	return strings.Join(blocks, "\n\n")
}

// writeUsage writes how cmd is used: its commands, its flags, two examples and the page to read.
func writeUsage(cmd *cobra.Command) error {
	if cmd.HasAvailableSubCommands() {
		cmd.Printf("Usage:\n  %s COMMAND [FLAGS]\n\nCommands:\n", cmd.CommandPath())
		writeCommands(cmd, cmd.Commands())
	} else {
		cmd.Printf("Usage:\n  %s\n", cmd.UseLine())
	}
	for _, group := range flagGroups(cmd) {
		cmd.Printf("\n%s:\n%s", group.title, group.flags.FlagUsagesWrapped(helpWidth))
	}
	if cmd.Example != "" {
		cmd.Printf("\nExamples:\n%s\n", cmd.Example)
	}
	if page := cmd.Annotations[pageAnnotation]; page != "" {
		cmd.Printf("\nRead more: %s\n", page)
	}
	return nil
}

// writeCommands lists commands and what each does.
func writeCommands(to *cobra.Command, commands []*cobra.Command) {
	for _, command := range commands {
		if command.Hidden {
			continue
		}
		first := fmt.Sprintf("  %-12s  ", command.Name())
		for _, part := range view.Wrap(command.Short, helpWidth-len(first)) {
			to.Printf("%s%s\n", first, part)
			first = strings.Repeat(" ", len(first))
		}
	}
}

// flagGroup is a heading of the help and the flags below it.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroups are the flags that cmd takes, without the headings that have none.
func flagGroups(cmd *cobra.Command) []flagGroup {
	titles, order := titlesOfFlags(), flagTitles
	if len(flagsOf(cmd)) <= flagsUngroupedMax {
		titles, order = nil, []string{"Flags"}
	}
	sets := map[string]*pflag.FlagSet{}
	add := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		title := cmp.Or(titles[f.Name], order[len(order)-1])
		if sets[title] == nil {
			sets[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
		}
		sets[title].AddFlag(f)
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	var groups []flagGroup
	for _, title := range order {
		if set := sets[title]; set != nil {
			groups = append(groups, flagGroup{title, set})
		}
	}
	return groups
}
