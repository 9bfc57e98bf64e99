package arena_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/text/arena"
)

// TestTextsStayWhereTheyAre holds an arena against a list, with texts that fill a piece, and longer ones.
func TestTextsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var a arena.Arena
		var places []arena.Place
		var want []string
		for range rapid.IntRange(0, 40).Draw(t, "texts") {
			text := strings.Repeat(rapid.StringN(0, 3, 9).Draw(t, "text"), rapid.SampledFrom([]int{1, 1, 1, 400, 300_000}).Draw(t, "times"))
			at := a.Add(text)
			if at == 0 || len(places) > 0 && at <= places[len(places)-1] {
				t.Fatalf("the place %d does not follow %v", at, places)
			}
			places, want = append(places, at), append(want, text)
			if len(want) > 1 && rapid.Bool().Draw(t, "change") {
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				bytes := a.At(places[i])
				for k := range bytes {
					bytes[k] = 'x'
				}
				want[i] = strings.Repeat("x", len(bytes))
			}
		}
		for i, at := range places {
			if got := string(a.At(at)); got != want[i] {
				t.Fatalf("text %d of %d bytes is another one, of %d", i, len(want[i]), len(got))
			}
		}
	})
}

func TestBytesOfOneTextDoNotGrowIntoTheNext(t *testing.T) {
	t.Parallel()
	var a arena.Arena
	at := a.Add("ab")
	next := a.Add("cd")
	if _ = append(a.At(at), "xy"...); string(a.At(next)) != "cd" {
		t.Errorf("the next text is %q", a.At(next))
	}
	if _, bytes := a.Make(3); string(bytes) != "\x00\x00\x00" || cap(bytes) < 3 {
		t.Errorf("new bytes are %q", bytes)
	}
}

func TestATextOfFourGigabytesIsRefused(t *testing.T) {
	t.Parallel()
	if math.MaxInt == math.MaxInt32 {
		return // no text is as long
	}
	defer func() {
		if recover() == nil {
			t.Error("it was shortened")
		}
	}()
	var a arena.Arena
	long := uint64(math.MaxUint32) + 6
	a.Make(int(long))
}
