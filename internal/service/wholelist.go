package service

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"remit/internal/text/english"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// envelope is a page without its items.
type envelope struct {
	header http.Header
	fields map[string]json.RawMessage
}

// checkWhole returns an error where a list lacks a ref_id that was asked for and says itself that it has not all of its records,
// or that the request did not go well: it is no word of absence then. What a list lacks that ended with a page that came again is asked for once
// more anyhow.
func (p *page) checkWhole(refIDs []string) error {
	if len(p.lacking(refIDs)) == 0 {
		return nil
	}
	for _, e := range p.envelopes {
		if trouble := e.trouble(); trouble != "" {
			return fmt.Errorf("the list lacks something that was asked for, and says by %s that the request did not go well, so that nobody can say that it was not made. "+
				"Ask the operator what that means", trouble)
		}
		if total, by := e.total(); total > p.items && !p.again {
			return fmt.Errorf("the list says by %s that it has %s, and it has %d, so that nobody can say that the others were not made", by, english.Plural(total, "record"), p.items)
		}
	}
	return nil
}

// trouble returns by what a page says that the request did not go well, with the words; "" where it does not.
func (e envelope) trouble() string {
	if media, _, err := mime.ParseMediaType(e.header.Get("Content-Type")); err == nil && strings.HasSuffix(media, "problem+json") {
		return fmt.Sprintf("its Content-Type, %s,", media)
	}
	if field, says := transfer.TroubleOf(e.fields); field != "" {
		return fmt.Sprintf("its field %s (%s)", field, visible(says[:min(len(says), problemTextMax)]))
	}
	return ""
}

// contentRange has how many records there are, of a page of them or of none.
var contentRange = lazyregexp.New(`^\s*(?:items|records|results|rows|transfers|resources)\s+(?:\*|\d+-\d+)/(\d+)\s*$`)

// total returns how many records the list has on all pages, as a page says, and by what; 0 where it says no number.
func (e envelope) total() (total int, by string) {
	total, by = transfer.CountOf(e.fields), "a total"
	for _, name := range []string{"X-Total-Count", "X-Total", "Total-Count", "X-Pagination-Total-Count", "X-Result-Count", "X-WP-Total", "Content-Range"} {
		text := strings.TrimSpace(e.header.Get(name))
		if name == "Content-Range" {
			found := contentRange.FindStringSubmatch(text)
			if found == nil {
				continue
			}
			text = found[1]
		}
		if n, err := strconv.Atoi(text); err == nil && n > total {
			total, by = n, "its header "+name
		}
	}
	return total, by
}

// linkPart finds, one after the other, an address, a quoted text and the parameter rel of the header Link, with a value that may be quoted.
var linkPart = lazyregexp.New(`<[^>]*>|(?i:;\s*rel\s*=\s*("[^"]*"|[^\s;,"]+))|"(?:[^"\\]|\\.)*"`)

// hasNextLink reports whether the headers of an answer name a next page (RFC 8288).
func hasNextLink(h http.Header) bool {
	for _, found := range linkPart.FindAllStringSubmatch(strings.Join(h.Values("Link"), ", "), -1) {
		if slices.Contains(strings.Fields(strings.ToLower(strings.Trim(found[1], `"`))), "next") {
			return true
		}
	}
	return false
}
