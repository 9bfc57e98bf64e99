package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/text/english"
	"remit/internal/view"
	"remit/state"
)

// validated is what the configuration of one environment comes to.
type validated struct {
	environment string
	transfers   int
	notes       []config.Note
	diags       hcl.Diagnostics
	files       map[string]*hcl.File // for the snippets of diags
	loaded      *config.Configuration
	state       string // where it is; "" where that is not known
	isSecret    bool   // that is
	service     state.Identity
	isNamed     bool // that is
}

// validateEach validates each environment of a directory, and tells of every mistake once, with the environments
// that have it.
func validateEach(ctx context.Context, p *process, from *workspace.Directory, names []string) error {
	all := make([]validated, len(names))
	for i, name := range names {
		dir := *from
		dir.Environment = name
		var err error
		if all[i], err = validateOne(ctx, p, &dir); err != nil {
			return err
		}
	}
	shareNoState(all)
	shareNoService(all)
	var failed error
	for i := range all {
		diags := ownOf(all, i)
		if err := p.streams.ReportIn(all[i].files, diags); err != nil {
			failed = err
		}
	}
	if failed != nil {
		return failed
	}
	for _, v := range all {
		if p.streams.AsJSON {
			if err := p.streams.JSON().Validated(v.environment, v.transfers, v.notes); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(p.streams.Out, "The configuration of environment %s is valid. It declares %s.\n", v.environment, english.Plural(v.transfers, "transfer")); err != nil {
			return err
		}
		if err := view.Notes(p.streams.Out, v.notes, p.streams.Screen(p.streams.Out)); err != nil {
			return err
		}
	}
	return nil
}

// validateOne validates one environment and tells of nothing. An error is an interrupt.
func validateOne(ctx context.Context, p *process, dir *workspace.Directory) (validated, error) {
	loaded, diags, err := dir.Read(ctx, p.host, p.streams)
	if err != nil {
		return validated{environment: dir.Environment}, err
	}
	count := func(mistakes *mistake.Set) (transfers int) {
		for range declared(ctx, loaded, mistakes) {
			transfers++
		}
		return transfers
	}
	v := checkLoaded(p.host, dir, loaded, diags, count)
	if !diags.HasErrors() {
		v.service, v.isNamed = workspace.Named(dir)
	}
	return v, nil
}

// check reads and validates one environment, tells of nothing, and says what its transfers come to. After the end of
// ctx it may have mistakes that are none.
func check(ctx context.Context, h *host.Host, dir *workspace.Directory) (v validated, facts map[string]*config.BlockFacts) {
	loaded, diags := config.Load(dir.Path, dir.Options(ctx, h))
	v = checkLoaded(h, dir, loaded, diags, func(mistakes *mistake.Set) (transfers int) {
		facts = config.Facts(ctx, loaded, mistakes)
		for _, f := range facts {
			transfers += f.Totals.Count()
		}
		return transfers
	})
	return v, facts
}

// checkLoaded evaluates the transfers of a configuration that has no mistake so far, and gathers all that are found.
func checkLoaded(h *host.Host, dir *workspace.Directory, loaded *config.Configuration, diags hcl.Diagnostics, evaluate func(*mistake.Set) (transfers int)) validated {
	v := validated{environment: dir.Environment, loaded: loaded}
	var mistakes mistake.Set
	mistakes.Add(diags)
	if !diags.HasErrors() {
		v.transfers = evaluate(&mistakes)
		v.notes = loaded.Notes()
		if !dir.Sandbox {
			v.state, v.isSecret = workspace.BackendOf(loaded, dir, h).String(), loaded.SensitiveState()
		}
	}
	if v.diags = mistakes.Diagnostics(); len(v.diags) > 0 {
		v.files = loaded.Files()
	}
	return v
}

// shareNoState adds a mistake to each environment that keeps its state where an earlier one does.
func shareNoState(all []validated) {
	first := map[string]string{}
	for i, v := range all {
		if of, isTaken := first[v.state]; isTaken && v.state != "" {
			place := ": " + v.state
			if v.isSecret {
				place = ""
			}
			all[i].diags = append(v.diags, mistake.Placeless("Two environments with one state",
				"The environments %s and %s keep their states in one place%s. Each has a record of its own: write another place into a state block of one of them.", of, v.environment, place))
			continue
		}
		first[v.state] = v.environment
	}
}

// shareNoService adds a warning to the environments that have one service and different clients.
func shareNoService(all []validated) {
	told := make([]bool, len(all))
	for _, first := range all {
		var with []int
		var names, clients []string
		isSecret, differ := false, false
		for j, v := range all {
			if told[j] || !first.isNamed || !v.isNamed || !v.service.HasServiceOf(first.service) {
				continue
			}
			with, names, clients = append(with, j), append(names, v.environment), append(clients, v.service.ClientID)
			isSecret = isSecret || v.loaded.Sensitive("client_id")
			differ = differ || !v.service.HasClientOf(first.service)
		}
		if !differ {
			continue
		}
		if isSecret {
			clients = nil
		}
		for _, j := range with {
			told[j], all[j].diags = true, append(all[j].diags, oneService(names, clients))
		}
	}
}

// ownOf are the diagnostics of one environment that no earlier one has, each with the environments that have it
// where not all do.
func ownOf(all []validated, i int) hcl.Diagnostics {
	var own hcl.Diagnostics
	for _, d := range all[i].diags {
		var who []string
		isFirst := true
		for j := range all {
			if hasAlike(all[j].diags, d) {
				who = append(who, all[j].environment)
				isFirst = isFirst && j >= i
			}
		}
		if !isFirst {
			continue
		}
		told := *d
		switch {
		case len(who) == len(all):
		case len(who) == 1:
			told.Detail += " This concerns environment " + who[0] + "."
		default:
			told.Detail += " This concerns environments " + strings.Join(who, ", ") + "."
		}
		own = append(own, &told)
	}
	return own
}

// hasAlike reports whether diagnostics have one of the same words at the same place.
func hasAlike(diags hcl.Diagnostics, like *hcl.Diagnostic) bool {
	for _, d := range diags {
		isPlaced := d.Subject != nil && like.Subject != nil && *d.Subject == *like.Subject
		if d.Severity == like.Severity && d.Summary == like.Summary && d.Detail == like.Detail && (isPlaced || d.Subject == like.Subject) {
			return true
		}
	}
	return false
}
