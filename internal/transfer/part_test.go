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
		`{"items":[],"isSuccess":false}`:                                                      "isSuccess",
		`{"items":[],"requestSuccessful":false}`:                                              "requestSuccessful",
		`{"items":[],"successful":false}`:                                                     "successful",
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

// TestCountOf has lists that lack something, with numbers that count records and such that do not.
func TestCountOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{"items":[],"total_count":6}`:                                                    6,
		`{"items":[],"total":6}`:                                                          6,
		`{"items":[],"count":6}`:                                                          6,
		`{"items":[],"totalSize":6}`:                                                      6,
		`{"items":[],"meta":{"count":"6"}}`:                                               6,
		`{"items":[],"hits":{"total":{"value":6,"relation":"eq"}}}`:                       6,
		`{"items":[],"paging":{"start":0,"count":10}}`:                                    0,
		`{"items":[],"page":{"number":1,"total":1}}`:                                      0,
		`{"items":[],"pages":{"current":1,"total":1}}`:                                    0,
		`{"items":[],"total":1523,"filtered":0}`:                                          0,
		`{"items":[],"quota":{"total":5},"rate_limit":{"count":7},"balance":{"total":9}}`: 0,
		`{"items":[],"startIndex":1,"count":50}`:                                          0,
		`{"items":[],"count":100,"offset":0}`:                                             0,
		`{"items":[],"total":2000,"currency":"USD"}`:                                      0,
		`{"items":[],"_shards":{"total":5}}`:                                              0,
		`{"items":[],"request":{"count":5}}`:                                              0,
		`{"items":[{"count":6}],"count":null,"took":5,"size":100,"version":2}`:            0,
	} {
		fields, err := transfer.ObjectFields([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := transfer.CountOf(fields); got != want {
			t.Errorf("%s counts %d, want %d", text, got, want)
		}
	}
}

// TestTroubleOf has empty lists that say that something went wrong, and such that say that nothing was found.
func TestTroubleOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"items":[],"code":"INTERNAL_ERROR","message":"upstream timed out"}`:                             "code",
		`{"items":[],"message":"upstream timed out"}`:                                                     "message",
		`{"items":[],"code":200,"message":"The request took too long; shown as far as it came"}`:          "",
		`{"items":[],"code":200,"message":"Service unavailable"}`:                                         "message",
		`{"items":[],"message":"Das System ist gerade nicht erreichbar"}`:                                 "message",
		`{"items":[],"status":503,"title":"Service Unavailable"}`:                                         "status",
		`{"items":[],"status":"503"}`:                                                                     "status",
		`{"items":[],"status":"error"}`:                                                                   "status",
		`{"items":[],"statusCode":504}`:                                                                   "statusCode",
		`{"items":[],"error_code":"E1007"}`:                                                               "error_code",
		`{"items":[],"header":{"responseCode":"96","responseMessage":"System malfunction"}}`:              "header.responseMessage",
		`{"items":[],"header":{"responseCode":"96"}}`:                                                     "header.responseCode",
		`{"items":[],"fault":{"faultstring":"Execution of policy failed"}}`:                               "fault",
		`{"items":[],"degraded":true}`:                                                                    "degraded",
		`{"items":[],"_shards":{"total":5,"successful":4,"failed":1}}`:                                    "_shards.failed",
		`{"items":[],"warnings":[{"text":"one of two ledgers is not available"}]}`:                        "warnings",
		`{"items":[],"meta":{"warning":"results may be incomplete"}}`:                                     "meta.warning",
		`{"items":[],"detail":"Try again later","type":"about:blank"}`:                                    "detail",
		`{"items":[],"unprocessed":["a"]}`:                                                                "unprocessed",
		`{"items":[],"result":"FAIL"}`:                                                                    "result",
		`{"items":[],"status":"UNSUCCESSFUL"}`:                                                            "status",
		`{"items":[],"code":"E1007","message":"The request was unsuccessful"}`:                            "message",
		`{"items":[],"message":"The search did not complete"}`:                                            "message",
		`{"items":[],"message":"Request was not successful"}`:                                             "message",
		`{"items":[],"status":"not ok"}`:                                                                  "status",
		`{"items":[],"status":"index_not_found"}`:                                                         "status",
		`{"items":[],"message":"Ledger not found"}`:                                                       "message",
		`{"items":[],"message":"None of the ledgers answered"}`:                                           "message",
		`{"items":[],"message":"No data source connected"}`:                                               "message",
		`{"items":[],"success":true,"error_code":"E1007"}`:                                                "error_code",
		`{"items":[],"messages":["upstream timed out"]}`:                                                  "messages",
		`{"items":[],"outcome":"failure"}`:                                                                "outcome",
		`{"items":[],"status":false}`:                                                                     "status",
		`{"items":[],"status":404}`:                                                                       "status",
		`{"items":[],"code":-1}`:                                                                          "code",
		`{"items":[]}`:                                                                                    "",
		`{"items":[{"status":"FAILED","message":"no funds"}],"next_page_cursor":"error"}`:                 "",
		`{"status":true,"message":"Transfers retrieved","items":[]}`:                                      "",
		`{"items":[],"code":0,"message":"No internal transfers found"}`:                                   "",
		`{"items":[],"message":"No pending transfers found."}`:                                            "",
		`{"items":[],"message":"No payments match the filter"}`:                                           "",
		`{"items":[],"status":404,"message":"No transfers found"}`:                                        "",
		`{"items":[],"status":"NOT_FOUND"}`:                                                               "",
		`{"items":[],"message":"Query executed without any errors"}`:                                      "",
		`{"items":[],"currency":{"code":"USD"},"code":200,"message":"OK"}`:                                "",
		`{"items":[],"account":{"status":"ACTIVE"},"bank":{"code":"COBADEFF"},"statistics":{"failed":3}}`: "",
		`{"items":[],"title":"Internal transfers","info":{"title":"Payment Gateway API"},"notice":"Planned maintenance on Sunday"}`: "",
		`{"items":[],"_shards":{"total":5,"successful":2,"failed":0,"skipped":3}}`:                                                  "",
		`{"items":[],"errorCode":"0","errorMessage":""}`:                                                                            "",
		`{"items":[],"code":0,"message":"查询成功"}`:                                                                                    "",
		`{"items":[],"code":"0000","msg":"success"}`:                                                                                "",
		`{"items":[],"code":"10000","msg":"Success"}`:                                                                               "",
		`{"items":[],"status":"success","message":null,"success":true}`:                                                             "",
		`{"items":[],"success":true,"message":"Abfrage durchgelaufen"}`:                                                             "",
		`{"items":[],"status":{"code":200,"text":"OK"},"degraded":false,"fault":null}`:                                              "",
		`{"items":[],"message":"No transfers match"}`:                                                                               "",
		`{"items":[],"message":"not found"}`:                                                                                        "",
		`{"items":[],"message":"finished without errors"}`:                                                                          "",
		`{"items":[],"title":"Transfers","description":"All of one customer","info":{"region":"x"}}`:                                "",
		`{"items":[],"warnings":[{"message":"this version is deprecated"}]}`:                                                        "",
		`{"items":[],"_shards":{"total":5,"successful":5,"failed":0,"skipped":0}}`:                                                  "",
		`{"items":[],"query":{"status":"FAILED","code":500}}`:                                                                       "",
		`{"items":[],"request_id":"error-1","server":"gateway-2","took":503}`:                                                       "",
	} {
		fields, err := transfer.ObjectFields([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got, _ := transfer.TroubleOf(fields); got != want {
			t.Errorf("%s says that it went wrong by %q, want %q", text, got, want)
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
