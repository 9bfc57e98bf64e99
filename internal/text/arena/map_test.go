package arena_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"remit/internal/text/arena"
)

// TestAMapIsAMap holds it against Go's own, with many keys of one hash.
func TestAMapIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m, want := arena.NewMap(), make(map[string]string)
		if hashes := rapid.IntRange(0, 3).Draw(t, "hashes"); hashes > 0 {
			m.HashBy(func(key string) uint64 { return uint64(len(key) % hashes) })
		}
		keys := rapid.StringMatching(`[ab]{0,4}`)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			key := keys.Draw(t, "key")
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				m.Delete(key)
				delete(want, key)
				continue
			}
			value := rapid.StringN(0, 12, 40).Draw(t, "value")
			m.Put(key, []byte(value), rapid.SampledFrom([]int{0, 5, 100}).Draw(t, "growth"))
			want[key] = value
		}
		if m.Len() != len(want) {
			t.Fatalf("%d keys, want %d", m.Len(), len(want))
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(m.Keys()), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		for _, key := range append(slices.Collect(maps.Keys(want)), keys.Draw(t, "another key")) {
			value, has := want[key]
			if got, ok := m.Get(key); ok != has || string(got) != value {
				t.Fatalf("%q has %q, %t, want %q, %t", key, got, ok, value, has)
			}
		}
	})
}

func TestAMapOfManyKeys(t *testing.T) {
	t.Parallel()
	m := arena.NewMap()
	key := func(i int) string { return string([]byte{byte(i), byte(i >> 8), byte(i >> 16)}) }
	const count = 100_000
	for i := range count {
		m.Put(key(i), []byte("value of "+key(i)), 0)
	}
	for i := range count {
		if got, ok := m.Get(key(i)); !ok || string(got) != "value of "+key(i) {
			t.Fatalf("%d has %q, %t", i, got, ok)
		}
	}
	for range m.Keys() {
		break
	}
	if m.Len() != count {
		t.Errorf("%d keys", m.Len())
	}
}
