package config

import (
	"iter"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/syntax"
)

// transferPart is a transfer block, or a part of a file that has some.
type transferPart struct {
	block *eval.Block
	part  *syntax.Part
}

// openedPart is a part that was parsed: its blocks, and their mistakes.
type openedPart struct {
	ok     bool
	blocks []*eval.Block
	diags  hcl.Diagnostics
}

// open parses the part, if it has one. Several goroutines may do so.
func (s transferPart) open(o *eval.Opener) openedPart {
	if s.block != nil {
		return openedPart{ok: true, blocks: []*eval.Block{s.block}}
	}
	body := s.part.Parse()
	if body == nil {
		return openedPart{}
	}
	schema := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: o.Kind.Name, LabelNames: o.Kind.Labels}}}
	content, diags := body.Content(schema)
	opened := openedPart{ok: true, diags: diags}
	for _, from := range content.Blocks {
		b, diags := o.Open(from)
		opened.blocks = append(opened.blocks, b)
		opened.diags = append(opened.diags, diags...)
	}
	return opened
}

// declaredBlock is a transfer block as it was read, and the part that has it alone, or the kept facts of such a part.
type declaredBlock struct {
	block *eval.Block
	part  *syntax.Part // nil where other blocks share it
	kept  *keptBlock   // nil where the block was read
}

// transferBlocks yields all transfer blocks in declaration order. Those of parts are opened a
// few at a time.
func (r *transferReader) transferBlocks() iter.Seq[declaredBlock] {
	return func(yield func(declaredBlock) bool) {
		o := eval.NewOpener(transferKind(), r.scope.Meter)
		kept := make([]*keptBlock, len(r.parts))
		var unknown []transferPart
		for i, p := range r.parts {
			if kept[i] = r.recallable(p); kept[i] == nil {
				unknown = append(unknown, p)
			}
		}
		next, stop := iter.Pull(syntax.Parallel(unknown, func(s transferPart) openedPart { return s.open(o) }))
		defer stop()
		for i, p := range r.parts {
			if kept[i] != nil {
				if !yield(declaredBlock{part: p.part, kept: kept[i]}) {
					return
				}
				continue
			}
			opened, _ := next()
			if !opened.ok {
				r.unreadable = true
				return
			}
			r.report(opened.diags...)
			part := p.part
			if len(opened.blocks) > 1 || len(opened.diags) > 0 {
				part = nil
			}
			for _, b := range opened.blocks {
				if !yield(declaredBlock{block: b, part: part}) {
					return
				}
			}
		}
	}
}

// take makes a block ready; nil where its labels make no sense.
func (r *transferReader) take(b *eval.Block) *transferBlock {
	m := r.configured.memberships
	t := r.newTransferBlock(b)
	if t == nil {
		return nil
	}
	m.inOrder = append(m.inOrder, t)
	m.blocks[t.address] = t
	r.compile(t)
	r.noteBatch(t)
	m.noteNamed(t)
	t.settle()
	return t
}

// parse parses the parts that have transfers, to find whether they can be parsed.
func (r *transferReader) parse() {
	for isRight := range syntax.Parallel(r.parts, func(s transferPart) bool { return s.part == nil || s.part.Parse() != nil }) {
		r.unreadable = r.unreadable || !isRight
	}
}
