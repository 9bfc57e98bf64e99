package view

import (
	"fmt"
	"strings"

	"remit/config"
	"remit/planner"
)

// checkedTitle stands before the controls that a plan was checked against.
const checkedTitle = "Checked against"

// uncontrolled is said of a saved plan in their place.
const uncontrolled = "no limit, no policy and no approval rule"

// isUncontrolled reports whether a list of controls says that there are none.
func isUncontrolled(checked []string) bool { return len(checked) == 1 && checked[0] == uncontrolled }

// checkedTone is that of a list of controls: their absence is a reason to look.
func checkedTone(checked []string) tone {
	if isUncontrolled(checked) {
		return toneDoubt
	}
	return toneDim
}

// controlFile begins the name of a file of controls: its blocks have names of their own.
const controlFile = "file "

// checkedAgainst names the limits, policies and approval rules of a plan. The reviewer of a saved one is told of their absence as well:
// a policy directory that nobody named bars nothing, and looks like one that found nothing to bar.
// A plan with nothing to list was checked for nothing.
func checkedAgainst(plan *planner.Plan, isSaved bool) []string {
	h := plan.Header
	if isQuiet(plan) && !isSaved {
		return nil
	}
	var names []string
	count := 0 // of the last name: the approval blocks of several directories have one
	for _, control := range h.ControlList {
		switch last := len(names) - 1; {
		case strings.HasPrefix(control.Name, controlFile):
		case last >= 0 && (names[last] == control.Name || count > 1 && names[last] == counted(control.Name, count)):
			count++
			names[last] = counted(control.Name, count)
		default:
			names, count = append(names, control.Name), 1
		}
	}
	if len(names) == 0 && isSaved && h.Controls == config.DigestOfControls(h.ControlList) { // an old plan has a digest alone
		return []string{uncontrolled}
	}
	return names
}

func counted(name string, count int) string { return fmt.Sprintf("%s (%d)", name, count) }
