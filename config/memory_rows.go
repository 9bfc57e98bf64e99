package config

import (
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/internal/transfer"
)

// keptRows are what the rows of a file made in one block, none of which had a mistake or a warning.
type keptRows struct {
	inputs  rowInputs
	used    uint64     // the last check that took them
	refIDs  []seenSlot // with the lines of their rows
	assets  []string   // in the order in which they came first
	batches []string
	facts   *BlockFacts
}

func (k *keptRows) lastUsed() uint64 { return k.used }

// rowInputs are all that the transfers of rows are made of, beside the parts that all transfers share.
type rowInputs struct {
	block, data string // the texts of the two blocks
	columns     []string
	values      []namedValue // that they name
	batches     []namedValue // that the rows name; of a stream that was kept
	book        string       // the address book, where they have names
	file        [sha256.Size]byte
}

// assetsKept bounds how many assets the rows of one block may have so that they are kept.
const assetsKept = 100

// rowRecorder gathers the rows of a block while they are read, to keep them.
type rowRecorder struct {
	kept   *keptRows
	broken bool // a mistake was found, or something that can't be kept
}

// recall takes what the rows of a block made before, where they would make the same again, and reports whether it did.
func (s *stream) recall(ctx context.Context, block *transferBlock) bool {
	c := s.config
	if c.kept == nil || s.isWhole || block.data == nil || ctx.Err() != nil {
		return false
	}
	kept, _ := c.kept.memory.rows[block.address].(*keptRows)
	if kept == nil {
		return false
	}
	inputs, ok := s.inputsOf(block)
	if !ok || !inputs.equal(kept.inputs) || !c.kept.current(kept.inputs.batches) || !s.isHashed(block.data, kept.inputs.file) {
		return false
	}
	if slices.ContainsFunc(kept.refIDs, s.refIDs.has) || !s.takeAssets(kept.assets) {
		return false // which the rows tell at its place
	}
	for _, slot := range kept.refIDs {
		slot.number = s.places.number(Place{File: block.data.file.Name, Line: int(slot.number)})
		s.refIDs.addSlot(slot)
	}
	for _, batch := range kept.batches {
		if c.memberships.note(batch, block) {
			c.memberships.late = true
		}
	}
	if s.facts != nil {
		s.facts[block.address] = kept.facts
	}
	kept.used = c.kept.memory.check
	c.kept.memory.recalled++
	return true
}

// takeAssets notes assets, and reports false, with nothing noted, where one of them would be warned of.
func (s *stream) takeAssets(all []string) bool {
	spelled := map[string]string{}
	for _, asset := range all {
		if s.assets[asset] {
			continue
		}
		one := transfer.AssetSpelled(asset)
		_, isKnown := s.config.assets.of(asset)
		if !isKnown || s.spellings[one] != "" || spelled[one] != "" {
			return false
		}
		spelled[one] = asset
	}
	for one, asset := range spelled {
		s.assets[asset], s.spellings[one] = true, asset
	}
	s.asset = ""
	return true
}

// record begins to gather the rows of a block.
func (s *stream) record(block *transferBlock) {
	s.recorder = nil
	if s.config.kept == nil || s.isWhole || block.data == nil || acknowledgesTransfers(block.data) {
		return
	}
	inputs, ok := s.inputsOf(block)
	if !ok || !s.hash(block.data, &inputs.file) {
		return
	}
	s.recorder = &rowRecorder{kept: &keptRows{inputs: inputs, facts: &BlockFacts{}}}
}

