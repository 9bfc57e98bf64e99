package schema_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/schema"
)

type inner struct {
	Sum  string `json:"sum"`
	Note string `json:"note,omitempty"`
}

type outer struct {
	inner
	Type  string            `json:"type"`
	Count int               `json:"count"`
	At    time.Time         `json:"at,omitzero"`
	Parts []inner           `json:"parts"`
	Next  *outer            `json:"next,omitempty"`
	Words map[string]string `json:"words,omitempty"`
	none  int               //nolint:unused // encoding/json leaves it out, and so must a schema
}

func asJSON(t *testing.T, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestASchemaSaysWhatIsEncoded(t *testing.T) {
	got := asJSON(t, schema.Of(outer{}, nil))
	properties := got["properties"].(map[string]any)
	if diff := cmp.Diff([]any{"sum", "type", "count", "parts"}, got["required"]); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]map[string]any{
		"note":  {"type": "string"},
		"count": {"type": "integer"},
		"at":    {"type": "string", "format": "date-time"},
		"words": {"type": []any{"object", "null"}, "additionalProperties": map[string]any{"type": "string"}},
	} {
		if diff := cmp.Diff(any(want), properties[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, is := properties["none"]; is {
		t.Error("a field that is not encoded has a schema")
	}
}

func TestLossesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		now  any
		lost bool
	}{
		"the same": {inner{}, false},
		"a field more": {struct {
			inner
			More string `json:"more"`
		}{}, false},
		"a field less": {struct {
			Sum string `json:"sum"`
		}{}, true},
		"another type": {struct {
			Sum  int    `json:"sum"`
			Note string `json:"note,omitempty"`
		}{}, true},
		"not always there": {struct {
			Sum  string `json:"sum,omitempty"`
			Note string `json:"note,omitempty"`
		}{}, true},
	} {
		if got := schema.Lost(asJSON(t, schema.Of(inner{}, nil)), asJSON(t, schema.Of(c.now, nil))); (len(got) > 0) != c.lost {
			t.Errorf("%s: %q", name, slices.Sorted(slices.Values(got)))
		}
	}
}
