package transfer

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Fields of a list by their letters alone: services spell them in several ways.
var (
	partFlags = []string{"error", "errors", "failures", "partial", "partialresult", "partialresults", "incomplete", "incompleteresults", "truncated", "istruncated", "timedout"}
	partEnds  = []string{"complete", "iscomplete", "islast", "islastpage", "lastpage", "last", "success", "issuccess", "successful", "issuccessful", "requestsuccessful", "ok"} // that are false
	partMore  = []string{
		"next", "nextcursor", "nextpage", "nextpagecursor", "nextpagetoken", "nexttoken", "nexturl", "nexturi", "nexthref", "nextlink", "nextpageurl",
		"nextmarker", "nextoffset", "odatanextlink", "continuation", "continuationtoken", "lastevaluatedkey",
		"hasmore", "hasnext", "hasnextpage", "moreavailable",
	}
	partCounts = []string{"totalcount", "totalitems", "totalresults", "totalelements", "totalrecords", "totalrows", "totalhits", "totalsize", "recordcount", "resultcount", "itemcount", "numfound", "odatacount"}
	// partEchoes repeat the question, and say nothing of the answer.
	partEchoes = []string{"query", "request", "requested", "filter", "filters", "params", "parameters"}
	partPaging = []string{"meta", "metadata", "page", "paging", "pagination", "pageinfo"} // in which a total is one of records
	partLimits = []string{"limit", "offset", "page", "perpage", "pagesize", "size", "count", "skip"}
	// partPlaces say where in a list a page is, or how large pages are.
	partPlaces = []string{
		"limit", "offset", "perpage", "pagesize", "skip", "start", "startindex", "startat", "from", "index", "page", "pages", "pagenumber", "currentpage",
		"number", "current", "totalpages", "pagecount",
	}
)

const partDepth = 3 // of objects in objects

// PartOf returns the field by which a list of records says itself that something is missing in it, such as links.next; "" where
// none does. The fields are those of the list, and next is its next_page_cursor, which the reader of the list follows: "" where there is none.
// The service's document has no other field of that kind. A service that writes one means it, and a list that is not whole says of no transfer
// that it was not made. Nor does one of two lists of records.
func PartOf(fields map[string]json.RawMessage, next string) string {
	return partIn(fields, next != "", partDepth)
}

func partIn(fields map[string]json.RawMessage, isFollowed bool, depth int) string {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, isList := fields[name], depth == partDepth && (name == "items" || name == "next_page_cursor")
		if isList || slices.Contains(partEchoes, lettersOf(name)) {
			continue
		}
		if saysPart(name, value, isFollowed) || isNextLink(value, isFollowed) || hasRecords(value) {
			return name
		}
		if inner, err := ObjectFields(value); err == nil && depth > 0 {
			if part := partIn(inner, isFollowed, depth-1); part != "" {
				return name + "." + part
			}
		}
	}
	return ""
}

// TotalOf returns how many records all pages of a list have together, as the list says itself, by total_count or pagination.total for
// example; 0 where it says no number. A total beside money, or beside no word of pages, may be an amount.
func TotalOf(fields map[string]json.RawMessage) int {
	return totalIn(fields, hasField(fields, partLimits), partDepth)
}

func totalIn(fields map[string]json.RawMessage, isPaging bool, depth int) int {
	most := 0
	isCut := isCut(fields)
	isMoney := hasField(fields, []string{"asset", "currency", "amount", "fee"})
	isOfPages := hasField(fields, []string{"number", "current", "currentpage"}) && !hasField(fields, []string{"limit", "offset", "perpage", "pagesize", "size", "pages", "totalpages"})
	for name, value := range fields {
		letters := lettersOf(name)
		switch inner, err := ObjectFields(value); {
		case depth == partDepth && name == "items", isCut, slices.Contains(partEchoes, letters):
		case err == nil && depth > 0:
			most = max(most, totalIn(inner, slices.Contains(partPaging, letters), depth-1))
		case slices.Contains(partCounts, letters), letters == "total" && isPaging && !isMoney && !isOfPages:
			most = max(most, wholeNumber(value))
		}
	}
	return most
}

// isCut reports whether an object has a number of records behind a filter, so that its total is one of all records.
func isCut(fields map[string]json.RawMessage) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(fields)), func(name string) bool { return strings.Contains(lettersOf(name), "filter") })
}

// wholeNumber reads a number, which may be a text; 0 where it is none.
func wholeNumber(value json.RawMessage) int {
	n, err := strconv.Atoi(strings.Trim(string(bytes.TrimSpace(value)), `"`))
	if err != nil {
		return 0
	}
	return n
}

func hasField(fields map[string]json.RawMessage, letters []string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(fields)), func(name string) bool { return slices.Contains(letters, lettersOf(name)) })
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
	case letters == "status":
		return slices.Contains([]string{`"partial"`, `"incomplete"`, `"error"`}, strings.ToLower(string(bytes.TrimSpace(value))))
	case isFollowed:
		return false
	case slices.Contains(partEnds, letters):
		return slices.Contains([]string{"false", `"false"`}, string(bytes.TrimSpace(value)))
	}
	return slices.Contains(partMore, letters) && !isNothing(value)
}

// isNothing reports whether a value says that there is nothing: no error, no next page. A link is nothing where it leads nowhere, and
// anything else that has parts where all of them are nothing.
func isNothing(value json.RawMessage) bool {
	if fields, err := ObjectFields(value); err == nil {
		for _, name := range []string{"href", "url"} {
			if to, isLink := fields[name]; isLink {
				return isNothing(to)
			}
		}
		return !slices.ContainsFunc(slices.Collect(maps.Values(fields)), func(v json.RawMessage) bool { return !isNothing(v) })
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) == nil {
		return !slices.ContainsFunc(items, func(v json.RawMessage) bool { return !isNothing(v) })
	}
	text := strings.ToLower(strings.Trim(string(bytes.TrimSpace(value)), `"`))
	isNumber := strings.Trim(text, "-0123456789.") == ""
	return isNumber && (strings.HasPrefix(text, "-") || strings.Trim(text, "0.") == "") || slices.Contains([]string{"null", "false", "no", "none"}, text)
}

// isNextLink reports whether a value is a list of links one of which leads to the next page.
func isNextLink(value json.RawMessage, isFollowed bool) bool {
	type link struct {
		Rel      string          `json:"rel"`
		Relation string          `json:"relation"` // as FHIR calls it
		Href     json.RawMessage `json:"href"`
		URL      json.RawMessage `json:"url"`
	}
	var links []link
	return !isFollowed && json.Unmarshal(value, &links) == nil && slices.ContainsFunc(links, func(l link) bool {
		isNext := strings.EqualFold(l.Rel, "next") || strings.EqualFold(l.Relation, "next")
		return isNext && (!isNothing(l.Href) || !isNothing(l.URL))
	})
}

// hasRecords reports whether a value is a list that has a transfer record.
func hasRecords(value json.RawMessage) bool {
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return false
	}
	return slices.ContainsFunc(items, func(item json.RawMessage) bool {
		fields, err := ObjectFields(item)
		return err == nil && hasField(fields, []string{"refid", "groupid"}) && hasField(fields, []string{"amount", "status", "direction"})
	})
}
