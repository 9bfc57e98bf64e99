package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/text/english"
	"remit/state"
)

// checkProtected refuses to send to a protected environment what no person saw: a plan that an apply makes by
// itself and that --auto-approve approves. The flags planned change which plan that is.
func checkProtected(w *opened, isUnseen bool, planned string) error {
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
		why, w.dir.Command("apply november.plan")), w.dir.Command("plan --out=november.plan"+planned))
}

// warnOfClient names the environments that have the client of the chosen one, and those that have another one of its service. Each has a
// record of its own, so none of them knows what another one paid.
func warnOfClient(w *opened) error {
	if err := warnOfService(w.streams, w.dir, w.config, w.state.Binding.Service); err != nil {
		return err
	}
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
	return w.streams.Report(w.config, hcl.Diagnostics{warning})
}

// warnOfService names the environments that have another client of the service of the chosen one: both may be of one customer.
func warnOfService(streams *terminal.Streams, dir *workspace.Directory, loaded *config.Configuration, service state.Identity) error {
	others, err := workspace.WithOtherClient(dir, service)
	if len(others) == 0 || err != nil {
		return err
	}
	names, clients := []string{loaded.Environment}, []string{service.ClientID}
	for _, other := range others {
		names, clients = append(names, other.Name), append(clients, other.Service.ClientID)
	}
	if loaded.Sensitive("client_id") {
		clients = nil
	}
	return streams.Report(loaded, hcl.Diagnostics{oneService(names, clients)})
}

// oneService warns of environments that have one service and different clients; clients is nil where no output may have them.
func oneService(names, clients []string) *hcl.Diagnostic {
	of := ""
	if clients != nil {
		of = ": " + english.List(quotedAll(slices.Compact(clients)))
	}
	warning := mistake.Placeless("Environments with two clients of one service", "The environments %s have one service and different clients%s. "+
		"Where the clients are of one customer, each environment pays all that the files declare, as none of their states knows of the others. "+
		"Keep one environment then, and give it the new client with remit state rebind. Where each client is of a customer of its own, nothing is wrong.", english.List(quotedAll(names)), of)
	warning.Severity = hcl.DiagWarning
	return warning
}

func quotedAll(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return quoted
}

// checkClient refuses to bind a state to the client and the service of another environment of the directory: both states would
// pay what the files declare, each with the other's money. At another service it warns of a client that the state was not bound to before: a team
// may have one name everywhere, and a variable that was left from there would have its secret sent to the wrong token endpoint. A person who
// means either says so with --same-client, as command has it.
func checkClient(w *opened, before, after state.Identity, isMeant bool, command string) error {
	if isMeant {
		return nil
	}
	said := w.dir.Command(command + " --same-client")
	same, err := w.dir.WithClient(after)
	if err != nil {
		return err
	}
	if len(same) > 0 {
		names := make([]string, len(same))
		for i, other := range same {
			names[i] = other.Name
		}
		have := "has"
		if len(names) > 1 {
			have = "have"
		}
		return exit.WithHint(fmt.Errorf("%s %s this client of this service already, and its state would not know of one for %q: a transfer that both declare would be paid by both. Nothing was made. "+
			"Give %[3]q a client of its own, by client_id or REMIT_CLIENT_ID. Where both are to pay with one client, say so", workspace.EnvironmentsNamed(names), have, w.config.Environment), said)
	}
	if before.ClientID == after.ClientID {
		return nil
	}
	others, err := workspace.OthersOf(w.dir, after.ClientID)
	if len(others) == 0 || err != nil {
		return err
	}
	client := fmt.Sprintf("The client %q", after.ClientID)
	if w.config.Sensitive("client_id") {
		client = "This client"
	}
	warning := mistake.Placeless("Client of another environment", "%s is that of %s, and %q has another service, whose token endpoint is sent the secret of this client. "+
		"Where both services know their client by this one name, all is well; %s says so without this warning. Else give %[3]q its own client, by client_id or REMIT_CLIENT_ID, before the next apply, and run %[5]s again.",
		client, workspace.EnvironmentsNamed(others), w.config.Environment, said, w.dir.Command(command))
	warning.Severity = hcl.DiagWarning
	return w.streams.Report(w.config, hcl.Diagnostics{warning})
}

// sameClientFlag is the word that [checkClient] asks for.
func sameClientFlag(cmd *cobra.Command, isMeant *bool) {
	cmd.Flags().BoolVar(isMeant, "same-client", false, "bind the state although another environment has this client")
}
