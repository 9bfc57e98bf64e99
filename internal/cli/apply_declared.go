package cli

import (
	"context"
	"errors"
	"reflect"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/cli/exit"
	"remit/planner"
)

// verb is apply with --rehearse, --declared and --on-refusal as they were typed.
func (a *applying) verb() string {
	words := "apply"
	if a.rehearse {
		words += " --rehearse"
	}
	if a.declared {
		words += " --declared"
	}
	if a.onRefusal == "stop" {
		words += " --on-refusal=stop"
	}
	return words
}

// checkDeclared refuses, with --declared, a saved plan of which the files at hand do not declare each
// line as it is. The whole plan is held against them, whatever an earlier run of it recorded.
func (a *applying) checkDeclared(ctx context.Context, w *opened, plan *planner.Plan) error {
	if !a.declared {
		return nil
	}
	var mistakes mistake.Set
	different := plan.CompareDeclared(counting(w.streams, declared(ctx, w.config, &mistakes)))
	w.streams.Quiet()
	if err := w.streams.Report(w.config, mistakes.Diagnostics()); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return exit.Interrupted("before the plan was held against the files")
	case different != nil:
		return unfit(ctx, w, useOf(a, plan), different)
	case !reflect.DeepEqual(plan.Header.ReadWarnings, config.ReadWarnings(w.config)):
		return unfit(ctx, w, useOf(a, plan),
			errors.New("the warnings about its data files are not those of the files at hand; make a new plan"))
	}
	return nil
}
