package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"remit/executor"
	"remit/internal/service"
)

func record(refID, id string) string {
	return strings.NewReplacer(`"ref_id":"a"`, fmt.Sprintf(`"ref_id":%q`, refID), `"t1"`, fmt.Sprintf("%q", id)).Replace(answer)
}

func TestFindFollowsThePages(t *testing.T) {
	var queries []url.Values
	pages := map[string]string{
		"":   fmt.Sprintf(`{"items":[%s,%s],"has_more":true,"errors":[ ],"partial": false,"next_page_cursor":"p2"}`, record("a", "a1"), record("b", "b1")),
		"p2": fmt.Sprintf(`{"items":[%s,%s,{"ref_id":"other"}],"next_page_cursor":"p 3&"}`, record("a", "a2"), record("unasked", "x")),
		// The last page of some services says null, of others "".
		"p 3&": `{"items":[],"next_page_cursor":null}`,
	}
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.Query())
		if strings.Contains(r.URL.RawQuery, "+") {
			t.Errorf("not every decoder reads a + as a space: %s", r.URL.RawQuery)
		}
		if r.Method != http.MethodGet || r.URL.Path != "/v2/transfers" || r.ContentLength > 0 {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		always(200, "", pages[r.URL.Query().Get("page_cursor")])(rw, r)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		found, err := c.Find(t.Context(), []string{"a", "b", "c & d"})
		unreadable, ok := errors.AsType[*executor.UnreadableError](err)
		if !ok || len(unreadable.Reasons) != 1 || !strings.Contains(unreadable.Reasons["c & d"], `"other", which was not asked for`) {
			t.Fatal(err)
		}
		got := map[string][]string{}
		for refID, records := range found {
			for _, r := range records {
				got[refID] = append(got[refID], r.ID)
			}
		}
		if diff := cmp.Diff(map[string][]string{"a": {"a1", "a2"}, "b": {"b1"}}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	refIDs := []string{"a", "b", "c & d"}
	want := []url.Values{{"ref_ids": refIDs}, {"ref_ids": refIDs, "page_cursor": {"p2"}}, {"ref_ids": refIDs, "page_cursor": {"p 3&"}}}
	if diff := cmp.Diff(want, queries); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

func TestFindFailsRatherThanSayNothingWasMade(t *testing.T) {
	n, circle := 0, 0
	tests := map[string]struct {
		api    http.HandlerFunc
		reason string
		tries  int
	}{
		"an answer without items":     {always(200, "", `{}`), "no list of items", 1},
		"items that are null":         {always(200, "", `{"items":null}`), "no list of items", 1},
		"items that are no list":      {always(200, "", `{"items":{}}`), "no list of items", 1},
		"two lists of items":          {always(200, "", `{"items":[`+record("a", "a1")+`],"items":[]}`), "\"items\" stands twice", 1},
		"a part of the list":          {always(206, "", `{"items":[]}`), "206 Partial Content", 1},
		"a list that is not made yet": {always(202, "", `{"items":[]}`), "202 Accepted", 1},
		"a list of answers":           {always(207, "", `{"items":[]}`), "207 Multi-Status", 1},
		"a list of somebody else":     {always(203, "", `{"items":[]}`), "203 Non-Authoritative Information", 1},
		"a list":                      {always(200, "", `[]`), "as a JSON object", 1},
		"no JSON":                     {always(200, "", `<html>`), "as a JSON object", 1},
		"nothing":                     {always(204, "", ``), "204 No Content", 1},
		"a cursor that is no string":  {always(200, "", `{"items":[],"next_page_cursor":7}`), "next_page_cursor", 1},
		"a list that has an error":    {always(200, "", `{"items":[],"errors":[{"code":"backend_timeout"}]}`), "by its field errors that it is not whole", 1},
		"a list that says it is part": {always(200, "", `{"items":[`+record("a", "a1")+`],"partial":true}`), "by its field partial", 1},
		"more without a cursor":       {always(200, "", `{"items":[],"has_more":true,"next_page_cursor":""}`), "by its field has_more", 1},
		"a list of a problem":         {always(200, "Content-Type: application/problem+json", `{"items":[]}`), "by its Content-Type, application/problem+json, that the request did not go well", 1},
		"a list with an error's code": {always(200, "", `{"items":[],"code":"INTERNAL_ERROR","message":"upstream timed out"}`), "by its field code (INTERNAL_ERROR) that the request did not go well", 1},
		"a list with a message":       {always(200, "", `{"items":[],"meta":{"message":"upstream timed out"}}`), "by its field meta.message (upstream timed out)", 1},
		"a total":                     {always(200, "", `{"items":[],"meta":{"total":1}}`), "by a total that it has 1 record, and it has 0", 1},
		"a total in a header":         {always(200, "X-Total-Count: 2", `{"items":[]}`), "by its header X-Total-Count that it has 2 records", 1},
		"a range of items":            {always(200, "Content-Range: items 0-0/3", `{"items":[]}`), "by its header Content-Range that it has 3 records", 1},
		"a range of nothing":          {always(200, "Content-Range: items */3", `{"items":[]}`), "by its header Content-Range that it has 3 records", 1},
		"a next page in a header":     {always(200, `Link: <https://bank/transfers?p=1>; rel="prev", <https://bank/transfers?p=2>; rel="next"`, `{"items":[]}`), "by its header Link that it is not whole", 1},
		"a hit of a cache":            {always(200, "X-Cache: HIT", `{"items":[]}`), "X-Cache", 4},
		"a hit, by the standard":      {always(200, "Cache-Status: edge; hit; ttl=300", `{"items":[]}`), "Cache-Status", 4},
		"a hit of the cache behind":   {always(200, "X-Cache: MISS, HIT", `{"items":[]}`), "X-Cache", 4},
		"a warning of a stale answer": {always(200, `Warning: 110 cdn "Response is Stale"`, `{"items":[]}`), "Warning", 4},
		"pages without an end": {func(w http.ResponseWriter, r *http.Request) {
			n++
			always(200, "", fmt.Sprintf(`{"items":[{"ref_id":"x","n":%[1]d}],"next_page_cursor":"%[1]d"}`, n))(w, r)
		}, "more than 100 pages", 100},
		"pages in a circle": {func(w http.ResponseWriter, r *http.Request) {
			circle++
			always(200, "", fmt.Sprintf(`{"items":[{"ref_id":"x","n":%d}],"next_page_cursor":"%d"}`, circle, circle%3))(w, r)
		}, "leads back to an earlier page", 4},
		"a redirect":                    {always(302, "Location: http://127.0.0.1:2/elsewhere", ""), "302 Found", 1},
		"refused":                       {always(403, "", `{"title":"No","detail":"not you"}`), "403 Forbidden (No: not you); check that scopes holds", 1},
		"not there":                     {always(404, "", ""), "404 Not Found; check lookup_path, which is \"/v2/transfers\"", 1},
		"unauthorized with every token": {always(401, "", ""), "401 Unauthorized", 2},
		"unavailable":                   {always(503, "", ""), "503 Service Unavailable", 4},
		"too many requests":             {always(429, "", ""), "429 Too Many Requests", 4},
		"no answer":                     {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "the connection was closed", 4},
		"an old answer of a cache":      {always(200, "Age: 86400", `{"items":[]}`), "24h0m0s ago; a cache between remit and the service gave it", 4},
		"an endless answer":             {always(200, "", `{"items":[],"x":"`+strings.Repeat("x", 9<<20)), "longer than", 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: tt.api}
			w.in(t, func(t *testing.T, c *service.Client) {
				found, err := c.Find(t.Context(), []string{"a"})
				if err == nil || !strings.Contains(err.Error(), tt.reason) || !strings.HasPrefix(err.Error(), "look up 1 ref_id: ") || found != nil {
					t.Errorf("found %v, error %v, want it to say %q", found, err, tt.reason)
				}
			})
			// The transport may send a GET a second time by itself; that is harmless.
			if w.requests != tt.tries && name != "no answer" {
				t.Errorf("%d requests, want %d", w.requests, tt.tries)
			}
		})
	}
}