// note gathers one transfer of a row, or its mistakes.
func (r *rowRecorder) note(s *stream, t *Transfer, diags, doubts hcl.Diagnostics) {
	if r == nil || r.broken {
		return
	}
	k := r.kept
	if t.Address == "" || len(diags)+len(doubts) > 0 {
		r.broken = true
		return
	}
	k.refIDs = append(k.refIDs, s.refIDs.slotOf(t.Request.RefID, uint32(max(t.Place.Line, 1))))
	if n := len(k.assets); n == 0 || k.assets[n-1] != t.Request.Asset {
		if !slices.Contains(k.assets, t.Request.Asset) {
			k.assets = append(k.assets, strings.Clone(t.Request.Asset)) // which shares the memory of its row
		}
	}
	if t.Batch != "" && !slices.Contains(k.batches, t.Batch) {
		k.batches = append(k.batches, t.Batch)
	}
	r.broken = len(k.assets) > assetsKept
	k.facts.note(t)
}

// keep ends the recording of a block that was read to its end.
func (s *stream) keep(ctx context.Context, block *transferBlock) {
	r, c := s.recorder, s.config
	if s.recorder = nil; r == nil || r.broken || ctx.Err() != nil || c.scope.Meter.Over() != nil {
		return
	}
	var now [sha256.Size]byte
	if !s.hash(block.data, &now) || now != r.kept.inputs.file { // it was written while it was read
		return
	}
	for _, name := range r.kept.batches {
		n := c.scope.Nodes["batch"][name]
		if n == nil {
			return
		}
		var ok bool
		if r.kept.inputs.batches, ok = c.kept.valuesOf(r.kept.inputs.batches, []*eval.Node{n}); !ok {
			return
		}
	}
	r.kept.refIDs = slices.Clip(r.kept.refIDs)
	r.kept.used = c.kept.memory.check
	c.kept.memory.rows[block.address] = r.kept
}

// inputsOf are the inputs of a block but for its file; false where its rows can't be kept.
func (s *stream) inputsOf(block *transferBlock) (rowInputs, bool) {
	c, d := s.config, block.data
	inputs := rowInputs{columns: d.columns}
	if block.broken || d.override != nil || c.scope.Meter.Over() != nil {
		return inputs, false
	}
	if block.fields["display_name"] != nil || block.fields["to"] != nil {
		inputs.book = block.configured.book.contents
	}
	var ok bool
	for of, text := range map[*eval.Block]*string{block.block: &inputs.block, d.block: &inputs.data} {
		if *text, ok = textOf(of, c.sources.files); !ok {
			return inputs, false
		}
	}
	for _, of := range []*eval.Block{block.block, d.block} {
		for _, a := range of.All() {
			if a == block.block.Arguments["for_each"] {
				continue
			}
			if !a.Refs.Ready() || !isKeepable(a) {
				return inputs, false
			}
			if inputs.values, ok = c.kept.valuesOf(inputs.values, a.Refs.Nodes); !ok {
				return inputs, false
			}
		}
	}
	for _, f := range block.fields {
		if f.broken {
			return inputs, false
		}
	}
	return inputs, true
}

// equal compares all but the file, and the batches that rows name.
func (i rowInputs) equal(other rowInputs) bool {
	return i.block == other.block && i.data == other.data && i.book == other.book && slices.Equal(i.columns, other.columns) && slices.Equal(i.values, other.values)
}

// textOf is the text of a whole block; false where it is in no file of the native syntax.
func textOf(b *eval.Block, files map[string]*hcl.File) (string, bool) {
	file := files[b.At.Filename]
	if b.Incomplete || b.End == 0 || file == nil || b.At.Start.Byte > b.End || b.End > len(file.Bytes) {
		return "", false
	}
	return string(file.Bytes[b.At.Start.Byte:b.End]), true
}

// isHashed reports whether the file of a data source has a SHA-256.
func (s *stream) isHashed(d *dataSource, want [sha256.Size]byte) bool {
	var now [sha256.Size]byte
	return s.hash(d, &now) && now == want
}

// hash sets the SHA-256 of the file of a data source; false where it can't be read.
func (s *stream) hash(d *dataSource, to *[sha256.Size]byte) bool {
	file, err := d.sources.root.Open(d.file.Name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // only read
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return false
	}
	h.Sum(to[:0])
	return true
}
