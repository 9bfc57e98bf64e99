package schema_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"remit/internal/proof/schema"
)

// TestNoPromiseIsLostUnseen takes every field of every published schema away, gives it another type, and has it come only
// sometimes: each must be found.
func TestNoPromiseIsLostUnseen(t *testing.T) {
	files, err := filepath.Glob("../../../docs/schemas/*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		for object := range objectsOf(all) {
			properties, _ := object["properties"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				changes := map[string]any{"gone": nil, "of no type": map[string]any{}}
				if _, has := properties[name].(map[string]any)["type"]; has {
					changes["a number"] = map[string]any{"type": "number"}
					changes["sometimes null"] = map[string]any{"type": []any{"string", "null", "number"}}
				}
				for what, change := range changes {
					other := maps.Clone(properties)
					if change == nil {
						delete(other, name)
					} else if other[name] = change; len(properties[name].(map[string]any)) == 0 {
						continue // anything was allowed before
					}
					changed := maps.Clone(object)
					changed["properties"] = other
					tried++
					if len(schema.Lost(object, changed)) == 0 {
						t.Errorf("%s: %s is %s, and nothing is said", filepath.Base(file), name, what)
					}
				}
			}
			required, _ := object["required"].([]any)
			for i := range required {
				changed := maps.Clone(object)
				changed["required"] = slices.Delete(slices.Clone(required), i, i+1)
				tried++
				if len(schema.Lost(object, changed)) == 0 {
					t.Errorf("%s: %s is not always there, and nothing is said", filepath.Base(file), required[i])
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d losses were tried", tried)
	}
}

// objectsOf are all objects within a schema, itself included.
func objectsOf(value any) func(func(map[string]any) bool) {
	return func(yield func(map[string]any) bool) { each(value, yield) }
}

func each(value any, yield func(map[string]any) bool) bool {
	switch value := value.(type) {
	case map[string]any:
		if !yield(value) {
			return false
		}
		for _, member := range value {
			if !each(member, yield) {
				return false
			}
		}
	case []any:
		for _, member := range value {
			if !each(member, yield) {
				return false
			}
		}
	}
	return true
}
