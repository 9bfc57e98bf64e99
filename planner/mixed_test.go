package planner_test

import (
	"testing"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

func TestSignalOfMixedScripts(t *testing.T) {
	const said = "letters that may pass for those of another script, in "
	in := func(edit func(*config.Transfer, string)) func(string) func(*config.Transfer) {
		return func(text string) func(*config.Transfer) {
			return func(t *config.Transfer) { edit(t, text) }
		}
	}
	for field, set := range map[string]func(string) func(*config.Transfer){
		"address":          in(func(t *config.Transfer, text string) { t.Address = text }),
		"batch":            in(func(t *config.Transfer, text string) { t.Batch = text }),
		"from_profile_id":  in(func(t *config.Transfer, text string) { t.Request.FromProfileID = text }),
		"from_identity_id": in(func(t *config.Transfer, text string) { t.Request.FromIdentityID = text }),
		"from_account_id":  in(func(t *config.Transfer, text string) { t.Request.FromAccountID = text }),
		"to_profile_id":    in(func(t *config.Transfer, text string) { t.Request.ToProfileID = text }),
		"to_identity_id":   in(func(t *config.Transfer, text string) { t.Request.ToIdentityID = text }),
		"to_account_id":    in(func(t *config.Transfer, text string) { t.Request.ToAccountID = text }),
		"asset":            in(func(t *config.Transfer, text string) { t.Request.Asset = text }),
		"metadata": in(func(t *config.Transfer, text string) {
			t.Request.Metadata = transfer.NewMetadata(map[string]string{"memo": text, text: "memo"})
		}),
	} {
		for text, want := range map[string]string{"\u0410lice": said + field, "Alice": "", "Иван Сор": ""} {
			p := plan(t, newMemory(), planner.Controls{}, declare("a", set(text)))
			if got := mixedSignal(find(t, p, "a")); got != want {
				t.Errorf("%s %q: %q", field, text, got)
			}
		}
	}
	for name, pairs := range map[string]map[string]string{"a key": {"\u0410lice": "memo"}, "a value": {"memo": "\u0410lice"}} {
		p := plan(t, newMemory(), planner.Controls{}, declare("a", func(t *config.Transfer) { t.Request.Metadata = transfer.NewMetadata(pairs) }))
		if got := mixedSignal(find(t, p, "a")); got != said+"metadata" {
			t.Errorf("%s of metadata: %q", name, got)
		}
	}
	p := plan(t, newMemory(), planner.Controls{}, declare("\u0435-17", func(t *config.Transfer) { t.Batch = "\u0410lice" }))
	if got := mixedSignal(find(t, p, "\u0435-17")); got != said+"ref_id, address, batch, to_profile_id" {
		t.Errorf("ref_id and batch: %q", got)
	}
}

// A doubt is marked as well: it may be sent again.
func TestSignalOfMixedScriptsInDoubt(t *testing.T) {
	declared := declare("a", func(t *config.Transfer) { t.Batch = "\u0410lice" })
	p := plan(t, newMemory(record(declared, state.InDoubt)), planner.Controls{}, declared)
	if c := find(t, p, "a"); c.Action != planner.Resolve || mixedSignal(c) == "" {
		t.Errorf("%s has the signals %v", c.Action, c.Signals)
	}
}

func mixedSignal(c *planner.Change) string {
	for _, s := range c.Signals {
		if s.Kind == planner.MixedScripts {
			return s.Detail
		}
	}
	return ""
}

// TestSignalOfUnusualForms has UUIDs that services would show in another form.
func TestSignalOfUnusualForms(t *testing.T) {
	for id, isMarked := range map[string]bool{
		"37867177-f88c-45cc-b9b5-d786e7079609": false, "37867177-F88C-45CC-B9B5-D786E7079609": false, "landlord": false,
		"37867177f88c45ccb9b5d786e7079609": true, "{37867177-f88c-45cc-b9b5-d786e7079609}": true, "urn:uuid:37867177-f88c-45cc-b9b5-d786e7079609": true,
		"37867177f88c45ccb9b5d786e707960x": false, "3786-7177-f88c45ccb9b5-d786-e7079609": true,
	} {
		p := plan(t, newMemory(), planner.Controls{}, declare("a", func(t *config.Transfer) { t.Request.ToProfileID = id }))
		got := ""
		for _, s := range find(t, p, "a").Signals {
			if s.Kind == planner.UnusualForm {
				got = s.Detail
			}
		}
		if want := "a UUID without its usual hyphens, or with signs around it, in to_profile_id"; (got == want) != isMarked || !isMarked && got != "" {
			t.Errorf("%s: %q", id, got)
		}
	}
}
