package planner

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"remit/internal/text/english"
	"remit/internal/transfer"
)

// compare names the first difference between a file and the computed plan, sentences apart, and the first request that
// the language of now does not allow.
func (p *Plan) compare(computed *Plan, under Controls) error {
	if err := p.compareLines(computed, under); err != nil {
		return err
	}
	for i := range p.Kept {
		if r := p.Kept[i].Request; r != nil {
			if err := under.allow(r); err != nil {
				return err
			}
		}
	}
	if a, b := p.Header.Accepted, computed.Header.Accepted; !slices.Equal(a, b) {
		return differ("what was accepted", showValue(a), showValue(b))
	}
	for _, action := range Actions() {
		if a, b := p.Totals[action], computed.Totals[action]; !isSameTotals(a, b) {
			return differ(fmt.Sprintf("the totals of %q", action), totalsText(a), totalsText(b))
		}
	}
	if !slices.EqualFunc(p.Batches, computed.Batches, func(a, b Batch) bool { return a.Name == b.Name && a.Totals.SameAs(b.Totals) }) {
		return differ("the totals of the batches", batchText(p), batchText(computed))
	}
	if a, b := obstacleTexts(p), obstacleTexts(computed); !isSameSet(a, b) {
		return differ("what keeps it from being applied", cmp.Or(strings.Join(a, "; "), "nothing"), cmp.Or(strings.Join(b, "; "), "nothing"))
	}
	if p.Digest != computed.Digest {
		return differ("the digest", p.Digest, computed.Digest)
	}
	return nil
}

func differ(what, said, computed string) error {
	return &DifferentError{what, said, computed}
}

func (p *Plan) compareLines(computed *Plan, under Controls) error {
	next, end := iter.Pull2(computed.Changes.All())
	defer end()
	for _, said := range p.Changes.All() {
		_, now, ok := next()
		if !ok || now.RefID != said.RefID {
			here := "no such line"
			if ok {
				here = fmt.Sprintf("a line of %q", now.RefID)
			}
			return differ("the line of "+fmt.Sprintf("%q", said.RefID), string(said.Action), here)
		}
		if field, a, b := differenceOf(said, now); field != "" {
			return differ(fmt.Sprintf("%s of %q", field, said.RefID), a, b)
		}
		if said.Action != Submit {
			continue
		}
		if err := under.allow(&said.Request); err != nil {
			return err
		}
	}
	if _, now, ok := next(); ok {
		return differ(fmt.Sprintf("the line of %q", now.RefID), "none", string(now.Action))
	}
	return nil
}

// allow refuses a request that the configuration of now could not declare, as far as [transfer.Request.CheckDeclarable] leaves it open:
// asset blocks say how many decimals an amount has, and what 0.1.0 declared may have other spaces. A reader of a plan may
// have another configuration.
func (c *Controls) allow(r *transfer.Request) error {
	if c.OwnBlocks {
		return nil
	}
	if scale, ok := c.Scales.Allow(r.Amount, r.Asset); !ok {
		return differ(fmt.Sprintf("the amount of %q", r.RefID), r.Amount.String()+" "+r.Asset, fmt.Sprintf("that %s has no more than %s", r.Asset, english.Plural(scale, "decimal")))
	}
	if err := r.CheckSpacing(); err != nil {
		return differ(fmt.Sprintf("the request of %q", r.RefID), string(r.Body()), "that "+err.Error())
	}
	return nil
}

// differenceOf names the first field in which two lines differ: all that a change has but its
// sentences.
func differenceOf(said, computed *Change) (field, a, b string) {
	if !isSameRequest(&said.Request, &computed.Request) {
		return "the request", string(said.Request.Body()), string(computed.Request.Body())
	}
	x, y := said.plain(), computed.plain()
	if reflect.DeepEqual(x, y) {
		return "", "", ""
	}
	field, a, b = differentField(reflect.ValueOf(x), reflect.ValueOf(y))
	if field == "Recorded" && x.Recorded != nil && y.Recorded != nil {
		field, a, b = differentField(reflect.ValueOf(*x.Recorded), reflect.ValueOf(*y.Recorded))
		field = "recorded " + field
	}
	return "the " + field, a, b
}

// differentField is the first field of two structs of one type that differs, with its values in words.
func differentField(left, right reflect.Value) (field, a, b string) {
	for i := range left.NumField() {
		if x, y := left.Field(i).Interface(), right.Field(i).Interface(); !reflect.DeepEqual(x, y) {
			return left.Type().Field(i).Name, showValue(x), showValue(y)
		}
	}
	panic("two values differ in no field")
}

