package planner

import (
	"reflect"
	"slices"
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
