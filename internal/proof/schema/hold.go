package schema

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Hold fails t where a schema that was made of types is not the published one, or has lost a promise of the kept one, which was
// published with the last release. With isUpdate it writes the published one anew first.
func Hold(t testing.TB, made Schema, published, kept string, isUpdate bool) {
	t.Helper()
	text, err := json.MarshalIndent(made, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if isUpdate {
		if err := os.WriteFile(published, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, published)), string(text)); diff != "" {
		t.Errorf("%s is not what the types say; .ci/update writes it anew (-docs +types):\n%s", published, diff)
	}
	var before, now any
	if err := json.Unmarshal(read(t, kept), &before); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &now); err != nil {
		t.Fatal(err)
	}
	for _, loss := range Lost(before, now) {
		t.Errorf("programs that read what %s is of break: %s", published, loss)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Published is a schema of one kind of document, as docs/schemas has it, with its name and what it is of.
func Published(name, title string, made Schema) Schema {
	all := Schema{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:remit:" + name + ":1", "title": title}
	for key, value := range made {
		all[key] = value
	}
	return all
}
