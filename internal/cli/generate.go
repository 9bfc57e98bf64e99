package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/files/confined"
	"remit/internal/files/wholefile"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// generatedTries is how often blocks that are no declaration are taken out of a generated file before it is given up:
// a configuration tells a bounded number of mistakes at once.
const generatedTries = 5

// generating writes a block for each transfer that the state has and no file declares.
type generating struct {
	p      *process
	w      *opened
	name   string // of the file, as the command line has it
	blocks []generatedBlock
	result view.Generated
}

// generatedBlock declares a transfer as it is recorded.
type generatedBlock struct {
	refID string
	text  []byte
}

// checkGenerated refuses a file that no plan would read, or that is there, before anything else is done.
func checkGenerated(p *importing) error {
	name := p.generate
	if !isRead(&p.planning.dir, name) {
		return fmt.Errorf("--generate-config=%s: no plan would read it; name a new file of the directory whose name ends in .hcl, such as undeclared.hcl. Nothing was changed", name)
	}
	if _, err := os.Lstat(p.planning.dir.Within(name)); err == nil {
		return fmt.Errorf("--generate-config=%s: the file is there already, and no file is replaced. Name a new one. Nothing was changed", name)
	}
	return nil
}

// generateConfig writes the file, once a plan of the files with it would have nothing to do for what it declares.
func generateConfig(ctx context.Context, p *process, o *planning, name string) error {
	w, snapshot, done, err := openRead(ctx, p, &o.dir)
	if err != nil {
		return err
	}
	defer done()
	g := &generating{p: p, w: w, name: name, result: view.Generated{File: name}}
	before, err := g.find(ctx, o, snapshot)
	if err != nil {
		return err
	}
	if len(g.blocks) > 0 {
		if err := g.write(ctx, o, snapshot, before); err != nil {
			return err
		}
	}
	g.result.Blocks = len(g.blocks)
	slices.SortStableFunc(g.result.LeftOut, func(a, b view.LeftOut) int { return cmp.Compare(a.RefID, b.RefID) })
	if p.streams.AsJSON {
		return w.streams.JSON().Generated(&g.result)
	}
	return view.GeneratedConfig(w.streams.Out, &g.result, w.streams.Screen(w.streams.Out))
}

// find makes a block of each transfer that may have been made and that nobody declares, in order of ref_id, and
// returns the plan without them.
func (g *generating) find(ctx context.Context, o *planning, snapshot state.Snapshot) (*planner.Plan, error) {
	undeclared := make(map[string]bool)
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, g.w.state.Error(err)
		}
		if row.Status.MayBeMade() {
			undeclared[row.RefID] = true
		}
	}
	from := planning{dir: o.dir, controlFlags: controlFlags{allowEmpty: true}, seen: func(t *config.Transfer) { delete(undeclared, t.Request.RefID) }}
	before, err := from.make(ctx, g.w, snapshot)
	if err != nil {
		return nil, err
	}
	for page := range slices.Chunk(slices.Sorted(maps.Keys(undeclared)), detailsPerCall) {
		details, err := snapshot.Details(ctx, page...)
		if err != nil {
			return nil, g.w.state.Error(err)
		}
		for i := range details {
			g.add(&details[i])
		}
	}
	return before, nil
}

// add makes a block of a transfer, or says why there is none.
func (g *generating) add(d *state.Detail) {
	request, err := (&planner.Recorded{Operation: d.Intent.Operation, Body: d.Intent.Body, Fingerprint: d.Fingerprint.String()}).Request()
	switch {
	case !d.Status.Made():
		g.leaveOut(d.RefID, "it is "+d.Status.String()+": settle it first, with remit resolve")
	case d.RecordStatus == transfer.Failed:
		g.leaveOut(d.RefID, "the service says that it FAILED")
	case d.Intent.Body == "" || err != nil:
		g.leaveOut(d.RefID, "the state does not have its whole request")
	default:
		g.blocks = append(g.blocks, generatedBlock{d.RefID, declarationOf(&request, d.Intent.Reverses)})
	}
}

func (g *generating) leaveOut(refID, reason string) {
	g.result.LeftOut = append(g.result.LeftOut, view.LeftOut{RefID: refID, Reason: reason})
}

// declarationOf is the block of a request, as fmt lays it out. Each text is written as a value, so that none of it is
// read as anything else.
func declarationOf(r *transfer.Request, reverses string) []byte {
	file := hclwrite.NewEmptyFile()
	block := file.Body().AppendNewBlock("transfer", []string{string(r.Operation), r.RefID}).Body()
	if reverses != "" {
		block.SetAttributeValue("reverses", cty.StringVal(reverses))
	}
	for _, f := range transfer.ReadingOrder() {
		name, text := f.Name(), r.Text(f)
		switch {
		case name == "operation" || name == "ref_id":
		case f.HasPairs():
			if pairs := r.Pairs(f); len(pairs) > 0 {
				block.SetAttributeValue(name, pairsValue(pairs))
			}
		case text != "":
			block.SetAttributeValue(name, cty.StringVal(text))
		}
	}
	return hclwrite.Format(file.Bytes())
}

