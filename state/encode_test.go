package state_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/statetest"
)

// texts are plain, or what package json writes in some way of its own.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z0-9 {}:",\\\\/<>&\x7f]{0,12}`),
		rapid.StringMatching(`[äß—€🙂\x{2027}\x{2028}\x{2029}"]{0,4}`),
		rapid.SampledFrom([]string{"", "\x00", "a\nb", "\t", "\xff", "x\xe2\x80", "\ufffd"}),
	)
}

func entries() *rapid.Generator[state.Entry] {
	return rapid.Custom(func(t *rapid.T) state.Entry {
		text := func(name string) string { return texts().Draw(t, name) }
		if rapid.Bool().Draw(t, "intent") {
			return state.Intent{
				RefID: text("ref_id"), RunID: text("run_id"), Operation: transfer.Operation(text("operation")),
				Path: text("path"), Body: text("body"), Fingerprint: text("fingerprint"), Address: text("address"),
				Place: text("place"), Batch: text("batch"), Naming: text("naming"),
				FromLabel: rapid.Bool().Draw(t, "from_label"), Found: rapid.Bool().Draw(t, "found"),
			}
		}
		o := state.Outcome{
			RefID: text("ref_id"), RunID: text("run_id"),
			Status: rapid.SampledFrom(state.Statuses()).Draw(t, "status"), Source: state.Source(text("source")),
			Reason: text("reason"), HTTPStatus: rapid.IntRange(-1, 600).Draw(t, "http_status"),
		}
		switch rapid.IntRange(0, 6).Draw(t, "more") {
		case 3:
			o.Listed = &state.Listed{GroupID: text("group_id"), Amount: text("amount"), Asset: text("asset")}
		case 0:
			o.Problem = json.RawMessage(` {"a": 1}`)
		case 1:
			o.Differences = []transfer.Difference{{Field: text("field")}}
		case 2:
			o.By = &state.Holder{User: text("user")}
		}
		space := rapid.StringMatching(`[ \n\r\t]{0,2}`)
		for range rapid.IntRange(0, 2).Draw(t, "records") {
			memo, err := json.Marshal(text("memo"))
			if err != nil {
				t.Fatal(err)
			}
			raw := statetest.Record("a", "r", statetest.Customer, "10.00", transfer.Completed)
			end := space.Draw(t, "space") + `,"memo"` + space.Draw(t, "space") + ":" + space.Draw(t, "space") + string(memo) + space.Draw(t, "space") + "}"
			record, err := transfer.ParseRecord(append(raw[:len(raw)-1:len(raw)-1], end...))
			if err != nil {
				t.Fatal(err)
			}
			if len(o.Records) == 0 && rapid.Bool().Draw(t, "is read") {
				o.Deciding = &record
			}
			o.Records = append(o.Records, record.Raw)
		}
		return o
	})
}

func TestEntriesAreWrittenAsPackageJSONWritesThem(t *testing.T) {
	plain, read := 0, 0
	check := func(t *rapid.T) {
		entry := entries().Draw(t, "entry")
		got, err := state.Encode(entry)
		if err != nil {
			t.Fatal(err)
		}
		want, err := state.EncodeAny(entry)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("-package json +ours:\n%s", diff)
		}
		if _, ok := state.EncodePlain(entry); ok {
			plain++
		}
		again, ok := state.DecodePlain(state.Event{Kind: entry.Kind(), Data: got})
		if !ok {
			return
		}
		read++
		switch written := entry.(type) {
		case state.Intent:
			sameEntry[state.Intent](t, got, again)
		case state.Outcome:
			sameEntry[state.Outcome](t, got, again)
		default:
			t.Fatalf("%T was read without reflection", written)
		}
	}
	for round := 0; round == 0 || (plain == 0 || read == 0) && round < 20; round++ { // some are, sooner or later
		rapid.Check(t, check)
	}
	if plain == 0 || read == 0 {
		t.Errorf("%d were written without reflection, and %d read", plain, read)
	}
}

// sameEntry holds an entry against what package json reads.
func sameEntry[E state.Entry](t *rapid.T, data []byte, got state.Entry) {
	var want E
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	if diff := cmp.Diff(state.Entry(want), got); diff != "" {
		t.Errorf("%s (-package json +ours):\n%s", data, diff)
	}
}

