package planner

import (
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/internal/transfer"
)

// Value is the plan as an expression sees it, under the name plan: an object of which docs/language/plan-value.md
// lists the attributes. Those that take a look at each line (batches, destinations,
// transfers) are there only where wants says so; it may be nil for all. Amounts and sums are
// quoted decimals. It returns an error where a recorded request can't be read.
func (p *Plan) Value(wants func(attribute string) bool) (cty.Value, error) {
	return p.value(wants, false)
}

// value is Value with the requests as they are declared, or in one spelling.
func (p *Plan) value(wants func(attribute string) bool, isSpelled bool) (cty.Value, error) {
	var sent transfer.Totals
	actions := map[string]cty.Value{}
	for _, action := range Actions() {
		totals := transfer.Totals{}
		if t := p.Totals[action]; t != nil {
			totals = *t
		}
		actions[string(action)] = TotalsValue(totals)
		if action.Sends() {
			sent.Merge(totals)
		}
	}
	value := TotalsValue(sent).AsValueMap()
	value["hash_total"] = textValue(hashText(sent))
	value["actions"] = cty.ObjectVal(actions)
	value["applicable"] = cty.BoolVal(p.Applicable())
	value["digest"] = cty.StringVal(p.Digest)
	value["environment"] = cty.StringVal(p.Header.Environment)
	value["obstacles"] = obstaclesValue(p.Obstacles)
	value["signals"] = p.signalsValue()
	for attribute, of := range map[string]func() (cty.Value, error){
		"batches": func() (cty.Value, error) {
			return p.totalsBy(func(c *Change, _ transfer.Request) string { return c.Batch })
		},
		"destinations": func() (cty.Value, error) {
			return p.totalsBy(func(_ *Change, r transfer.Request) string { return r.OneSpelling().ToProfileID })
		},
		"transfers": func() (cty.Value, error) { return p.transfersValue(isSpelled) },
	} {
		if wants != nil && !wants(attribute) {
			continue
		}
		v, err := of()
		if err != nil {
			return cty.NilVal, err
		}
		value[attribute] = v
	}
	return cty.ObjectVal(value), nil
}

// Sends reports whether an apply may send something because of the action.
func (a Action) Sends() bool { return a == Submit || a == Resolve }

// TotalsValue is an object with a count, and a map of totals from asset to sum.
func TotalsValue(t transfer.Totals) cty.Value {
	sums := map[string]cty.Value{}
	for total := range t.All() {
		sums[total.Asset] = cty.StringVal(transfer.Digits(total.Sum))
	}
	return cty.ObjectVal(map[string]cty.Value{"count": cty.NumberIntVal(int64(t.Count())), "totals": mapValue(cty.String, sums)})
}

// mapValue is a map of elements of one type, of which there may be none.
func mapValue(element cty.Type, elements map[string]cty.Value) cty.Value {
	if len(elements) == 0 {
		return cty.MapValEmpty(element)
	}
	return cty.MapVal(elements)
}

// listValue is a list of elements of one type, of which there may be none.
func listValue(element cty.Type, elements []cty.Value) cty.Value {
	if len(elements) == 0 {
		return cty.ListValEmpty(element)
	}
	return cty.ListVal(elements)
}

func textsValue(texts []string) cty.Value {
	values := make([]cty.Value, len(texts))
	for i, text := range texts {
		values[i] = cty.StringVal(text)
	}
	return listValue(cty.String, values)
}

// totalsBy are the totals of the requests that the plan would send, by their key; "" counts
// nowhere.
func (p *Plan) totalsBy(key func(*Change, transfer.Request) string) (cty.Value, error) {
	groups := map[string]*transfer.Totals{}
	for _, c := range p.Changes.All() {
		if !c.Action.Sends() {
			continue
		}
		request, err := c.InForce()
		if err != nil {
			return cty.NilVal, err
		}
		name := key(c, request)
		if name == "" {
			continue
		}
		if groups[name] == nil {
			groups[name] = new(transfer.Totals)
		}
		groups[name].Add(request.Asset, request.Amount)
	}
	values := make(map[string]cty.Value, len(groups))
	for name, totals := range groups {
		values[name] = TotalsValue(*totals)
	}
	return mapValue(TotalsValue(transfer.Totals{}).Type(), values), nil
}

