package config_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"remit/config"
)

// TestSeenIsAMap holds seen against a map.
func TestSeenIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, want := config.NewSeen(), map[string]uint32{}
		texts := rapid.SliceOf(rapid.StringMatching(`[a-c]{0,4}`)).Draw(t, "texts")
		if sorted := rapid.IntRange(0, len(texts)).Draw(t, "sorted"); sorted > 0 { // the first ones, as in a file that was sorted
			slices.SortFunc(texts[:sorted], func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		}
		for i, text := range texts {
			if rapid.Bool().Draw(t, "find") {
				other := rapid.StringMatching(`[a-c]{0,4}`).Draw(t, "other")
				if found := s.Find(other); found != want[other] {
					t.Fatalf("%q is found at %d; it stands at %d", other, found, want[other])
				}
			}
			number := uint32(i + 1)
			known, twice := want[text]
			if !twice {
				want[text], known = number, number
			}
			if first, isNew := s.Add(text, number); first != known || isNew == twice {
				t.Fatalf("%q at %d: %d, new %v; it stands at %d", text, number, first, isNew, known)
			}
		}
	})
}

func TestSeenKeepsManyInLittle(t *testing.T) {
	s := config.NewSeen()
	const many = 1_000_000
	for i := range uint32(many) {
		if _, isNew := s.Add(fmt.Sprint("text-", i), i+1); !isNew {
			t.Fatalf("text-%d is not new", i)
		}
	}
	if s.Find("text") != 0 || s.Find("text-10000000") != 0 || !s.IsSorted() {
		t.Error("texts before and behind all others are looked for")
	}
	if size := s.Size() / many; size > 17 {
		t.Errorf("%d bytes for each of the sorted ones", size)
	}
	for i := range uint32(many) {
		if first, isNew := s.Add(fmt.Sprint("text-", i), 1); isNew || first != i+1 {
			t.Fatalf("text-%d is at %d", i, first)
		}
	}
	if size := s.Size() / many; size > 32 {
		t.Errorf("%d bytes for each", size)
	}
}

// TestPlacesHaveNumbers gives random places numbers and takes them back.
func TestPlacesHaveNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l config.Places
		want := map[uint32]config.Place{}
		for range rapid.IntRange(1, 30).Draw(t, "places") {
			p := config.Place{
				File: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "file"),
				Line: rapid.IntRange(1, 5).Draw(t, "line"),
			}
			n := l.Number(p)
			if before, ok := want[n]; n == 0 || ok && before != p {
				t.Fatalf("%v and %v both have the number %d", before, p, n)
			}
			want[n] = p
		}
		for n, p := range want {
			if got := l.Place(n); got != p {
				t.Fatalf("number %d is %v, not %v", n, got, p)
			}
		}
	})
}
