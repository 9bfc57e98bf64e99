package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// details are transfers of a state, one of each status.
func details() []state.Detail {
	at := time.Date(2026, 11, 27, 14, 0, 2, 0, time.UTC)
	request := transfer.Request{
		Operation: transfer.Platform, RefID: "rent-2026-11", Asset: "USD", Amount: transfer.MustAmount("8200.00"),
		FromProfileID: "0acfa5a6-6f2e-41af-a833-48e301197ffd", ToProfileID: "37867177-f88c-45cc-b9b5-d786e7079609",
		RecipientMetadata: transfer.NewMetadata(map[string]string{"contract": "R-17"}),
	}
	record := `{"id":"t-1","customer_id":"c-1","profile_id":"0acfa5a6-6f2e-41af-a833-48e301197ffd","amount":"8200.00","total":"8200.00","fee":"0",` +
		`"asset":"USD","direction":"DEBIT","type":"PLATFORM_TRANSFER_DEBIT","status":"COMPLETED","created_at":"2026-11-27T14:00:01Z",` +
		`"updated_at":"2026-11-27T14:00:01Z","ref_id":"rent-2026-11","group_id":"c1b7c5e6-52a4-4f0e-9a51-0ff6f2a4f3f1","memo":"\u202e"}`
	var all []state.Detail
	for i, status := range state.Statuses() {
		d := state.Detail{
			Transfer: state.Transfer{
				RefID: fmt.Sprintf("rent-2026-%02d", i+1), Status: status, Fingerprint: request.Fingerprint(),
				Asset: request.Asset, Amount: request.Amount, RunID: "5f2c1a90-93b1-4c7e-8a46-c9e0d4f2b7aa", IntendedAt: at, AttemptedAt: at,
			},
			Intent: state.Intent{
				RefID: request.RefID, Operation: request.Operation, Path: "/v2/transfer/platform", Body: string(request.Body()),
				Address: "transfer.platform.rent-2026-11", Place: "rent.hcl:2", Batch: "rent",
			},
		}
		if status.Made() {
			d.RecordID, d.GroupID, d.RecordStatus = "t-1", "c1b7c5e6-52a4-4f0e-9a51-0ff6f2a4f3f1", transfer.Completed
			d.SettledAt = at.Add(time.Second)
			d.Outcome = &state.Outcome{
				RefID: request.RefID, Status: status, Source: state.SourceAnswer, HTTPStatus: 201,
				Records: []json.RawMessage{json.RawMessage(record)},
			}
		}
		if status == state.Conflict {
			d.Outcome = &state.Outcome{
				RefID: request.RefID, Status: status, Source: state.SourceLookup, Reason: "the answer names another asset",
				Differences: []transfer.Difference{{Field: "asset", Asked: "USD", Answered: "EUR"}},
				Problem:     json.RawMessage(`{"title":"Already exists"}`),
			}
		}
		if status == state.Tombstone {
			d.Outcome = &state.Outcome{
				RefID: request.RefID, Status: status, Source: state.SourcePerson, Reason: "not in the bank's list",
				By: &state.Holder{User: "ana", Host: "books-1"},
			}
		}
		if status == state.InDoubt {
			d.Doubted = true
		}
		all = append(all, d)
	}
	return all
}

// rows yields the rows of a list, and then err where there is one.
func rows(list []state.Detail, err error) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for _, d := range list {
			if !yield(d.Transfer, nil) {
				return
			}
		}
		if err != nil {
			yield(state.Transfer{}, err)
		}
	}
}

func TestStateList(t *testing.T) {
	for ending, screen := range screens() {
		var b bytes.Buffer
		if err := view.StateList(&b, rows(details(), nil), view.StateListOptions{Screen: screen}); err != nil {
			t.Fatal(err)
		}
		golden(t, "state/list."+ending, b.Bytes())
	}
	var b bytes.Buffer
	if err := view.NewJSON(&b, "0.1.0").StateList(rows(details(), nil), view.StateListOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "state/list.jsonl", b.Bytes())
}