func obstaclesValue(obstacles []Obstacle) cty.Value {
	values := make([]cty.Value, len(obstacles))
	for i, o := range obstacles {
		values[i] = obstacleValue(o)
	}
	return listValue(obstacleValue(Obstacle{}).Type(), values)
}

func obstacleValue(o Obstacle) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"kind": cty.StringVal(string(o.Kind)), "address": textValue(o.Address), "count": cty.NumberIntVal(int64(o.Count)),
		"ref_ids": textsValue(o.RefIDs), "detail": cty.StringVal(o.Detail),
	})
}

// signalsValue counts the lines that each kind of signal is on.
func (p *Plan) signalsValue() cty.Value {
	counts := map[string]int64{}
	for c, n := range p.Changes.Kinds() {
		for _, kind := range c.signalKinds() {
			counts[kind] += int64(n)
		}
	}
	values := make(map[string]cty.Value, len(counts))
	for kind, n := range counts {
		values[kind] = cty.NumberIntVal(n)
	}
	return mapValue(cty.Number, values)
}

// signalKinds are the kinds of a change's signals, each once.
func (c *Change) signalKinds() []string {
	var kinds []string
	for _, s := range c.Signals {
		if !slices.Contains(kinds, string(s.Kind)) {
			kinds = append(kinds, string(s.Kind))
		}
	}
	return kinds
}

// transfersValue are the lines of the plan by their ref_id, as they are declared or in one spelling.
func (p *Plan) transfersValue(isSpelled bool) (cty.Value, error) {
	values := make(map[string]cty.Value, p.Changes.Len())
	for _, c := range p.Changes.All() {
		request, err := c.InForce()
		if err != nil {
			return cty.NilVal, err
		}
		if isSpelled {
			request = request.OneSpelling()
		}
		values[c.RefID] = c.value(request)
	}
	return mapValue((&Change{}).value(transfer.Request{}).Type(), values), nil
}

// isSpelled reports whether all lines of the plan are in the spelling of [transfer.Request.OneSpelling].
func (p *Plan) isSpelled() (bool, error) {
	for _, c := range p.Changes.All() {
		request, err := c.InForce()
		if err != nil || !request.IsSpelled() {
			return false, err
		}
	}
	return true, nil
}

// value is one line of the plan, with the request that is in force. An absent value is null.
func (c *Change) value(r transfer.Request) cty.Value {
	return c.valueOf(&r, func(string) bool { return true })
}

// valueOf is value with the attributes that are wanted alone.
func (c *Change) valueOf(r *transfer.Request, wants func(attribute string) bool) cty.Value {
	values := make(map[string]cty.Value)
	for _, name := range config.ScopeTransfer.Attributes() {
		if wants(name) {
			values[name] = c.attribute(name, r)
		}
	}
	return cty.ObjectVal(values)
}

// attribute is one of the attributes of a line.
func (c *Change) attribute(name string, r *transfer.Request) cty.Value {
	switch name {
	case "action":
		return cty.StringVal(string(c.Action))
	case "address":
		return textValue(c.Address)
	case "after":
		return textsValue(c.After)
	case "again":
		return cty.BoolVal(c.Again)
	case "batch":
		return textValue(c.Batch)
	case "expires":
		return timeValue(c.Expires)
	case "place":
		return textValue(c.Place)
	case "reason":
		return textValue(c.Reason)
	case "signals":
		return textsValue(c.signalKinds())
	case "until":
		return timeValue(c.Until)
	}
	f, ok := transfer.FieldNamed(name)
	switch {
	case !ok:
		panic("a line has no attribute " + name)
	case f.HasPairs():
		return metadataValue(r.Pairs(f))
	}
	return textValue(r.Text(f))
}

// textValue is null for an empty text: an absent value.
func textValue(text string) cty.Value {
	if text == "" {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(text)
}

func timeValue(t time.Time) cty.Value {
	if t.IsZero() {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(t.Format(time.RFC3339))
}

func metadataValue(m transfer.Metadata) cty.Value {
	values := make(map[string]cty.Value, len(m))
	for _, pair := range m {
		values[pair.Key] = cty.StringVal(pair.Value)
	}
	return mapValue(cty.String, values)
}

// hashText is the hash total of totals; "" where a destination is not known.
func hashText(t transfer.Totals) string {
	if hash, ok := t.HashTotal(); ok {
		return transfer.Digits(hash)
	}
	return ""
}