// TestFindEndsWhereAListEnds asks services that name a further page although there is none.
// forEver are pages of which each names another one; the first has the items.
func forEver(list func(items, next string) string, items string) map[string]string {
	pages := map[string]string{"": list(items, "1")}
	for i := 1; i < 100; i++ {
		pages[strconv.Itoa(i)] = list("", strconv.Itoa(i+1))
	}
	return pages
}

// after are so many empty pages, and the items on the one that follows them.
func after(empty int, list func(items, next string) string, items string) map[string]string {
	pages := map[string]string{"": list("", "1")}
	for i := 1; i < empty; i++ {
		pages[strconv.Itoa(i)] = list("", strconv.Itoa(i+1))
	}
	pages[strconv.Itoa(empty)] = list(items, "")
	return pages
}

func TestFindEndsWhereAListEnds(t *testing.T) {
	list := func(items, next string) string { return `{"items":[` + items + `],"next_page_cursor":"` + next + `"}` }
	a1, a2 := record("a", "a1"), record("a", "a2")
	tests := map[string]struct {
		pages    map[string]string // by cursor
		found    int
		requests int
	}{
		"the last page leads to an empty one for ever": {map[string]string{"": list(a1, "1"), "1": list("", "1")}, 1, 2},
		"each empty page leads to another one":         {forEver(list, a1), 1, 51},
		"nothing was made, for ever":                   {forEver(list, ""), 0, 50},
		"the record follows 30 empty pages":            {after(30, list, a1), 1, 31},
		"an empty page is in the middle":               {map[string]string{"": list(a1, "1"), "1": list("", "2"), "2": list(a2, "")}, 2, 3},
		"nothing was made":                             {map[string]string{"": list("", "1"), "1": list("", "")}, 0, 2},
		"cursors are ignored":                          {map[string]string{"": list(a1+","+a2, "1"), "1": list(a1+","+a2, "1")}, 2, 2},
		"one cursor for all pages":                     {map[string]string{"": list(a1, "1"), "1": list(a2, "1"), "1 again": list("", "1")}, 2, 3},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var asked []string
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				cursor := r.URL.Query().Get("page_cursor")
				if again, ok := tt.pages[cursor+" again"]; ok && slices.Contains(asked, cursor) {
					always(200, "", again)(rw, r)
					return
				}
				asked = append(asked, cursor)
				always(200, "", tt.pages[cursor])(rw, r)
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				found, err := c.Find(t.Context(), []string{"a"})
				if err != nil || len(found["a"]) != tt.found {
					t.Errorf("found %v, error %v", found, err)
				}
			})
			if w.requests != tt.requests {
				t.Errorf("%d requests, want %d", w.requests, tt.requests)
			}
		})
	}
}

