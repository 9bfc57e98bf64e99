package planner

import (
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"remit/internal/transfer"
)

// Value is the plan as an expression sees it, under the name plan: an object of which docs/language.md
// lists the attributes. Those that take a look at each line (batches, destinations,
// transfers) are there only where wants says so; it may be nil for all. Amounts and sums are
// quoted decimals. It returns an error where a recorded request can't be read.
func (p *Plan) Value(wants func(attribute string) bool) (cty.Value, error) {
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
			return p.totalsBy(func(_ *Change, r transfer.Request) string { return r.ToProfileID })
		},
		"transfers": p.transfersValue,
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

// totalsBy are the totals of what would be sent, by what key says of it; "" counts nowhere.
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

// transfersValue are the lines of the plan by their ref_id.
func (p *Plan) transfersValue() (cty.Value, error) {
	values := make(map[string]cty.Value, p.Changes.Len())
	for _, c := range p.Changes.All() {
		request, err := c.InForce()
		if err != nil {
			return cty.NilVal, err
		}
		values[c.RefID] = c.value(request)
	}
	return mapValue((&Change{}).value(transfer.Request{}).Type(), values), nil
}

// value is one line of the plan, with the request that is in force. What is absent is null.
func (c *Change) value(r transfer.Request) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"action":             cty.StringVal(string(c.Action)),
		"address":            textValue(c.Address),
		"after":              textsValue(c.After),
		"again":              cty.BoolVal(c.Again),
		"amount":             cty.StringVal(r.Amount.String()),
		"asset":              cty.StringVal(r.Asset),
		"batch":              textValue(c.Batch),
		"expires":            timeValue(c.Expires),
		"from_account_id":    textValue(r.FromAccountID),
		"from_identity_id":   textValue(r.FromIdentityID),
		"from_profile_id":    textValue(r.FromProfileID),
		"metadata":           metadataValue(r.Metadata),
		"operation":          cty.StringVal(string(r.Operation)),
		"place":              textValue(c.Place),
		"reason":             textValue(c.Reason),
		"recipient_metadata": metadataValue(r.RecipientMetadata),
		"ref_id":             cty.StringVal(c.RefID),
		"signals":            textsValue(c.signalKinds()),
		"to_account_id":      textValue(r.ToAccountID),
		"to_identity_id":     textValue(r.ToIdentityID),
		"to_profile_id":      textValue(r.ToProfileID),
		"until":              timeValue(c.Until),
	})
}

// textValue is null for an empty text: what is absent.
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
