package certify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"strings"
	"testing"
	"time"

	"remit/internal/sandbox"
	"remit/internal/service/contract"
)

// deviation is a service as somebody may have written it, made of a sandbox that behaves: its traffic is changed.
type deviation struct {
	// record changes a record of an answer, or of a lookup.
	record func(r map[string]any, isLookup bool)
	// serve has the request, in place of the sandbox; it may ask that.
	serve func(w http.ResponseWriter, r *http.Request, body []byte, sandbox http.Handler)

	row     string
	verdict contract.Verdict
	says    string
}

// TestDeviationsThatTheSandboxDoesNotHave has trials find what services do that are not the sandbox.
func TestDeviationsThatTheSandboxDoesNotHave(t *testing.T) {
	for name, d := range deviations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var box *sandbox.Sandbox
			in(t, func() http.Handler {
				var err error
				if box, err = sandbox.Open(context.Background(), sandbox.Options{Now: time.Now}); err != nil {
					t.Fatal(err)
				}
				return d.over(box)
			}, func(t *testing.T, w *world) {
				report, err := w.try(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if f := findings(report)[d.row]; f.Verdict != d.verdict || !strings.Contains(f.Seen, d.says) {
					t.Errorf("row %s %s: %q, want %s: %q\n%s", d.row, f.Verdict, f.Seen, d.verdict, d.says, text(report))
				}
				for _, f := range report.Findings {
					if f.Verdict == contract.Differs && f.Row.Name != d.row {
						t.Errorf("row %s differs as well: %s", f.Row.Name, f.Seen)
					}
				}
				_ = box.Close()
			})
		})
	}
}

