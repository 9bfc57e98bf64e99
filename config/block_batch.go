package config

import (
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
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
	controls  []*block
}

func batchKind() blockKind {
	return blockKind{
		name: "batch", labels: []string{"name"},
		optional: []string{"description", "not_before", "expires", "window", "depends_on", "duplicate_within"},
		nested:   []blockKind{controlKind()},
		read:     (*loader).readBatch,
	}
}

func (l *loader) readBatch(b *block) {
	name := b.label(0)
	if !l.declareNamed(b, "batch."+name) {
		return
	}
	batch := &batchBlock{Batch: Batch{Name: name, Place: placeOf(b.at)}, at: b.at}
	batch.dependsOn = l.readDependencies(b)
	batch.controls = b.nestedOf("control")
	l.batches[name] = batch
	l.config.Batches = append(l.config.Batches, batch.Batch)
	index := len(l.config.Batches) - 1
	n := &node{
		root: "batch", name: name, at: b.at, arguments: b.inOrder,
		compute: func() (cty.Value, hcl.Diagnostics) {
			r := reader{scope: l.config.scope, block: b}
			batch.read(&r)
			l.config.Batches[index] = batch.Batch
			value := map[string]cty.Value{"name": cty.StringVal(name), "description": cty.NullVal(cty.String)}
			if batch.Description != "" {
				value["description"] = cty.StringVal(batch.Description)
			}
			return cty.ObjectVal(value), r.diags
		},
	}
	if b.incomplete {
		n.progress = failed
	}
	l.config.scope.add(n)
}

func (b *batchBlock) read(r *reader) {
	b.Description, _ = r.text("description")
	b.notBefore = r.time("not_before")
	b.expires = r.time("expires")
	b.window = r.window("window")
	if a, ok := r.block.arguments["not_before"]; ok {
		_, of, _, _ := r.scope.moving(a) // its mistakes were reported
		b.of = latest(of)
	}
	if _, ok := r.block.arguments["duplicate_within"]; ok {
		within := r.duration("duplicate_within", 0, duplicateWithinMax, DuplicateWithinDefault)
		b.within = &within
	}
	if !b.expires.IsZero() && !b.expires.After(b.notBefore) {
		r.refuse(r.block.arguments["expires"].expr.Range(), "Expires before it is due", "expires must be after not_before.")
	}
}
