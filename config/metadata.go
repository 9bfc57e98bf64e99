package config

import (
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// metadata reads one side's pairs. A pair whose value is null is left out.
func (e *evaluator) metadata(name string) transfer.Metadata {
	if pairs, ok := e.writtenPairs(name); ok {
		return transfer.NewMetadata(pairs)
	}
	value, f, found := e.value(name)
	if found != eval.Present {
		return nil
	}
	if ty := value.Type(); !ty.IsObjectType() && !ty.IsMapType() {
		e.refuse(f, "Not a map of text", "%s has texts by names, and is not %s. It is written so:\n\n  %s = { note = \"Rent of November\" }", name, mistake.Kind(ty), name)
		return nil
	}
	pairs := map[string]string{}
	for key, item := range value.Elements() {
		if item.IsNull() {
			continue
		}
		k := key.AsString()
		if item.Type() != cty.String {
			how := "Write it in quotation marks, or tostring(…) around it."
			if !item.Type().IsPrimitiveType() {
				how = "Name one text of it, such as:\n\n  data.csv.payroll.rows[\"E-017\"].employee"
			}
			e.refuse(f, "Metadata is not text", "%s[%q] must be a text, not %s. %s", name, k, mistake.Kind(item.Type()), how)
			continue
		}
		pairs[k] = item.AsString()
		if err := transfer.CheckPair(k, pairs[k]); err != nil {
			e.refuse(f, "Invalid metadata", "%s[%q]: %s", name, k, mistake.Sentence(err))
		}
	}
	e.checkPairs(f, name, pairs)
	return transfer.NewMetadata(pairs)
}

// writtenPairs are pairs that are text as it is written. It is false where they are anything
// else, or have a mistake.
func (e *evaluator) writtenPairs(name string) (map[string]string, bool) {
	f := e.block.fields[name]
	if f == nil || f.broken {
		return nil, false
	}
	object, ok := syntax.LiteralObject(f.Expr)
	if !ok || len(object.Items) >= transfer.MetadataPairsMax {
		return nil, false
	}
	pairs := make(map[string]string, len(object.Items))
	for _, item := range object.Items {
		key, _ := syntax.LiteralKey(item.KeyExpr)
		value, _ := syntax.LiteralText(item.ValueExpr)
		pairs[key] = value.AsString()
		if transfer.CheckPair(key, pairs[key]) != nil || key == e.block.configured.fingerprintKey {
			return nil, false
		}
	}
	return pairs, true
}

// checkPairs counts the pairs, the fingerprint's among them: a service takes
// [transfer.MetadataPairsMax].
func (e *evaluator) checkPairs(f *field, name string, pairs map[string]string) {
	count, with := len(pairs), ""
	if key := e.block.configured.fingerprintKey; key != "" && name == "metadata" {
		if _, ok := pairs[key]; ok {
			e.refuse(f, "Invalid metadata", "%s[%q] is the pair in which the fingerprint travels (fingerprint_key of the service block).", name, key)
			return
		}
		count++
		with = ", the pair of the fingerprint among them"
	}
	if count > transfer.MetadataPairsMax {
		e.refuse(f, "Too many metadata pairs", "%s has %d pairs%s; the service takes %d.", name, count, with, transfer.MetadataPairsMax)
	}
}
