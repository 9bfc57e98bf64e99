package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/cli/exit"
	"remit/internal/files/confined"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
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
		return tellChanged(w, plan.Header.Origin)
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

// tellChanged says which files of this directory are not as they were when a saved plan was made of them. It is sent as it was reviewed.
func tellChanged(w *opened, origin state.Origin) error {
	directory, err := confined.OpenDirectory(w.dir.Path, nil)
	if err != nil {
		return nil // the reader of the configuration has told it
	}
	defer func() { _ = directory.Close() }() // only read
	var names []string
	for _, was := range origin.Files {
		if filepath.IsLocal(filepath.FromSlash(was.Name)) && digestIn(directory, was.Name) != was.SHA256 {
			names = append(names, view.Visible(was.Name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	_, err = fmt.Fprintf(w.streams.Err, "Notice: since this plan was made, %s changed here. It is sent as it was made; --declared sends it only if the files still declare each line of it.\n", mistake.Listed(names, 5))
	return err
}

// digestIn is that of a file; "" where it can't be read.
func digestIn(directory *confined.Directory, name string) string {
	file, err := directory.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }() // only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
