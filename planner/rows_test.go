package planner

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestARowIsSmallAndHasNoPointer(t *testing.T) {
	t.Parallel()
	is := reflect.TypeFor[row]()
	if is.Size() != 72 {
		t.Errorf("a row has %d bytes: ten million of them are in memory at once", is.Size())
	}
	pointers := []reflect.Kind{reflect.String, reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Struct}
	for i := range is.NumField() {
		if field := is.Field(i); slices.Contains(pointers, field.Type.Kind()) {
			t.Errorf("%s is a %s: the garbage collector would look at each row", field.Name, field.Type)
		}
	}
}

func TestAShortPlaceIsThePlace(t *testing.T) {
	t.Parallel()
	for _, chunk := range []int32{0, 1, 255, 256, 1<<16 - 1, 1 << 16, 1<<20 - 1} {
		for _, offset := range []int32{0, 1, 255, 256, 1<<16 - 1, chunkMax - 1} {
			if p := (textPlace{chunk, offset}); p.short().place() != p {
				t.Errorf("%v became %v", p, p.short().place())
			}
		}
	}
}

// TestPlacesBehindALongTextAreShort has texts that fill a chunk, and longer ones, with short ones behind them.
func TestPlacesBehindALongTextAreShort(t *testing.T) {
	t.Parallel()
	var all texts
	var places []shortPlace
	var want []string
	for i := range 400 {
		size := 10 + i
		if i%50 == 5 {
			size = chunkMax - 3 + i/50
		}
		text := strings.Repeat(string(rune('a'+i%26)), size)
		places, want = append(places, all.add([]byte(text)).short()), append(want, text)
	}
	for i, text := range want {
		if got := all.from(places[i].place()); !strings.HasPrefix(got, text) {
			t.Fatalf("text %d, of %d bytes, is another one", i, len(text))
		}
	}
}
