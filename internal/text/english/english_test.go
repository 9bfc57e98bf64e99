package english_test

import (
	"testing"

	"remit/internal/text/english"
)

func TestPlural(t *testing.T) {
	for count, want := range map[int]string{0: "0 ref_ids", 1: "1 ref_id", 2: "2 ref_ids", 1200: "1200 ref_ids"} {
		if got := english.Plural(count, "ref_id"); got != want {
			t.Errorf("%d: %q, want %q", count, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for want, names := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := english.List(names); got != want {
			t.Errorf("%q", got)
		}
	}
}