// TestFindKeepsAddressesShort asks behind a proxy that takes addresses of so many bytes at the most.
func TestFindKeepsAddressesShort(t *testing.T) {
	refIDs := make([]string, executor.FindMax)
	for i := range refIDs {
		refIDs[i] = fmt.Sprintf("%090d", i)
	}
	tests := map[string]struct {
		bytesMax, status int
		first, second    int // requests of the first and of the second lookup
	}{
		"as stock nginx":                   {8192, 414, 4, 4},
		"as a strict one":                  {2048, 414, 9, 8},
		"that counts it as the headers'":   {1024, 431, 18, 16},
		"that calls it a body of too much": {2400, 413, 9, 8},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				if len(r.URL.RequestURI()) > tt.bytesMax {
					always(tt.status, "", "")(rw, r)
					return
				}
				var items []string
				for _, refID := range r.URL.Query()["ref_ids"] {
					items = append(items, record(refID, "r"+refID))
				}
				always(200, "", `{"items":[`+strings.Join(items, ",")+`]}`)(rw, r)
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				before := 0
				for i, want := range []int{tt.first, tt.second} {
					found, err := c.Find(t.Context(), refIDs)
					if err != nil || len(found) != len(refIDs) {
						t.Fatalf("found %d, error %v", len(found), err)
					}
					if got := w.requests - before; got != want {
						t.Errorf("lookup %d took %d requests, want %d", i+1, got, want)
					}
					before = w.requests
				}
			})
		})
	}
	t.Run("that counts ref_ids", func(t *testing.T) {
		w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
			if len(r.URL.Query()["ref_ids"]) > 30 {
				always(400, "application/problem+json", `{"type":"invalid","title":"Too many ref_ids"}`)(rw, r)
				return
			}
			always(200, "", `{"items":[]}`)(rw, r)
		}}
		w.in(t, func(t *testing.T, c *service.Client) {
			_, err := c.Find(t.Context(), refIDs[:40])
			if err == nil || !strings.Contains(err.Error(), "Too many ref_ids") || !strings.Contains(err.Error(), "write lookup_max") {
				t.Errorf("error %v", err)
			}
		})
		w.requests = 0
		w.in(t, func(t *testing.T, c *service.Client) {
			if _, err := c.Find(t.Context(), refIDs); err != nil || w.requests != 4 {
				t.Errorf("%d requests, error %v", w.requests, err)
			}
		}, func(o *service.Options) { o.LookupMax = 30 })
	})
	t.Run("that takes none", func(t *testing.T) {
		w := &world{api: always(414, "", "")}
		w.in(t, func(t *testing.T, c *service.Client) {
			if found, err := c.Find(t.Context(), refIDs); found != nil || err == nil || !strings.Contains(err.Error(), "414 ") {
				t.Errorf("found %v, error %v", found, err)
			}
		})
	})
}