// text is the whole file, and the line on which each block begins.
func (g *generating) text() (text []byte, lines []int) {
	const head = "# Transfers that the state has and no file declared, written by remit import --generate-config.\n"
	b := bytes.NewBufferString(head)
	line := 2
	for _, block := range g.blocks {
		b.WriteByte('\n')
		lines = append(lines, line+1)
		b.Write(block.text)
		line += 1 + bytes.Count(block.text, []byte("\n"))
	}
	return b.Bytes(), lines
}

// write takes out the blocks that are mistakes in this configuration, and then writes the file. Nothing reads blocks
// that were not checked: until then they are in memory alone.
func (g *generating) write(ctx context.Context, o *planning, snapshot state.Snapshot, before *planner.Plan) error {
	for range generatedTries {
		text, lines := g.text()
		wrong, err := g.check(ctx, o, snapshot, before, text, lines)
		switch {
		case err != nil:
			return err
		case len(wrong) == 0:
			return g.publish(text)
		}
		g.takeOut(wrong)
		if len(g.blocks) == 0 {
			return nil
		}
	}
	return errors.New("too many of the recorded transfers cannot be declared here, so no file was written: remit state show has each of them")
}

// publish makes the file, whole, and replaces none.
func (g *generating) publish(text []byte) error {
	path := g.w.dir.Within(g.name)
	finished, err := os.CreateTemp(filepath.Dir(path), ".remit-generated-")
	if err != nil {
		return fmt.Errorf("write the blocks: %w", err)
	}
	defer func() { _ = os.Remove(finished.Name()) }() // it has its own name then, or is not wanted
	_, err = finished.Write(text)
	if err = errors.Join(err, finished.Sync(), finished.Close()); err != nil {
		return fmt.Errorf("write the blocks: %w", err)
	}
	if err := wholefile.Publish(finished.Name(), path); err != nil {
		return fmt.Errorf("write the blocks, for which no file is replaced: %w", err)
	}
	return nil
}

// takeOut removes blocks, each with the reason.
func (g *generating) takeOut(wrong map[int]string) {
	var kept []generatedBlock
	for i, block := range g.blocks {
		if reason, isWrong := wrong[i]; isWrong {
			g.leaveOut(block.refID, reason)
		} else {
			kept = append(kept, block)
		}
	}
	g.blocks = kept
}

// check reads the configuration again, as if the file were there, and plans: no block may have a mistake, and nothing may be left
// to do for it. It returns why by the numbers of the blocks.
func (g *generating) check(ctx context.Context, o *planning, snapshot state.Snapshot, before *planner.Plan, text []byte, lines []int) (map[int]string, error) {
	options := g.w.dir.Options(ctx, g.p.host)
	options.Unsaved = confined.NewUnsaved(map[string][]byte{g.w.dir.Within(g.name): text})
	loaded, diags := config.Load(g.w.dir.Path, options)
	var mistakes mistake.Set
	mistakes.Add(diags)
	var plan *planner.Plan
	if !diags.HasErrors() {
		controls := controlsOf(loaded, o.dir.Sandbox)
		controls.AllowEmpty = true
		var err error
		if plan, err = planner.New(ctx, declared(ctx, loaded, &mistakes), snapshot, controls, before.Header.Created); err != nil {
			return nil, fmt.Errorf("plan with the blocks, which were not written: %w", err)
		}
	}
	wrong, err := g.undeclarable(mistakes.Diagnostics(), lines)
	if err != nil || len(wrong) > 0 || plan == nil {
		return wrong, err
	}
	find := plan.Changes.Find()
	for i, block := range g.blocks {
		if n, isLine := find(block.refID); isLine && plan.Changes.Action(n) != planner.None {
			line := plan.Changes.At(n)
			wrong[i] = "a plan would not leave it alone: " + cmp.Or(line.Reason, string(line.Action))
		}
	}
	if len(wrong) == 0 && before.Applicable() && !plan.Applicable() {
		return nil, fmt.Errorf("with the blocks, which were not written, the plan could not be applied: %s: %s", plan.Obstacles[0].Kind, plan.Obstacles[0].Detail)
	}
	return wrong, nil
}

// undeclarable says of each block with a mistake why it can't be declared here. A mistake elsewhere is an error.
func (g *generating) undeclarable(diags hcl.Diagnostics, lines []int) (map[int]string, error) {
	wrong := make(map[int]string)
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		n := -1
		if diag.Subject != nil && diag.Subject.Filename == filepath.Base(g.name) {
			n, _ = slices.BinarySearch(lines, diag.Subject.Start.Line+1)
			n--
		}
		if n < 0 {
			return nil, fmt.Errorf("with the blocks, which were not written, the configuration has a mistake: %w", diag)
		}
		wrong[n] = "it cannot be declared here: " + diag.Summary + ": " + diag.Detail
	}
	return wrong, nil
}
