package config

import (
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
)

// batchBlock is a batch and what its transfers have from it.
type batchBlock struct {
	Batch
	at        hcl.Range
	notBefore time.Time
	expires   time.Time
	window    *Window
	within    *time.Duration // duplicate_within; nil where the batch does not say
	of        *Occurrence    // of which not_before is made; nil for none
	dependsOn []dependency
}

func batchKind() eval.Kind {
	return eval.Kind{
		Name: "batch", Labels: []string{"name"},
		Optional: []string{"description", "not_before", "expires", "window", "depends_on", "duplicate_within"},
		Nested:   []eval.Kind{controlKind()},
	}
}

func readBatch(c *checker, b *eval.Block) *batchBlock {
	name := b.Label(0)
	if !c.declareNamed(b, "batch."+name) {
		return nil
	}
	batch := &batchBlock{Batch: Batch{Name: name, Place: placeOf(b.At)}, at: b.At}
	batch.dependsOn = readDependencies(c, b)
	n := &eval.Node{
		Root: "batch", Name: name, At: b.At, Arguments: b.InOrder,
		Compute: func() (cty.Value, hcl.Diagnostics) {
			r := eval.Reader{Scope: c.scope, Block: b}
			batch.read(&r)
			value := map[string]cty.Value{"name": cty.StringVal(name), "description": cty.NullVal(cty.String)}
			if batch.Description != "" {
				value["description"] = cty.StringVal(batch.Description)
			}
			return cty.ObjectVal(value), r.Diags
		},
	}
	if b.Incomplete {
		n.Progress = eval.Failed
	}
	c.scope.Add(n)
	return batch
}

func (b *batchBlock) read(r *eval.Reader) {
	b.Description, _ = r.Text("description")
	b.notBefore = r.Time("not_before")
	b.expires = r.Time("expires")
	b.window = windowArgument(r, "window")
	if a, ok := r.Block.Arguments["not_before"]; ok {
		_, of, _, _ := r.Scope.Moving(a) // its mistakes were reported
		b.of = latest(occurrencesOf(of))
	}
	if _, ok := r.Block.Arguments["duplicate_within"]; ok {
		within := r.Duration("duplicate_within", 0, duplicateWithinMax, DuplicateWithinDefault)
		b.within = &within
	}
	if !b.expires.IsZero() && !b.expires.After(b.notBefore) {
		r.Refuse(r.Block.Arguments["expires"].Expr.Range(), "Expires before it is due", "expires must be after not_before.")
	}
}