func deviations() map[string]deviation {
	const differs, holds = contract.Differs, contract.Holds
	set := func(name string, change func(string) string) func(map[string]any, bool) {
		return func(r map[string]any, _ bool) { r[name] = change(r[name].(string)) }
	}
	seen := make(map[string][]byte) // by ref_id: the first request; one deviation uses it
	return map[string]deviation{
		"metadata keys in lower case": {record: func(r map[string]any, _ bool) {
			lower := make(map[string]any)
			for key, value := range r["metadata"].(map[string]any) {
				lower[strings.ToLower(key)] = value
			}
			r["metadata"] = lower
		}, row: contract.Metadata, verdict: differs, says: `Came back: certify = "remit certify"`},
		"amounts in one decimal": {record: func(r map[string]any, _ bool) {
			r["amount"] = r["amount"].(string)[:3]
			r["total"] = r["amount"]
		}, row: contract.Amount, verdict: differs, says: "Answered amount 1.0, asked 1.05"},
		"an address of a blockchain": {
			record: func(r map[string]any, _ bool) { r["destination_address"] = "bc1q" },
			row:    contract.AnswerRecord, verdict: differs, says: "The record's destination_address is bc1q, where it must be none",
		},
		"an account at a bank in lookups": {record: func(r map[string]any, isLookup bool) {
			if isLookup {
				r["fiat_account_id"] = "6f1d"
			}
		}, row: contract.LookupRecord, verdict: differs, says: "The lookup's fiat_account_id is 6f1d, where it must be none"},
		"ref_ids of 64 characters": {record: set("ref_id", func(id string) string { return id[:min(len(id), 64)] }), row: contract.RefIDLength, verdict: differs, says: "which was not asked for"},
		"ref_ids as in an address": {record: set("ref_id", neturl.PathEscape), row: contract.RefIDSigns, verdict: differs, says: "%20"},
		"another group_id in lookups": {record: func(r map[string]any, isLookup bool) {
			if isLookup {
				r["group_id"] = r["group_id"].(string) + "-found"
			}
		}, row: contract.LookupRecord, verdict: differs, says: "The lookup has group_id"},
		"200 with a page for a browser": {serve: func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
			if r.Method == http.MethodPost && r.URL.Path != sandbox.TokenPath {
				next.ServeHTTP(httptest.NewRecorder(), r)
				_, _ = io.WriteString(w, "<html>It works!</html>")
				return
			}
			next.ServeHTTP(w, r)
		}, row: contract.AnswerRecord, verdict: differs, says: "A lookup says that it was made"},
		"a refusal that is cut off": {serve: func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
			if r.Method == http.MethodPost && r.URL.Path != sandbox.TokenPath {
				next.ServeHTTP(httptest.NewRecorder(), r)
				send(w, http.StatusUnprocessableEntity, []byte(`{"title":"exists","type":"https://x/alre`))
				return
			}
			next.ServeHTTP(w, r)
		}, row: contract.Answer, verdict: differs, says: "A lookup says that it was made"},
		"a token without expires_in": {serve: func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			body := answer.Body.Bytes()
			if r.URL.Path == sandbox.TokenPath {
				body = bytes.Replace(body, []byte(`"expires_in":3600,`), nil, 1)
			}
			send(w, answer.Code, body)
		}, row: contract.TokenLife, verdict: holds, says: "does not say expires_in"},
		"404 for a lookup that finds nothing": {serve: func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			if strings.HasPrefix(answer.Body.String(), `{"items":[]`) {
				answer.Code = http.StatusNotFound
			}
			send(w, answer.Code, answer.Body.Bytes())
		}, row: contract.LookupEmpty, verdict: differs, says: "404 Not Found"},
		"ten ref_ids a lookup": {serve: func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
			if len(r.URL.Query()["ref_ids"]) > 10 {
				send(w, http.StatusBadRequest, []byte(`{"title":"Too many ref_ids"}`))
				return
			}
			next.ServeHTTP(w, r)
		}, row: contract.LookupLength, verdict: differs, says: "Too many ref_ids"},
		"a gateway that passes on the first ref_id": {
			serve: regroup(func(asked []string) []string { return asked[:1] }),
			row:   contract.LookupFound, verdict: differs, says: "passes on each parameter ref_ids",
		},
		"a gateway that passes on the last ref_id": {
			serve: regroup(func(asked []string) []string { return asked[len(asked)-1:] }),
			row:   contract.LookupFound, verdict: differs, says: "passes on each parameter ref_ids",
		},
		"a gateway that joins ref_ids": {
			serve: regroup(func(asked []string) []string { return []string{strings.Join(asked, ",")} }),
			row:   contract.LookupFound, verdict: differs, says: "passes on each parameter ref_ids",
		},
		"replays that compare amounts alone": {serve: func(w http.ResponseWriter, r *http.Request, body []byte, next http.Handler) {
			var asked struct {
				RefID  string `json:"ref_id"`
				Amount string `json:"amount"`
			}
			if json.Unmarshal(body, &asked) == nil && asked.RefID != "" {
				key := asked.RefID + asked.Amount
				if seen[key] == nil {
					seen[key] = body
				}
				r.Body = io.NopCloser(bytes.NewReader(seen[key]))
				r.ContentLength = int64(len(seen[key]))
			}
			next.ServeHTTP(w, r)
		}, row: contract.ReplayOther, verdict: holds, says: "With other metadata it is answered with the first record"},
	}
}

// regroup has a gateway change the ref_ids of a lookup.
func regroup(change func(asked []string) []string) func(http.ResponseWriter, *http.Request, []byte, http.Handler) {
	return func(w http.ResponseWriter, r *http.Request, _ []byte, next http.Handler) {
		if query := r.URL.Query(); len(query["ref_ids"]) > 0 {
			query["ref_ids"] = change(query["ref_ids"])
			r.URL.RawQuery = query.Encode()
		}
		next.ServeHTTP(w, r)
	}
}

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// over is the deviating service.
func (d deviation) over(box http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if d.serve != nil {
			d.serve(w, r, body, box)
			return
		}
		answer := httptest.NewRecorder()
		box.ServeHTTP(answer, r)
		send(w, answer.Code, d.change(answer.Body.Bytes()))
	})
}

// change changes each record of an answer.
func (d deviation) change(body []byte) []byte {
	var object map[string]any
	if json.Unmarshal(body, &object) != nil {
		return body
	}
	items, isList := object["items"].([]any)
	for _, item := range items {
		d.record(item.(map[string]any), true)
	}
	if _, isRecord := object["profile_id"]; !isList && isRecord {
		d.record(object, false)
	}
	changed, err := json.Marshal(object)
	if err != nil {
		panic(err) // it was JSON
	}
	return changed
}
