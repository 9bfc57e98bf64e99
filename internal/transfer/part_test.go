package transfer_test

import (
	"strings"
	"testing"

	"remit/internal/transfer"
)

// TestPartOf has lists that say that they are not whole, and such that say nothing of the kind.
func TestPartOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"items":[],"errors":[{"message":"shard 3 timed out"}]}`:                             "errors",
		`{"items":[],"error":"backend_timeout"}`:                                              "error",
		`{"items":[],"partial":true}`:                                                         "partial",
		`{"items":[],"Partial":"true"}`:                                                       "Partial",
		`{"items":[],"incomplete_results":true}`:                                              "incomplete_results",
		`{"items":[],"isTruncated":true,"next_page_cursor":"a"}`:                              "isTruncated",
		`{"items":[],"has_more":true}`:                                                        "has_more",
		`{"items":[],"hasMore":true,"next_page_cursor":""}`:                                   "hasMore",
		`{"items":[],"complete":false}`:                                                       "complete",
		`{"items":[],"last":false}`:                                                           "last",
		`{"items":[],"next":"/transfers?page=2"}`:                                             "next",
		`{"items":[],"next_cursor":"b"}`:                                                      "next_cursor",
		`{"items":[],"nextPageToken":"b"}`:                                                    "nextPageToken",
		`{"items":[],"@odata.nextLink":"b"}`:                                                  "@odata.nextLink",
		`{"items":[],"links":{"next":"b"}}`:                                                   "links.next",
		`{"items":[],"_links":{"self":{"href":"a"},"next":{"href":"b"}}}`:                     "_links.next",
		`{"items":[],"links":[{"rel":"self","href":"a"},{"rel":"next","href":"b"}]}`:          "links",
		`{"items":[],"paging":{"next":2}}`:                                                    "paging.next",
		`{"items":[],"pagination":{"has_more":true}}`:                                         "pagination.has_more",
		`{"items":[],"meta":{"truncated":true},"next_page_cursor":"a"}`:                       "meta.truncated",
		`{"items":[],"archived":[{"ref_id":"a","amount":"1"}]}`:                               "archived",
		`{"items":[],"Items":[{"group_id":"a","status":"COMPLETED"}],"next_page_cursor":"a"}`: "Items",
		`{"items":[],"data":{"older":[{"group_id":"a","direction":"DEBIT"}]}}`:                "data.older",
		`{"items":[]}`: "",
		`{"items":[{"error":"x"}],"next_page_cursor":"a"}`:                       "",
		`{"items":[],"errors":[ ],"error":null,"partial":false,"truncated":"0"}`: "",
		`{"items":[],"errors":[ ],"error":null,"partial":false,"truncated":0}`:   "",
		`{"items":[],"has_more":false,"next":null,"next_cursor":""}`:             "",
		`{"items":[],"has_more":true,"next":"b","next_page_cursor":"a"}`:         "",
		`{"items":[],"links":[{"rel":"next"}],"next_page_cursor":"a"}`:           "",
		`{"items":[],"complete":true,"last":true,"lastPage":3}`:                  "",
		`{"items":[],"_links":{"next":{"href": null}},"links":[]}`:               "",
		`{"items":[],"tags":["next"],"warnings":[{"message":"old version"}]}`:    "",
	} {
		fields, err := transfer.ObjectFields([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := transfer.PartOf(fields, strings.Trim(string(fields["next_page_cursor"]), `"`)); got != want {
			t.Errorf("%s says that it is not whole by %q, want %q", text, got, want)
		}
	}
}

// TestTotalOf has lists that say how many records they have, and numbers that are amounts.
func TestTotalOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{"items":[],"total_count":6}`:                                               6,
		`{"items":[],"totalElements":"6"}`:                                           6,
		`{"items":[],"@odata.count":6}`:                                              6,
		`{"items":[],"pagination":{"total":6,"count":2}}`:                            6,
		`{"items":[],"meta":{"page":{"total":6}}}`:                                   6,
		`{"items":[],"total":6,"limit":2,"offset":0}`:                                6,
		`{"items":[],"total":2000}`:                                                  0,
		`{"items":[],"summary":{"currency":"USD","total":2000}}`:                     0,
		`{"items":[],"amounts":{"total":2000}}`:                                      0,
		`{"items":[],"page":1,"total":2000,"currency":"USD"}`:                        0,
		`{"items":[],"_shards":{"total":5,"successful":5}}`:                          0,
		`{"items":[],"meta":{"total_count":500,"filtered_count":2}}`:                 0,
		`{"items":[{"total_count":6}],"total_count":null,"query":{"total_count":9}}`: 0,
	} {
		fields, err := transfer.ObjectFields([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := transfer.TotalOf(fields); got != want {
			t.Errorf("%s promises %d, want %d", text, got, want)
		}
	}
}