// TestFindHoldsBackOnlyWhatCannotBeRead asks for eight ref_ids of which some come back
// broken, by a service that shows one item for each.
func TestFindHoldsBackOnlyWhatCannotBeRead(t *testing.T) {
	eight := strings.Split("abcdefgh", "")
	tests := map[string]struct {
		items    map[string]string // instead of a record
		want     map[string]string // why it can't be read
		requests int
	}{
		"a record with a ref_id": {
			map[string]string{"c": `{"ref_id":"c","id":"x"}`}, map[string]string{"c": "amount"}, 1,
		},
		"an item that is no object":  {map[string]string{"c": `"c"`}, map[string]string{"c": "as a transfer record"}, 7},
		"an item without a ref_id":   {map[string]string{"h": `{"id":"x"}`}, map[string]string{"h": "no ref_id"}, 7},
		"a ref_id that is no string": {map[string]string{"a": `{"ref_id":7}`}, map[string]string{"a": "no ref_id"}, 7},
		"two ref_ids":                {map[string]string{"a": `{"ref_id":"a","ref_id":"z"}`}, map[string]string{"a": "\"ref_id\" stands twice"}, 7},
		"two of them": {
			map[string]string{"a": `null`, "d": `{"ref_id":"d","id":"x"}`, "h": `7`},
			map[string]string{"a": "as a transfer record", "d": "amount", "h": "as a transfer record"},
			11,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				var items []string
				for _, refID := range r.URL.Query()["ref_ids"] {
					item, broken := tt.items[refID]
					if !broken {
						item = record(refID, refID+"1")
					}
					items = append(items, item)
				}
				always(200, "", `{"items":[`+strings.Join(items, ",")+`]}`)(rw, r)
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				found, err := c.Find(t.Context(), eight)
				unreadable, ok := errors.AsType[*executor.UnreadableError](err)
				if !ok {
					t.Fatalf("found %v, error %v", found, err)
				}
				for _, refID := range eight {
					why, broken := unreadable.Reasons[refID]
					if want, expected := tt.want[refID]; broken != expected || !strings.Contains(why, want) || broken == (len(found[refID]) > 0) {
						t.Errorf("%s: unreadable %q, found %d", refID, why, len(found[refID]))
					}
				}
			})
			if w.requests != tt.requests {
				t.Errorf("%d requests, want %d", w.requests, tt.requests)
			}
		})
	}
}

