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
		return differ("what was accepted", a, b)
	}
	for _, action := range Actions() {
		if a, b := totalsText(p, action), totalsText(computed, action); a != b {
			return differ(fmt.Sprintf("the totals of %q", action), a, b)
		}
	}
	if a, b := batchTexts(p), batchTexts(computed); !slices.Equal(a, b) {
		return differ("the totals of the batches", a, b)
	}
	if a, b := obstacleTexts(p), obstacleTexts(computed); !isSameSet(a, b) {
		return differ("what keeps it from being applied", a, b)
	}
	if p.Digest != computed.Digest {
		return differ("the digest", p.Digest, computed.Digest)
	}
	return nil
}

func differ(what string, said, computed any) error {
	return &DifferentError{what, fmt.Sprint(said), fmt.Sprint(computed)}
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
			return differ("the line of "+fmt.Sprintf("%q", said.RefID), said.Action, here)
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
		return differ(fmt.Sprintf("the line of %q", now.RefID), "none", now.Action)
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
func differenceOf(said, computed *Change) (field string, a, b any) {
	if !isSameRequest(&said.Request, &computed.Request) {
		return "the request", string(said.Request.Body()), string(computed.Request.Body())
	}
	x, y := said.plain(), computed.plain()
	if reflect.DeepEqual(x, y) {
		return "", nil, nil
	}
	left, right := reflect.ValueOf(x), reflect.ValueOf(y)
	for i := range left.NumField() {
		a, b := left.Field(i).Interface(), right.Field(i).Interface()
		if !reflect.DeepEqual(a, b) {
			return "the " + left.Type().Field(i).Name, showValue(a), showValue(b)
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

func showValue(v any) any {
	switch v := v.(type) {
	case *Recorded:
		if v == nil {
			return "nothing"
		}
		return fmt.Sprintf("%+v", *v)
	case []Signal:
		texts := []string{}
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
	return v
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

func totalsText(p *Plan, action Action) string {
	t := p.Totals[action]
	if t == nil {
		return "none"
	}
	return fmt.Sprintf("%+v", saveTotals(action, t))
}

func batchTexts(p *Plan) []string {
	var all []string
	for i := range p.Batches {
		all = append(all, fmt.Sprintf("%s %+v", p.Batches[i].Name, saveTotals("", &p.Batches[i].Totals)))
	}
	return all
}

// isSameSet compares without the order, which for limits depends on the transfers of the day.
func isSameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func obstacleTexts(p *Plan) []string {
	var all []string
	for _, o := range p.Obstacles {
		all = append(all, fmt.Sprintf("%s %s %d %q", o.Kind, o.Address, o.Count, o.RefIDs))
	}
	return all
}
