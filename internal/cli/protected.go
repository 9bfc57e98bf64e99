package cli

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/cli/exit"
	"remit/internal/text/english"
)

// checkProtected refuses to send to a protected environment what no person saw: a plan that an apply makes by
// itself and that --auto-approve approves.
func checkProtected(w *opened, isUnseen bool) error {
	if w.dir.Sandbox || !isUnseen {
		return nil
	}
	protected, err := w.dir.ProtectedBy(w.state.Binding.Service)
	if protected == "" || err != nil {
		return err
	}
	why := fmt.Sprintf("the environment %q is protected", protected)
	if protected != w.config.Environment {
		why = fmt.Sprintf("the environment %q has the client and the service of the environment %q, which is protected", w.config.Environment, protected)
	}
	return exit.WithHint(fmt.Errorf("%s, so --auto-approve needs a saved plan there; nothing was sent. Save one, have it reviewed, and send it with %s. It is saved by",
		why, w.dir.Command("apply november.plan")), w.dir.Command("plan --out=november.plan"))
}

// warnOfClient names the environments that have the client of the chosen one. Each has a record of its own, so none of them
// knows what another one paid.
func warnOfClient(w *opened, asJSON bool) error {
	others, err := w.dir.WithClient(w.state.Binding.Service)
	if len(others) == 0 || err != nil {
		return err
	}
	names := []string{fmt.Sprintf("%q", w.config.Environment)}
	for _, other := range others {
		names = append(names, fmt.Sprintf("%q", other.Name))
	}
	warning := mistake.Placeless("Environments with one client", "The environments %s have one client of one service, and their states do not know of each other. "+
		"A transfer that more than one of them declares is paid by each, once the service has forgotten its ref_id. Give each environment a client of its own.", english.List(names))
	warning.Severity = hcl.DiagWarning
	return w.streams.Report(w.config, hcl.Diagnostics{warning}, asJSON)
}
