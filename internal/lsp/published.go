package lsp

import (
	"encoding/json"
	"maps"
	"slices"
)

// published are the diagnostics that the editor was told. The lock of the checks guards them.
type published struct {
	client *client
	last   map[string]string // of each URI, encoded
}

// tell tells the editor the diagnostics of each file, where they are new.
func (p *published) tell(projects map[string]*project) {
	all := map[string][]diagnostic{}
	for _, directory := range slices.Sorted(maps.Keys(projects)) {
		for uri, found := range projects[directory].shown {
			for _, d := range found {
				if !slices.ContainsFunc(all[uri], func(other diagnostic) bool { return sameDiagnostic(other, d) }) {
					all[uri] = append(all[uri], d)
				}
			}
		}
	}
	for uri := range p.last {
		if _, has := all[uri]; !has {
			all[uri] = []diagnostic{}
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(all)) {
		found := all[uri]
		encoded, err := json.Marshal(found)
		if err != nil {
			panic(err)
		}
		if p.last[uri] == string(encoded) {
			continue
		}
		if p.last[uri] = string(encoded); len(found) == 0 {
			delete(p.last, uri)
		}
		p.client.notify("textDocument/publishDiagnostics", publishParams{URI: uri, Diagnostics: found})
	}
}

// diagnosticsAt are those that projects have of a file.
func diagnosticsAt(projects map[string]*project, path string) []diagnostic {
	items := []diagnostic{}
	for _, directory := range slices.Sorted(maps.Keys(projects)) {
		for uri, found := range projects[directory].shown {
			if pathOf(uri) == path {
				items = append(items, found...)
			}
		}
	}
	return items
}

func sameDiagnostic(a, b diagnostic) bool {
	return a.Range == b.Range && a.Severity == b.Severity && a.Message == b.Message
}
