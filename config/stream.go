package config

import (
	"context"
	"iter"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/meter"
	"remit/config/mistake"
)

// Transfers evaluates the transfers one by one, in declaration order; data rows are read as
// they are needed. A mistake or a warning is yielded as diagnostics with a zero Transfer, and the
// stream goes on. Checks across transfers are made here: a ref_id that is used twice names both
// places. Only a stream that ended without a mistake was whole: the end of ctx is one.
func (c *Configuration) Transfers(ctx context.Context) iter.Seq2[Transfer, hcl.Diagnostics] {
	if c.options.Need != NeedAll {
		panic("transfers are asked of a configuration that was loaded without them")
	}
	if c.options.Memory != nil {
		panic("transfers are asked of a configuration of which a memory may leave some out")
	}
	return func(yield func(Transfer, hcl.Diagnostics) bool) {
		if !c.sound {
			yield(Transfer{}, hcl.Diagnostics{mistake.Placeless("Configuration has mistakes",
				"What is declared cannot be told before its mistakes are mended.")})
			return
		}
		c.stream(ctx)(yield)
	}
}

// stream is Transfers for a configuration that may have mistakes: what they keep from being
// evaluated is a zero Transfer without diagnostics.
func (c *Configuration) stream(ctx context.Context) iter.Seq2[Transfer, hcl.Diagnostics] {
	return newStream(c).all(ctx)
}

func newStream(c *Configuration) *stream {
	refIDs := newSeen()
	if c.kept != nil {
		refIDs.seeds = c.options.Memory.seeds
	}
	return &stream{
		config: c, refIDs: refIDs, told: map[*dataSource]bool{}, assets: map[string]bool{}, ended: map[*Window]bool{}, spellings: map[string]string{},
		compiled: map[*transferBlock]*compiled{},
	}
}

func (s *stream) all(ctx context.Context) iter.Seq2[Transfer, hcl.Diagnostics] {
	c := s.config
	return func(yield func(Transfer, hcl.Diagnostics) bool) {
		var t Transfer
		for _, block := range c.transfers {
			if s.recall(ctx, block) {
				continue
			}
			s.record(block)
			for in, diags := range s.instances(ctx, block) {
				if diags == nil {
					diags = s.transfer(block, in, &t)
				} else {
					t = Transfer{}
				}
				if t.Address == "" && len(diags) == 0 && c.sound {
					panic("a transfer was left out without a mistake")
				}
				doubts := s.doubts(block, in, &t)
				s.recorder.note(s, &t, diags, doubts)
				doubts = s.known.others(block, doubts)
				s.isWrong = s.isWrong || diags.HasErrors() || len(diags) == 0 && t.Address == ""
				s.noteFact(block, &t)
				if !yield(t, diags) || len(doubts) > 0 && !yield(Transfer{}, doubts) {
					return
				}
			}
			s.keep(ctx, block)
		}
		if c.memberships != nil && c.memberships.late {
			if diags := c.memberships.cycles(); diags.HasErrors() && !yield(Transfer{}, diags) {
				return
			}
		}
		if diags := s.known.rest(!s.isWrong && ctx.Err() == nil); len(diags) > 0 {
			yield(Transfer{}, diags)
		}
	}
}

// transfer evaluates one instance to t and compares it with those before it. On a mistake t
// becomes the zero Transfer.
func (s *stream) transfer(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	var ok bool
	var diags hcl.Diagnostics
	m := s.config.scope.Meter
	defer m.Resume(m.Begin(meter.RowStepsMax))
	if block.settled != nil {
		*t = *block.settled
		t.Place = placeOf(block.at) // of a kept block it is that of an earlier check
		t.DependsOn = block.dependencies(s.config.memberships.batches[t.Batch])
		return s.check(block, in, t)
	}
	fast, tried := s.compiled[block]
	if fast != nil {
		if r := fast.row(in); r != nil && fast.transfer(r, in.element, t) {
			return s.check(block, in, t)
		}
	}
	if *t, ok, diags = block.evaluate(block.whole(in)); !ok {
		return diags
	}
	if !tried && block.repeated {
		s.compiled[block] = newCompiled(block, in, *t)
	}
	return s.check(block, in, t)
}

// stream is one pass over all transfers.
type stream struct {
	config *Configuration
	refIDs *seen // of all transfers so far, by the numbers of their places
	places places
	told   map[*dataSource]bool
	assets map[string]bool  // that were looked at
	ended  map[*Window]bool // whose calendar has no dates of a year, which was told
	// spellings has the first spelling of each of them.
	spellings map[string]string
	asset     string // the last one of them
	above     neighbour
	// currencies of the rows are compared with their assets.
	currencies rowCurrencies
	// compiled are the blocks of which a row was evaluated; nil where that stays the way.
	compiled map[*transferBlock]*compiled
	known    transferWarnings
	isWrong  bool                   // a mistake was found, which may hide a warning
	isWhole  bool                   // nothing is taken from a memory, or kept in it
	facts    map[string]*BlockFacts // by the address of the block; nil where nobody asks
	recorder *rowRecorder           // of the block that is read; nil where nothing of it is kept
}

