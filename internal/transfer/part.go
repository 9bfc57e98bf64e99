package transfer

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Fields of a list by their letters alone: services spell them in several ways.
var (
	partFlags = []string{"error", "errors", "partial", "partialresult", "partialresults", "incomplete", "incompleteresults", "truncated", "istruncated"}
	partEnds  = []string{"complete", "iscomplete", "islast", "islastpage", "lastpage", "last"} // that are false
	partMore  = []string{
		"next", "nextcursor", "nextpage", "nextpagecursor", "nextpagetoken", "nexttoken", "nexturl", "nextlink", "odatanextlink", "continuation", "continuationtoken",
		"hasmore", "hasnext", "hasnextpage", "more", "moreavailable",
	}
	partTotals = []string{"total", "totalcount", "totalitems", "totalresults", "totalelements", "totalrecords"}
)

// PartOf returns the field by which a list of records says itself that something is missing in it, such as links.next; "" where
// none does. The fields are those of the list, and next is its next_page_cursor, which the reader of the list follows: "" where there is none.
// The service's document has no other field of that kind. A service that writes one means it, and a list that is not whole says of no transfer
// that it was not made. Nor does one of two lists of records.
func PartOf(fields map[string]json.RawMessage, next string) string {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch value := fields[name]; {
		case name == "items" || name == "next_page_cursor":
		case saysPart(name, value, next != ""), isNextLink(value, next != ""), hasRecords(value):
			return name
		default:
			inner, err := ObjectFields(value)
			if err != nil {
				continue // no object: links and pages are told in one
			}
			for _, in := range slices.Sorted(maps.Keys(inner)) {
				if saysPart(in, inner[in], next != "") || hasRecords(inner[in]) {
					return name + "." + in
				}
			}
		}
	}
	return ""
}

// TotalOf returns how many records all pages of a list have together, as the list says itself, by total_count or pagination.total for
// example; 0 where it says no number.
func TotalOf(fields map[string]json.RawMessage) int {
	most := 0
	for name, value := range fields {
		var total int
		switch inner, err := ObjectFields(value); {
		case name == "items":
		case err == nil:
			for in, value := range inner {
				if slices.Contains(partTotals, lettersOf(in)) && json.Unmarshal(value, &total) == nil {
					most = max(most, total)
				}
			}
		case slices.Contains(partTotals, lettersOf(name)) && json.Unmarshal(value, &total) == nil:
			most = max(most, total)
		}
	}
	return most
}

// lettersOf returns the letters of a field's name, without what services write between its words.
func lettersOf(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("_-.@$ ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// saysPart reports whether a field says that the list is not whole. Where it isFollowed, more may come.
func saysPart(name string, value json.RawMessage, isFollowed bool) bool {
	letters := lettersOf(name)
	switch {
	case slices.Contains(partFlags, letters):
		return !isNothing(value)
	case isFollowed:
		return false
	case slices.Contains(partEnds, letters):
		return slices.Contains([]string{"false", `"false"`}, string(bytes.TrimSpace(value)))
	}
	return slices.Contains(partMore, letters) && !isNothing(value)
}

// isNothing reports whether a value says that there is nothing: no error, no next page.
func isNothing(value json.RawMessage) bool {
	var text bytes.Buffer
	if json.Compact(&text, value) != nil {
		return false
	}
	return slices.Contains([]string{"null", "false", "[]", "{}", `""`, `"false"`, `"null"`, "0", `{"href":null}`, `{"href":""}`}, text.String())
}

// isNextLink reports whether a value is a list of links one of which leads to the next page.
func isNextLink(value json.RawMessage, isFollowed bool) bool {
	type link struct {
		Rel string `json:"rel"`
	}
	var links []link
	return !isFollowed && json.Unmarshal(value, &links) == nil &&
		slices.ContainsFunc(links, func(l link) bool { return strings.EqualFold(l.Rel, "next") })
}

// hasRecords reports whether a value is a list that has a transfer record.
func hasRecords(value json.RawMessage) bool {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return false
	}
	return slices.ContainsFunc(items, func(item json.RawMessage) bool {
		var record struct {
			GroupID string `json:"group_id"`
			RefID   string `json:"ref_id"`
		}
		return json.Unmarshal(item, &record) == nil && record.GroupID+record.RefID != ""
	})
}