// TestFindNamesCredits answers lookups with credit sides that have no ref_id.
func TestFindNamesCredits(t *testing.T) {
	of := func(refID, id, direction, group string) string {
		return strings.NewReplacer(`"DEBIT"`, fmt.Sprintf("%q", direction), "INTERNAL_TRANSFER_DEBIT", "INTERNAL_TRANSFER_"+direction, `"group_id":"g"`, fmt.Sprintf(`"group_id":%q`, group)).Replace(record(refID, id))
	}
	nameless := func(id, direction, group string) string {
		return strings.Replace(of("nobody", id, direction, group), `"ref_id":"nobody",`, "", 1)
	}
	tests := map[string]struct {
		pages      []string
		want       map[string][]string // ids
		unreadable []string
	}{
		"the credit side follows": {
			[]string{of("a", "a1", "DEBIT", "ga") + "," + nameless("a2", "CREDIT", "ga") + "," + of("b", "b1", "DEBIT", "gb")},
			map[string][]string{"a": {"a1", "a2"}, "b": {"b1"}},
			nil,
		},
		"the credit side comes first, on a page of its own": {
			[]string{nameless("a2", "CREDIT", "ga"), of("a", "a1", "DEBIT", "ga")},
			map[string][]string{"a": {"a1", "a2"}},
			nil,
		},
		"the credit side is of a ref_id that nobody asked for": {
			[]string{of("z", "z1", "DEBIT", "gz") + "," + nameless("z2", "CREDIT", "gz") + "," + of("a", "a1", "DEBIT", "ga")},
			map[string][]string{"a": {"a1"}},
			[]string{"b"}, // the list says nothing of it, as it has others
		},
		"an empty ref_id is none": {
			[]string{of("a", "a1", "DEBIT", "ga") + "," + of("", "a2", "CREDIT", "ga") + "," + of("b", "b1", "DEBIT", "gb")},
			map[string][]string{"a": {"a1", "a2"}, "b": {"b1"}},
			nil,
		},
		"its debit side is in no list": {
			[]string{nameless("a2", "CREDIT", "ga")}, nil, []string{"a", "b"},
		},
		"a debit side without a ref_id": {
			[]string{of("a", "a1", "CREDIT", "ga") + "," + nameless("a2", "DEBIT", "ga")}, nil, []string{"a", "b"},
		},
		"it has no group_id": {
			[]string{of("a", "a1", "DEBIT", "") + "," + nameless("a2", "CREDIT", "")}, nil, []string{"a", "b"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				n, _ := strconv.Atoi(r.URL.Query().Get("page_cursor"))
				next := ""
				if n+1 < len(tt.pages) {
					next = fmt.Sprintf(`,"next_page_cursor":"%d"`, n+1)
				}
				always(200, "", `{"items":[`+tt.pages[n]+`]`+next+`}`)(rw, r)
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				found, err := c.Find(t.Context(), []string{"a", "b"})
				var unreadable []string
				if why, ok := errors.AsType[*executor.UnreadableError](err); ok {
					unreadable = slices.Sorted(maps.Keys(why.Reasons))
				} else if err != nil {
					t.Fatal(err)
				}
				ids := make(map[string][]string)
				for refID, records := range found {
					for _, r := range records {
						ids[refID] = append(ids[refID], r.ID)
					}
					slices.Sort(ids[refID])
				}
				if diff := cmp.Diff(tt.want, ids, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("found (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.unreadable, unreadable, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("unreadable (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestFindTakesNoTwinForAbsence answers lookups with ref_ids in other letters than were asked for.
// TestFindTakesNoListOfOthersForAbsence answers lookups with other ref_ids.
func TestFindTakesNoListOfOthersForAbsence(t *testing.T) {
	item := func(refID, groupID string) string {
		return strings.NewReplacer(`"ref_id":"a"`, fmt.Sprintf(`"ref_id":%q`, refID), `"group_id":"g"`, fmt.Sprintf(`"group_id":%q`, groupID)).Replace(answer)
	}
	tests := map[string]struct {
		items []string
		held  []string
	}{
		"nothing":                         {nil, nil},
		"one of two":                      {[]string{item("a", "g1")}, nil},
		"another one":                     {[]string{item("z", "g1")}, []string{"a", "b"}},
		"one of two, and another one":     {[]string{item("z", "g1"), item("a", "g2")}, []string{"b"}},
		"all, and another one":            {[]string{item("a", "g1"), item("z", "g2"), item("b", "g3")}, nil},
		"another one without a group_id":  {[]string{item("a", ""), item("z", "")}, []string{"b"}},
		"the other side of one, named so": {[]string{item("a", "g1"), item("a-credit", "g1")}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: always(200, "", `{"items":[`+strings.Join(tt.items, ",")+`]}`)}
			w.in(t, func(t *testing.T, c *service.Client) {
				_, err := c.Find(t.Context(), []string{"a", "b"})
				var held []string
				if unreadable, ok := errors.AsType[*executor.UnreadableError](err); ok {
					held = slices.Sorted(maps.Keys(unreadable.Reasons))
				} else if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(held, tt.held) {
					t.Errorf("held %q, want %q: %v", held, tt.held, err)
				}
			})
		})
	}
}

func TestFindTakesNoTwinForAbsence(t *testing.T) {
	tests := map[string]struct {
		asked, answered []string
		found           []string
		twins           map[string]string // reasons why ref_ids can't be read
	}{
		"capitals":                        {[]string{"ok.0"}, []string{"OK.0"}, nil, map[string]string{"ok.0": `"OK.0"`}},
		"small letters":                   {[]string{"OK.0", "b"}, []string{"b", "ok.0"}, []string{"b"}, map[string]string{"OK.0": `"ok.0"`}},
		"letters of another length":       {[]string{"kelvin"}, []string{"\u212Aelvin"}, nil, map[string]string{"kelvin": "elvin"}},
		"spaces around":                   {[]string{"a"}, []string{" a\t "}, nil, map[string]string{"a": `" a\t "`}},
		"zeros of a field of fixed width": {[]string{"a"}, []string{"a\x00\x00"}, nil, map[string]string{"a": `"a\x00\x00"`}},
		"taken apart":                     {[]string{"caf\u00e9"}, []string{"cafe\u0301"}, nil, map[string]string{"caf\u00e9": "caf"}},
		"put together":                    {[]string{"cafe\u0301"}, []string{"CAF\u00c9"}, nil, map[string]string{"cafe\u0301": "CAF"}},
		"full width":                      {[]string{"rent-1"}, []string{"rent\uff0d1"}, nil, map[string]string{"rent-1": "rent"}},
		"beside the exact one":            {[]string{"a"}, []string{"a", "A"}, nil, map[string]string{"a": `"A"`}},
		"both were asked for":             {[]string{"a", "A"}, []string{"a", "A"}, []string{"A", "a"}, nil},
		"both were asked for, one is there": {
			[]string{"a", "A"}, []string{"A"}, []string{"A"}, map[string]string{"a": `"A"`},
		},
		"of one of two":       {[]string{"a", "b"}, []string{"A"}, nil, map[string]string{"a": `"A"`}},
		"another transfer":    {[]string{"a"}, []string{"a", "a.0", "b", "A1"}, []string{"a"}, nil},
		"nothing but a space": {[]string{"a"}, []string{"a", " ", "\x00"}, []string{"a"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				// Each is on a page of its own.
				n, _ := strconv.Atoi(r.URL.Query().Get("page_cursor"))
				refID, _ := json.Marshal(tt.answered[n])
				next := ""
				if n+1 < len(tt.answered) {
					next = strconv.Itoa(n + 1)
				}
				item := strings.Replace(answer, `"ref_id":"a"`, `"ref_id":`+string(refID), 1)
				always(200, "", fmt.Sprintf(`{"items":[%s],"next_page_cursor":%q}`, item, next))(rw, r)
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				found, err := c.Find(t.Context(), tt.asked)
				if diff := cmp.Diff(tt.found, slices.Sorted(maps.Keys(found)), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("found (-want +got):\n%s", diff)
				}
				unreadable, ok := errors.AsType[*executor.UnreadableError](err)
				if ok != (tt.twins != nil) || !ok && err != nil {
					t.Errorf("error %v", err)
				}
				if !ok {
					return
				}
				for _, refID := range tt.asked {
					why, held := unreadable.Reasons[refID]
					if want, expected := tt.twins[refID]; held != expected || !strings.Contains(why, want) {
						t.Errorf("%q: %q, want it to say %q", refID, why, want)
					}
				}
			})
		})
	}
}

func TestFindAsksAServiceThatNamesNothingABoundedNumberOfTimes(t *testing.T) {
	w := &world{api: always(200, "", `{"items":[{}]}`)}
	w.in(t, func(t *testing.T, c *service.Client) {
		refIDs := make([]string, executor.FindMax)
		for i := range refIDs {
			refIDs[i] = fmt.Sprintf("t-%d", i)
		}
		found, err := c.Find(t.Context(), refIDs)
		unreadable, ok := errors.AsType[*executor.UnreadableError](err)
		if !ok || len(unreadable.Reasons) != len(refIDs) || len(found) != 0 {
			t.Errorf("found %v, error %v", found, err)
		}
		if !strings.Contains(err.Error(), "and so for 99 more") {
			t.Errorf("error: %v", err)
		}
	})
	if w.requests > 65 {
		t.Errorf("%d requests", w.requests)
	}
}

func TestFindTriesAgain(t *testing.T) {
	n := 0
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		n++
		switch n {
		case 1:
			always(503, "", "")(rw, r)
		case 2:
			always(429, "Retry-After: 7", "")(rw, r)
		case 3:
			always(401, "", "")(rw, r)
		default:
			always(200, "", `{"items":[`+record("a", "x")+`]}`)(rw, r)
		}
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		began := time.Now()
		found, err := c.Find(t.Context(), []string{"a"})
		if err != nil || len(found["a"]) != 1 {
			t.Errorf("%v, %v", found, err)
		}
		if took := time.Since(began); took != 7500*time.Millisecond {
			t.Errorf("it took %s, want half a second and the seven that were asked for", took)
		}
	})
}

// TestFindAsksTheServiceAndNoCache has a cache in between, which may keep answers although it must not.
func TestFindAsksTheServiceAndNoCache(t *testing.T) {
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("a lookup with %v", r.Header)
		}
		always(200, "Age: 0", `{"items":[`+record("a", "x")+`]}`)(rw, r)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		if found, err := c.Find(t.Context(), []string{"a"}); err != nil || len(found["a"]) != 1 {
			t.Errorf("%v, %v", found, err)
		}
	})
}

