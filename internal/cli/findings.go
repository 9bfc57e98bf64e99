package cli

import (
	"context"
	"fmt"
	"strings"

	"remit/executor"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/text/arena"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/state"
)

// tellFindings names transfers that the state calls recorded or adopted by records that prove less
// than that, and that no person has accepted: an earlier version of remit asked less of a record. It
// returns how many there are.
func tellFindings(ctx context.Context, streams *terminal.Streams, dir *workspace.Directory, snapshot state.Snapshot) (int, error) {
	groups := arena.NewMap() // the ref_id of each group_id
	var findings []string
	first := ""
	count := 0
	for d, err := range state.AllDetails(ctx, snapshot) {
		if err != nil {
			return 0, err
		}
		what := ""
		if short := executor.Unaccepted(*d); len(short) > 0 {
			what = executor.DescribeShort(short)
		}
		if d.GroupID != "" && d.Status.Made() {
			other, isThere := groups.Get(d.GroupID)
			if isThere && d.Status != state.Unverified && !executor.HasAcceptedGroup(*d) {
				what = strings.TrimPrefix(what+"; its group_id is that of "+string(other)+" as well", "; ")
			}
			groups.Put(d.GroupID, []byte(d.RefID), 0)
		}
		if what == "" {
			continue
		}
		if count++; count == 1 {
			first = d.RefID
		}
		if count <= namedMax {
			findings = append(findings, fmt.Sprintf("  %s: %s", view.Visible(d.RefID), view.Visible(what)))
		}
	}
	if count == 0 {
		return 0, nil
	}
	if more := count - len(findings); more > 0 {
		findings = append(findings, fmt.Sprintf("  and %d more", more))
	}
	streams.Quiet()
	_, err := fmt.Fprintf(streams.Err, "Notice: the state is whole. Check the records of %d that it has as recorded or adopted:\n%s\n\n    %s\n",
		count, strings.Join(findings, "\n"), view.Command(dir.Command("resolve "+shell.Word(first)+` --accept-record --reason="…"`)))
	return count, err
}
