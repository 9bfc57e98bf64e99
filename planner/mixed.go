package planner

import (
	"strings"

	"remit/internal/text/confusable"
	"remit/internal/transfer"
)

// mixedScripts marks a declared transfer in whose texts letters of one script may pose as those
// of another; nil where there are none. Transfers with such letters in the same fields have
// equal signals, so that a change stays packed.
func mixedScripts(c *Change) []Signal {
	if isPlain(c.Address) && isPlain(c.Batch) && isPlain(c.DisplayName) && isPlainRequest(&c.Request) {
		return nil
	}
	var names []string
	look := func(name string, isPlain bool) {
		if !isPlain {
			names = append(names, name)
		}
	}
	look("ref_id", isPlain(c.Request.RefID))
	look("address", isPlain(c.Address))
	look("batch", isPlain(c.Batch))
	look("display_name", isPlain(c.DisplayName))
	for _, f := range transfer.ReadingOrder() {
		if f.Name() != "ref_id" {
			look(f.Name(), isPlainField(&c.Request, f))
		}
	}
	return []Signal{{
		Kind:   MixedScripts,
		Detail: "letters that may pass for those of another script, in " + strings.Join(names, ", "),
	}}
}

func isPlainRequest(r *transfer.Request) bool {
	for f := range transfer.FieldCount {
		if f.IsShown() && !isPlainField(r, f) {
			return false
		}
	}
	return true
}

func isPlainField(r *transfer.Request, f transfer.Field) bool {
	if !isPlain(r.Text(f)) {
		return false
	}
	for _, p := range r.Pairs(f) {
		if !isPlain(p.Key) || !isPlain(p.Value) {
			return false
		}
	}
	return true
}

// isPlain reports whether no letter of a text may pass for one of another script.
func isPlain(text string) bool { return transfer.Plain(text) || !confusable.Mixed(text) }

// unusualForms marks a transfer of which an ID is a UUID in another form than services show it; nil where there is none.
// Transfers with such IDs in the same fields have equal signals, so that a change stays packed.
func unusualForms(c *Change) []Signal {
	var names []string
	for f := range transfer.FieldCount {
		if f.Side() != transfer.NoSide && transfer.IsUnusualUUID(c.Request.Text(f)) {
			names = append(names, f.Name())
		}
	}
	if names == nil {
		return nil
	}
	return []Signal{{
		Kind:   UnusualForm,
		Detail: "a UUID without its usual hyphens, or with signs around it, in " + strings.Join(names, ", "),
	}}
}