func TestFindOfNothingAsksNobody(t *testing.T) {
	w := &world{api: always(500, "", "")}
	w.in(t, func(t *testing.T, c *service.Client) {
		if found, err := c.Find(t.Context(), nil); err != nil || len(found) != 0 {
			t.Errorf("%v, %v", found, err)
		}
		defer func() {
			if recover() == nil {
				t.Error("101 ref_ids are our own bug, and were asked for")
			}
		}()
		_, _ = c.Find(t.Context(), make([]string, executor.FindMax+1))
	})
	if w.dials != 0 {
		t.Error("somebody was asked")
	}
}

func FuzzFind(f *testing.F) {
	f.Add(`{"items":[` + answer + `],"next_page_cursor":""}`)
	f.Add(`{"items":[{"ref_id":"a"}]}`)
	f.Add(`{"items":[null,{}],"next_page_cursor":"x"}`)
	f.Fuzz(func(t *testing.T, body string) {
		defer time.AfterFunc(hangs, func() { panic("it hangs") }).Stop()
		w := &world{api: func(rw http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(rw, body) }}
		w.in(t, func(t *testing.T, c *service.Client) {
			found, err := c.Find(t.Context(), []string{"a"})
			unreadable, _ := errors.AsType[*executor.UnreadableError](err)
			for refID, records := range found {
				for _, r := range records {
					if err != nil && unreadable == nil || refID != "a" || r.RefID != "a" || r.ID == "" {
						t.Fatalf("%v, %v", found, err)
					}
				}
			}
		})
	})
}

