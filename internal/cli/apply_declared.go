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

// checkDeclared refuses a saved plan one of whose windows is open at other times in the files at hand, and, with --declared, one of which they do
// not declare each line as it is. The whole plan is held against them, whatever an earlier run of it recorded. The record says which
// dependencies are met; nil where nothing is sent.
func (a *applying) checkDeclared(ctx context.Context, w *opened, plan *planner.Plan, record planner.Record) error {
	if err := plan.CheckHours(config.Windows(w.config), w.host.Now()); err != nil {
		return unfit(ctx, w, useOf(a, plan), err)
	}
	if !a.declared {
		return nil
	}
	var mistakes mistake.Set
	different := plan.CompareDeclared(ctx, counting(w.streams, declared(ctx, w.config, &mistakes)), record)
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
