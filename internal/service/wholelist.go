package service

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"remit/internal/text/english"
	"remit/internal/transfer"
)

// checkWhole returns an error where a list lacks a ref_id that was asked for and says itself that it has not all of its records,
// or that the request did not go well: it is no word of absence then.
func (p *page) checkWhole(refIDs []string) error {
	switch {
	case len(p.lacking(refIDs)) == 0:
		return nil
	case p.trouble != "":
		return fmt.Errorf("the list lacks something that was asked for, and says by %s that the request did not go well, so that nobody can say that it was not made. "+
			"Have the operator answer no such list, or a code of success with it", p.trouble)
	case p.total > p.items:
		return fmt.Errorf("the list says by %s that it has %s, and it has %d, so that nobody can say that the others were not made", p.totalBy, english.Plural(p.total, "record"), p.items)
	}
	return nil
}

// troubleOf returns by what an answer says that the request did not go well, with the words; "" where it does not.
func troubleOf(ex exchange, fields map[string]json.RawMessage) string {
	if media, _, err := mime.ParseMediaType(ex.header.Get("Content-Type")); err == nil && strings.HasSuffix(media, "problem+json") {
		return fmt.Sprintf("its Content-Type, %s,", media)
	}
	if field, says := transfer.TroubleOf(fields); field != "" {
		return fmt.Sprintf("its field %s (%s)", field, visible(says[:min(len(says), problemTextMax)]))
	}
	return ""
}

var contentRange = regexp.MustCompile(`^\s*[a-z]+\s+(?:\*|\d+-\d+)/(\d+)\s*$`)

// totalOf returns how many records a list has on all pages, as the headers of an answer say, and which header that is; 0 where none does.
func totalOf(h http.Header) (total int, by string) {
	for _, name := range []string{"X-Total-Count", "X-Total", "Total-Count", "X-Pagination-Total-Count", "X-Result-Count", "X-WP-Total", "Content-Range"} {
		text := strings.TrimSpace(h.Get(name))
		if found := contentRange.FindStringSubmatch(text); found != nil {
			text = found[1]
		}
		if n, err := strconv.Atoi(text); err == nil && n > total {
			total, by = n, "its header "+name
		}
	}
	return total, by
}

var nextLink = regexp.MustCompile(`(?i);\s*rel\s*=\s*("([^"]*\s)?next(\s[^"]*)?"|next\b)`)

// hasNextLink reports whether the headers of an answer name a next page (RFC 8288).
func hasNextLink(h http.Header) bool {
	return slices.ContainsFunc(h.Values("Link"), nextLink.MatchString)
}