// noteFact counts a transfer that has no mistake.
func (s *stream) noteFact(block *transferBlock, t *Transfer) {
	if s.facts == nil || t.Address == "" {
		return
	}
	f := s.facts[block.address]
	if f == nil {
		f = &BlockFacts{}
		s.facts[block.address] = f
	}
	f.note(t)
}

// instances yields what the transfers of a block are made of. An instance is valid until
// the next.
func (s *stream) instances(ctx context.Context, block *transferBlock) iter.Seq2[instance, hcl.Diagnostics] {
	return func(yield func(instance, hcl.Diagnostics) bool) {
		switch {
		case ctx.Err() != nil:
			yield(instance{}, Interrupted())
		case block.broken:
			yield(instance{}, hcl.Diagnostics{})
		case block.data != nil:
			s.rows(ctx, block, yield)
		case block.repeated:
			for i := range block.elements {
				if i%contextEvery == 0 && ctx.Err() != nil {
					yield(instance{}, Interrupted())
					return
				}
				if !yield(instance{element: &block.elements[i]}, nil) {
					return
				}
			}
		default:
			yield(instance{address: block.address, ctx: block.ctx}, nil)
		}
	}
}

// rows yields the instances that data rows make. The mistakes of a file are told once,
// however many blocks read it.
func (s *stream) rows(ctx context.Context, block *transferBlock, yield func(instance, hcl.Diagnostics) bool) {
	told := s.told[block.data]
	s.told[block.data] = true
	for row, diags := range block.data.rows(ctx) {
		if row == nil {
			if s.recorder != nil {
				s.recorder.broken = true
			}
			if (!told || ctx.Err() != nil) && !yield(instance{}, diags) {
				return
			}
			continue
		}
		if !yield(instance{row: row}, nil) {
			return
		}
	}
}

func (t *transferBlock) instance(key string, value cty.Value) instance {
	ctx := t.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{
		"key": cty.StringVal(key), "value": value,
	})}
	return instance{address: t.instanceAddress(key), ctx: ctx, each: value}
}

// whole is an instance with all that a general evaluation needs.
func (t *transferBlock) whole(in instance) instance {
	whole := in
	switch {
	case in.row != nil:
		whole = t.instance(in.row.Key(), in.row.value())
	case in.element != nil:
		whole = t.instance(in.element.key, in.element.value)
	}
	whole.row, whole.element = in.row, in.element
	return whole
}

// check compares t with the transfers before it. On a mistake t becomes the zero Transfer.
func (s *stream) check(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	if t.Batch != "" && s.config.memberships.note(t.Batch, block) {
		s.config.memberships.late = true
	}
	if diags := lostIDs(block, in, t); diags != nil {
		*t = Transfer{}
		return diags
	}
	if diags := s.currencies.check(block, in, t); diags != nil {
		*t = Transfer{}
		return diags
	}
	if diags := s.posing(block, in, t); diags != nil {
		*t = Transfer{}
		return diags
	}
	if s.distinct(block) {
		return nil
	}
	first, isNew := s.refIDs.add(t.Request.RefID, s.places.number(t.Place))
	if isNew {
		return nil
	}
	e := evaluator{block: block, in: block.whole(in)}
	f := block.fields["ref_id"]
	if f != nil && f.constant && block.repeated {
		e.add(f, mistake.New(f.Expr.Range(), "ref_id is the same for each transfer", "Each transfer of this block has the ref_id %q, and an ID stands for one transfer, for ever. It needs the key:\n\n  ref_id = %s",
			t.Request.RefID, withKey(f.Expr, block.configured.files)))
		*t = Transfer{}
		return e.diags
	}
	e.refuse(f, "ref_id is used twice", "ref_id %q is also that of the transfer at %s: an ID stands for one transfer, for ever.",
		t.Request.RefID, s.places.place(first))
	*t = Transfer{}
	return e.diags
}

// posing refuses a transfer that is shown under a name of a profile and goes elsewhere.
func (s *stream) posing(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	other := block.configured.book.posing(t.DisplayName, t.Request.ToProfileID)
	if other == nil {
		return nil
	}
	f := block.fields["display_name"]
	if f == nil {
		f = block.fields["to"]
	}
	e := evaluator{block: block, in: block.whole(in)}
	e.refuse(f, nameOfAnother, "%s", other.mistakeOf(t.DisplayName, "this transfer goes elsewhere"))
	return e.diags
}

// distinct reports whether no two transfers can have one ref_id: there is one block, whose
// ref_ids differ because the keys of its rows do.
func (s *stream) distinct(block *transferBlock) bool {
	fast := s.compiled[block]
	return fast != nil && fast.distinct && len(s.config.transfers) == 1
}
