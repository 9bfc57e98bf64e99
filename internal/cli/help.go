package cli

import (
	"github.com/spf13/cobra"
)

// commandGroup is a heading of the help and the commands below it, in their order.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// commandGroups are all commands: first those of every day, in the order in which they are
// used.
func commandGroups(p *process) []commandGroup {
	return []commandGroup{
		{"Main commands:", []*cobra.Command{
			newInit(p), newValidate(p), newFmt(p), newPlan(p), newApply(p), newShow(p),
		}},
		{"All other commands:", []*cobra.Command{
			newApprove(p), newReview(p), newResolve(p), newRefresh(p), newState(p), newStatus(p), newWhy(p), newReconcile(p), newReport(p), newImport(p), newExportCommand(p), newAudit(p), newReversal(p), newSchedule(p), newGraph(p),
			newSandbox(p), newCertify(p), newTest(p), newConsole(p), newLSP(p),
			newForceUnlock(p), newVersion(p), newCompletion(p),
		}},
	}
}

// orderHelp lists the commands of root in their own order. The library sorts them by name,
// and has only a global switch against that.
func orderHelp(root *cobra.Command, groups []commandGroup) {
	standard := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			cmd.Long = wrapped(cmd.Long) // here, as every start of remit would pay for the help of all commands
			standard(cmd, args)
			return
		}
		cmd.Printf("%s.\n\nUsage: remit COMMAND [FLAGS]\n", cmd.Short)
		for _, group := range groups {
			cmd.Printf("\n%s\n", group.title)
			writeCommands(cmd, group.commands)
		}
		cmd.Printf("\nFlags of all commands:\n%s", root.PersistentFlags().FlagUsages())
		cmd.Printf("\nMore on one of them: remit COMMAND --help\nRead more: %s\n", cmd.Annotations[pageAnnotation])
	})
}