func isSameRequest(a, b *transfer.Request) bool {
	for f := range transfer.FieldCount {
		if a.Text(f) != b.Text(f) || !slices.Equal(a.Pairs(f), b.Pairs(f)) {
			return false
		}
	}
	return true
}

// showValue is a value in words, as a message has it.
func showValue(v any) string {
	texts := []string{}
	switch v := v.(type) {
	case *Recorded:
		if v == nil {
			return "nothing"
		}
		return cmp.Or(v.word(), "something")
	case []string:
		for _, text := range v {
			texts = append(texts, fmt.Sprintf("%q", text))
		}
		return cmp.Or(strings.Join(texts, ", "), "none")
	case []transfer.Difference:
		for _, d := range v {
			texts = append(texts, fmt.Sprintf("%s: %q asked, %q answered", d.Field, d.Asked, d.Answered))
		}
		return cmp.Or(strings.Join(texts, "; "), "none")
	case []Signal:
		for _, s := range v {
			text := string(s.Kind)
			if s.RefID != "" {
				text += fmt.Sprintf(" of %q", s.RefID)
			}
			if s.Accepted != "" {
				text += ", accepted by " + s.Accepted
			}
			texts = append(texts, text)
		}
		return cmp.Or(strings.Join(texts, "; "), "none")
	case time.Time:
		if v.IsZero() {
			return "none"
		}
		return v.Format(time.RFC3339)
	case string:
		return fmt.Sprintf("%q", v)
	}
	return fmt.Sprint(v)
}

// plain is a change without its request and its sentences, with times in UTC and lists that are
// nil where they are empty.
func (c *Change) plain() Change {
	plain := *c
	plain.Request = transfer.Request{}
	plain.Reason, plain.Next = "", ""
	plain.Until, plain.Expires, plain.Due = plain.Until.UTC(), plain.Expires.UTC(), plain.Due.UTC()
	plain.Signals = nil
	for _, s := range c.Signals {
		s.Detail = ""
		plain.Signals = append(plain.Signals, s)
	}
	plain.After, plain.Windows = slices.Clip(c.After), slices.Clip(c.Windows)
	for _, list := range []*[]string{&plain.After, &plain.Windows, &plain.AcceptOf} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if len(plain.Differences) == 0 {
		plain.Differences = nil
	}
	if c.Recorded != nil {
		recorded := *c.Recorded
		recorded.At, recorded.Reason = recorded.At.UTC(), ""
		plain.Recorded = &recorded
	}
	return plain
}

// isSameTotals compares the numbers, and not how they are written: a sum has as many decimals as one of its amounts, and
// a declared amount may have others than the recorded one.
func isSameTotals(a, b *transfer.Totals) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SameAs(*b)
}

// totalsText are totals in words; nil is none.
func totalsText(t *transfer.Totals) string {
	if t == nil {
		return "none"
	}
	texts := []string{english.Plural(t.Count(), "transfer")}
	for total := range t.All() {
		texts = append(texts, transfer.Scales(nil).ShownSum(total.Sum, total.Asset)+" "+total.Asset)
	}
	if hash, ok := t.HashTotal(); ok {
		texts = append(texts, "hash total "+transfer.Scales(nil).ShownSum(hash, ""))
	}
	return strings.Join(texts, ", ")
}

func batchText(p *Plan) string {
	var all []string
	for i := range p.Batches {
		all = append(all, fmt.Sprintf("%q with %s", p.Batches[i].Name, totalsText(&p.Batches[i].Totals)))
	}
	return cmp.Or(strings.Join(all, "; "), "none")
}

// takeSpelling writes the totals of a computed plan as its file does, whose numbers are the same.
func (p *Plan) takeSpelling(computed *Plan) {
	computed.Totals = p.Totals
	for i := range computed.Batches {
		computed.Batches[i].Totals = p.Batches[i].Totals
	}
}

// isSameSet compares without the order, which for limits depends on the transfers of the day.
func isSameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func obstacleTexts(p *Plan) []string {
	var all []string
	for _, o := range p.Obstacles {
		text := fmt.Sprintf("%s %s (%d)", o.Kind, o.Address, o.Count)
		if len(o.RefIDs) > 0 {
			text += " of " + showValue(o.RefIDs)
		}
		all = append(all, text)
	}
	return all
}