// TestCommonEntriesAreReadWithoutReflection has the two entries that each transfer has.
func TestCommonEntriesAreReadWithoutReflection(t *testing.T) {
	intent := statetest.Intent("a", "r", "10.00")
	intent.Batch, intent.Naming, intent.AfterMS, intent.Due = "b", `"${each.key}"`, 17, time.Date(2026, 11, 21, 9, 30, 0, 5, time.FixedZone("", 3600))
	intent.Occurrence = "month_end 2026-11-30"
	outcome := statetest.Outcome("a", "r", state.SourceAnswer, state.Recorded)
	refused := statetest.Outcome("a", "r", state.SourceAnswer, state.Refused)
	refused.Reason = `It said "no".`
	for _, entry := range []state.Entry{intent, outcome, refused} {
		draft, err := state.NewDraft(entry)
		if err != nil {
			t.Fatal(err)
		}
		again, ok := state.DecodePlain(state.Event{Kind: entry.Kind(), Data: draft.Data})
		if !ok {
			t.Errorf("not read without reflection: %s", draft.Data)
			continue
		}
		data, err := state.EncodeAny(again)
		if err != nil || string(data) != string(draft.Data) {
			t.Errorf("%s, %v, want\n%s", data, err, draft.Data)
		}
	}
}

// TestEveryFieldIsWritten sets one field after the other: one that is new, and that only package
// json knows, fails it.
func TestEveryFieldIsWritten(t *testing.T) {
	values := map[reflect.Type]any{
		reflect.TypeFor[string](): "x", reflect.TypeFor[bool](): true, reflect.TypeFor[int](): 7,
		reflect.TypeFor[int64](): int64(12345), reflect.TypeFor[state.Clocks](): state.Clocks{Boot: "b", BootMS: 1},
		reflect.TypeFor[transfer.Operation](): transfer.Internal, reflect.TypeFor[state.Source](): state.SourceAnswer,
		reflect.TypeFor[time.Time]():    time.Date(2026, 11, 21, 9, 30, 0, 5, time.FixedZone("", 3600)),
		reflect.TypeFor[state.Status](): state.Recorded, reflect.TypeFor[json.RawMessage](): json.RawMessage(`{"a":1}`),
		reflect.TypeFor[[]json.RawMessage]():     []json.RawMessage{json.RawMessage(`{"b":2}`)},
		reflect.TypeFor[[]transfer.Difference](): []transfer.Difference{{Field: "f"}},
		reflect.TypeFor[*state.Holder]():         &state.Holder{User: "u"},
		reflect.TypeFor[*state.Listed]():         &state.Listed{GroupID: "g"},
		reflect.TypeFor[*transfer.Record]():      &transfer.Record{},
	}
	for _, base := range []state.Entry{state.Intent{}, state.Outcome{Status: state.Recorded}} {
		for _, field := range reflect.VisibleFields(reflect.TypeOf(base)) {
			value, isKnown := values[field.Type]
			if !isKnown {
				t.Fatalf("%T.%s has the type %s, of which the test has no value", base, field.Name, field.Type)
			}
			entry := reflect.New(reflect.TypeOf(base)).Elem()
			entry.Set(reflect.ValueOf(base))
			entry.FieldByIndex(field.Index).Set(reflect.ValueOf(value))
			got, err := state.Encode(entry.Interface().(state.Entry))
			if err != nil {
				t.Fatal(err)
			}
			want, err := state.EncodeAny(entry.Interface().(state.Entry))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%T.%s: -package json +ours:\n%s", base, field.Name, diff)
			}
		}
	}
}

func TestWhatAnApplyWritesNeedsNoReflection(t *testing.T) {
	record, err := transfer.ParseRecord(statetest.Record("a", "r", statetest.Customer, "10.00", transfer.Completed))
	if err != nil {
		t.Fatal(err)
	}
	o := outcome(state.SourceAnswer, state.Recorded)
	o.Records, o.Deciding = []json.RawMessage{record.Raw}, &record
	for _, entry := range []state.Entry{intent(), o} {
		if _, ok := state.EncodePlain(entry); !ok {
			t.Errorf("%+v is written by package json", entry)
		}
	}
}

func BenchmarkNewDraft(b *testing.B) {
	record, err := transfer.ParseRecord(statetest.Record("a", "r", statetest.Customer, "10.00", transfer.Completed))
	if err != nil {
		b.Fatal(err)
	}
	o := outcome(state.SourceAnswer, state.Recorded)
	o.Records, o.Deciding = []json.RawMessage{record.Raw}, &record
	for name, entry := range map[string]state.Entry{"intent": intent(), "outcome": o} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := state.NewDraft(entry); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