// A terminal breaks no row within a name: it has the place of the group_id, which people don't know.
func TestStateListWithNamesFitsANarrowTerminal(t *testing.T) {
	names := map[int64]string{}
	for _, d := range details() {
		names[d.IntentSeq] = "Fröhlich-Straßmann, Sören von und zu Königsbrück"
	}
	var b bytes.Buffer
	if err := view.StateList(&b, rows(details(), nil), view.StateListOptions{Screen: view.Screen{Terminal: true, Width: 80}, Names: names}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Fröhlich-") {
		t.Errorf("no name is shown:\n%s", b.String())
	}
	for line := range strings.Lines(b.String()) {
		if wide := utf8.RuneCountInString(line) - 1; wide > 80 {
			t.Errorf("a row has %d columns: %s", wide, line)
		}
	}
}

func TestSentencesAreBrokenBetweenWords(t *testing.T) {
	const text = "Not enough yet: it has 1 of the 2 approvers that the rule at approval.hcl:4 wants.\nCould still approve: carol."
	const broken = "Not enough yet: it has 1 of the 2 approvers that the rule at approval.hcl:4\nwants.\nCould still approve: carol."
	if got := (view.Screen{Terminal: true, Width: 80}).Sentences(text); got != broken {
		t.Errorf("on a terminal:\n%s", got)
	}
	if got := (view.Screen{}).Sentences(text); got != text {
		t.Errorf("in a file:\n%s", got)
	}
}

func TestStateListOfAnyLength(t *testing.T) {
	for name, count := range map[string]int{"of nothing": 0, "of one": 1, "of as many as are measured": 1000, "of more": 2500} {
		t.Run(name, func(t *testing.T) {
			list := slices.Repeat(details()[2:3], count)
			var text, lines bytes.Buffer
			if err := view.StateList(&text, rows(list, nil), view.StateListOptions{Screen: view.Screen{}}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(text.String(), "rent-2026-03"); got != count {
				t.Errorf("%d rows, want %d", got, count)
			}
			if err := view.NewJSON(&lines, "").StateList(rows(list, nil), view.StateListOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(lines.String(), "\n"); got != count+1 {
				t.Errorf("%d lines, want %d and the version", got, count)
			}
		})
	}
}

func TestStateListReturnsTheStoresError(t *testing.T) {
	broken := errors.New("disk gone")
	var b bytes.Buffer
	if err := view.StateList(&b, rows(details(), broken), view.StateListOptions{Screen: view.Screen{}}); !errors.Is(err, broken) {
		t.Errorf("text: %v", err)
	}
	if err := view.NewJSON(&b, "").StateList(rows(details(), broken), view.StateListOptions{}); !errors.Is(err, broken) {
		t.Errorf("JSON: %v", err)
	}
}

func TestStateShow(t *testing.T) {
	for _, d := range details() {
		name := strings.ReplaceAll(d.Status.String(), " ", "-")
		t.Run(name, func(t *testing.T) {
			var text, line bytes.Buffer
			if err := view.StateShow(&text, d, view.StateShowOptions{}); err != nil {
				t.Fatal(err)
			}
			golden(t, "state/"+name+".txt", text.Bytes())
			checkShown(t, text.String())
			if err := view.NewJSON(&line, "0.1.0").StateShow(d, view.StateShowOptions{}); err != nil {
				t.Fatal(err)
			}
			golden(t, "state/"+name+".json", line.Bytes())
			var object map[string]any
			if err := json.Unmarshal(line.Bytes(), &object); err != nil {
				t.Fatal(err)
			}
			if object["format"] != view.Format || object["group_id"] != d.GroupID {
				t.Errorf("format %v, group_id %v", object["format"], object["group_id"])
			}
		})
	}
}