// TestAListOfNothingIsBelieved where all that it says beside is that nothing was found, and where what it lacks was not asked for.
func TestAListOfNothingIsBelieved(t *testing.T) {
	for name, api := range map[string]http.HandlerFunc{
		"a code of success":      always(200, "", `{"items":[],"code":0,"message":"Abfrage durchgelaufen"}`),
		"nothing found":          always(200, "", `{"items":[],"message":"no transfers found","total":0,"page":1}`),
		"no total":               always(200, "X-Total-Count: 0", `{"items":[],"meta":{"total":0}}`),
		"an empty range":         always(200, "Content-Range: items */0", `{"items":[]}`),
		"a next that is a title": always(200, `Link: </t>; rel=self; title="a; rel=next", </u>; rel=next-archive`, `{"items":[]}`),
		"a range of bytes":       always(200, "Content-Range: bytes 0-12/13", `{"items":[]}`),
		"links of other ways":    always(200, `Link: <https://bank/transfers>; rel="first", </next>; rel="self"`, `{"items":[]}`),
		"all that was asked":     always(200, "", `{"items":[`+record("a", "a1")+`],"total_count":500,"message":"Timeout of an index"}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{api: api}
			w.in(t, func(t *testing.T, c *service.Client) {
				if _, err := c.Find(t.Context(), []string{"a"}); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
