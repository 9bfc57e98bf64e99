package rows

import (
	"encoding/xml"
	"slices"
)

// repeatedAttribute is the name of an attribute that an element has twice, or "".
func repeatedAttribute(element xml.StartElement) string {
	const few = 8 // that are compared without memory of them
	all := element.Attr
	seen := map[xml.Name]bool(nil)
	if len(all) > few {
		seen = make(map[xml.Name]bool, len(all))
	}
	for i, a := range all {
		if seen[a.Name] || seen == nil && slices.ContainsFunc(all[:i], func(b xml.Attr) bool { return a.Name == b.Name }) {
			return a.Name.Local
		}
		if seen != nil {
			seen[a.Name] = true
		}
	}
	return ""
}

func attribute(element xml.StartElement, name string) string {
	for _, a := range element.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
