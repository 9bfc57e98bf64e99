package transfer_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
)

// fields of a record; a value is the JSON of one.
type fields map[string]string

// required are the fields that every record has, of the payroll transfer's debit side.
func required() fields {
	return fields{
		"id":          `"t-1"`,
		"customer_id": `"c-1"`,
		"profile_id":  `"p1"`,
		"amount":      `"1200.50000000"`,
		"total":       `"1200.50"`,
		"fee":         `"0"`,
		"asset":       `"USD"`,
		"direction":   `"DEBIT"`,
		"type":        `"INTERNAL_TRANSFER_DEBIT"`,
		"status":      `"PENDING"`,
		"created_at":  `"2026-11-27T09:00:00.123456Z"`,
		"updated_at":  `"2026-11-27T10:00:00+01:00"`,
	}
}

func (f fields) with(more fields) fields {
	f = maps.Clone(f)
	maps.Copy(f, more)
	return f
}

func (f fields) without(name string) fields {
	f = maps.Clone(f)
	delete(f, name)
	return f
}

func (f fields) json() []byte {
	object := make(map[string]json.RawMessage, len(f))
	for name, value := range f {
		object[name] = json.RawMessage(value)
	}
	raw, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return raw
}

// record is what ParseRecord makes of f.
func (f fields) record(t *testing.T) transfer.Record {
	t.Helper()
	r, err := transfer.ParseRecord(f.json())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryFieldOfARecordIsRead(t *testing.T) {
	raw := required().with(fields{
		"identity_id": `"i"`, "account_id": `"a"`, "ref_id": `"r-1"`, "balance_asset": `"EUR"`,
		"metadata": `{"k":"v"}`, "destination_address": `"addr"`, "crypto_network": `"INK"`, "crypto_tx_hash": `"h"`,
		"crypto_tx_index": `"0"`, "auto_conversion": `{}`, "group_id": `"g"`, "fiat_account_id": `"f"`,
		"secondary_status": `{"a":1}`, "notional_value": `"1.0"`, "memo": `"m"`, "status_details": `{"max_rent_exceeded":{}}`,
		"future_field": `[1,{"x":null}]`,
	}).json()
	got, err := transfer.ParseRecord(append([]byte("\n "), append(raw, '\n')...))
	if err != nil {
		t.Fatal(err)
	}
	want := transfer.Record{
		ID: "t-1", CustomerID: "c-1", ProfileID: "p1", Amount: "1200.50000000", Total: "1200.50", Fee: "0", Asset: "USD",
		Direction: transfer.Debit, Type: "INTERNAL_TRANSFER_DEBIT", Status: transfer.Pending,
		CreatedAt:  time.Date(2026, 11, 27, 9, 0, 0, 123456000, time.UTC),
		UpdatedAt:  time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC),
		IdentityID: "i", AccountID: "a", RefID: "r-1", BalanceAsset: "EUR",
		Metadata: map[string]string{"k": "v"}, DestinationAddress: "addr", CryptoNetwork: "INK", CryptoTxHash: "h",
		CryptoTxIndex: "0", AutoConversion: json.RawMessage(`{}`), GroupID: "g", FiatAccountID: "f",
		SecondaryStatus: json.RawMessage(`{"a":1}`), NotionalValue: "1.0", Memo: "m",
		StatusDetails: json.RawMessage(`{"max_rent_exceeded":{}}`),
		Raw:           raw,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestOptionalFieldsMayBeAbsentOrNull(t *testing.T) {
	absent := required().record(t)
	null := required()
	for _, name := range []string{
		"identity_id", "account_id", "ref_id", "balance_asset", "metadata", "destination_address", "crypto_network",
		"crypto_tx_hash", "crypto_tx_index", "auto_conversion", "group_id", "fiat_account_id", "secondary_status",
		"notional_value", "memo", "status_details",
	} {
		null[name] = "null"
	}
	got := null.record(t)
	got.Raw, absent.Raw = nil, nil
	if diff := cmp.Diff(absent, got); diff != "" {
		t.Errorf("-absent +null:\n%s", diff)
	}
	if empty := required().with(fields{"metadata": `{}`}).record(t); empty.Metadata == nil {
		t.Error("empty metadata is read as none")
	}
}

func TestTimesMayBeInSmallLetters(t *testing.T) {
	got := required().with(fields{"created_at": `"2026-11-27t09:00:00.5z"`}).record(t)
	if want := time.Date(2026, 11, 27, 9, 0, 0, 5e8, time.UTC); !got.CreatedAt.Equal(want) {
		t.Errorf("created at %v, want %v", got.CreatedAt, want)
	}
}

func TestARecordWithoutARequiredFieldIsUnreadable(t *testing.T) {
	for name := range required() {
		if slices.Contains([]string{"total", "fee", "status", "created_at", "updated_at"}, name) {
			continue // without these it falls short
		}
		for sentence, f := range map[string]fields{
			"absent": required().without(name),
			"null":   required().with(fields{name: `null`}),
			"empty":  required().with(fields{name: `""`}),
			"cased":  required().without(name).with(fields{strings.ToUpper(name): required()[name]}),
			"titled": required().without(name).with(fields{strings.ToUpper(name[:1]) + name[1:]: required()[name]}),
		} {
			t.Run(name+" "+sentence, func(t *testing.T) {
				_, err := transfer.ParseRecord(f.json())
				if want := "the required field " + name; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not say %q", err, want)
				}
			})
		}
	}
}

func TestARecordWithoutAFieldThatSaysNotWhichTransferItIsFallsShort(t *testing.T) {
	for sentence, c := range map[string]struct {
		change fields
		field  string
	}{
		"no total":             {fields{"total": `""`}, "total"},
		"no fee":               {fields{"fee": `null`}, "fee"},
		"no status":            {fields{"status": `""`}, "status"},
		"a status of a number": {fields{"status": `3`}, "status"},
		"no time":              {fields{"created_at": `null`}, "created_at"},
		"a day, not a time":    {fields{"created_at": `"2026-11-27"`}, "created_at"},
		"a time of no zone":    {fields{"updated_at": `"2026-11-27T09:00:00"`}, "updated_at"},
		"seconds":              {fields{"updated_at": `"1795770000"`}, "updated_at"},
		"a number of seconds":  {fields{"created_at": `1795770000`}, "created_at"},
	} {
		t.Run(sentence, func(t *testing.T) {
			for i, f := range []fields{required().without(c.field), required().with(c.change)} {
				r := f.with(fields{"group_id": `"g"`}).record(t)
				short := transfer.Shortcomings(r)
				if len(short) != 1 || short[0].Field != c.field || i == 0 && short[0].Answered != "" {
					t.Errorf("it falls short in %v, want %s alone", short, c.field)
				}
				if r.Status == "" || r.Status.Final() && c.field == "status" {
					t.Errorf("its status is %q", r.Status)
				}
			}
		})
	}
}

func TestAFieldOfAnotherTypeMakesARecordUnreadable(t *testing.T) {
	all := []string{
		"id", "customer_id", "profile_id", "amount", "total", "fee", "asset", "direction", "type", "identity_id", "account_id", "ref_id", "balance_asset", "metadata", "destination_address",
		"crypto_network", "crypto_tx_hash", "crypto_tx_index", "auto_conversion", "group_id", "fiat_account_id",
		"secondary_status", "notional_value", "memo", "status_details",
	}
	for _, name := range all {
		for _, value := range []string{`1`, `true`, `[]`, `["a"]`} {
			t.Run(name+" "+value, func(t *testing.T) {
				_, err := transfer.ParseRecord(required().with(fields{name: value}).json())
				if want := "field " + name; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not name %s", err, name)
				}
			})
		}
	}
	for sentence, f := range map[string]fields{
		"metadata of numbers": {"metadata": `{"a":1}`},
		"metadata of objects": {"metadata": `{"a":{}}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := transfer.ParseRecord(required().with(f).json()); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestAllMistakesOfARecordAreNamedAtOnce(t *testing.T) {
	_, err := transfer.ParseRecord(required().without("id").with(fields{"amount": `5`, "memo": `[]`}).json())
	for _, name := range []string{"id", "amount", "memo"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not name %s", err, name)
		}
	}
}

func TestValuesThatTheDocumentDoesNotListAreKept(t *testing.T) {
	got := required().with(fields{
		"type": `"NOVEL_TRANSFER"`, "status": `"SETTLING"`, "direction": `"SIDEWAYS"`, "crypto_network": `"DOGE"`,
	}).record(t)
	if got.Type != "NOVEL_TRANSFER" || got.Status != "SETTLING" || got.Direction != "SIDEWAYS" || got.CryptoNetwork != "DOGE" {
		t.Errorf("read as %+v", got)
	}
	if got.Status.Known() || got.Direction.Known() {
		t.Error("a novel value is known")
	}
}

func TestWhatIsNotOneObjectIsNoRecord(t *testing.T) {
	good := string(required().json())
	for sentence, raw := range map[string]string{
		"nothing":                            ``,
		"space":                              " \n",
		"null":                               `null`,
		"a string":                           `"x"`,
		"a list of records":                  `[` + good + `]`,
		"two records":                        good + good,
		"text behind it":                     good + ` ok`,
		"a comma behind it":                  good + `,`,
		"a bracket behind it":                good + `}`,
		"a cut-off tail":                     good[:len(good)-1],
		"a page of HTML":                     `<html><body>502</body></html>`,
		"an amount that is said twice":       strings.Replace(good, `{`, `{"amount":"1",`, 1),
		"an amount that is said twice alike": strings.Replace(good, `{`, `{"amount":"1200.50000000",`, 1),
		"an amount that is said twice by escapes": strings.Replace(good, `{`, `{"\u0061mount":"1",`, 1),
		"an unknown field that is said twice":     strings.Replace(good, `{`, `{"x":1,"x":1,`, 1),
		"a nesting without end":                   strings.Replace(good, `{`, `{"x":`+strings.Repeat("[", 1<<20), 1),
		"a nesting that is deep":                  strings.Replace(good, `{`, `{"x":`+strings.Repeat("[", 1<<17)+strings.Repeat("]", 1<<17)+`,`, 1),
		"a nesting in metadata":                   strings.Replace(good, `{`, `{"metadata":`+strings.Repeat(`{"a":`, 1<<17), 1),
	} {
		t.Run(sentence, func(t *testing.T) {
			r, err := transfer.ParseRecord([]byte(raw))
			if err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff(transfer.Record{}, r); diff != "" {
				t.Errorf("an error comes with a record: %s", diff)
			}
			if err != nil && len(err.Error()) > 500 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestFieldsOfAnotherCaseAreUnknownFields(t *testing.T) {
	got := required().with(fields{"Amount": `"999"`, "AMOUNT": `"998"`, "Metadata": `{"a":"b"}`, "Ref_Id": `"other"`}).record(t)
	if got.Amount != "1200.50000000" || got.Metadata != nil || got.RefID != "" {
		t.Errorf("read as %+v", got)
	}
}

func TestTheErrorOfARecordShowsNoValues(t *testing.T) {
	const value = "hunter2"
	_, err := transfer.ParseRecord(required().without("id").with(fields{
		"created_at": `"` + value + `"`, "metadata": `"` + value + `"`, "memo": fmt.Sprintf("[%q]", value),
	}).json())
	if err == nil || strings.Contains(err.Error(), value) {
		t.Errorf("the error is %v", err)
	}
}

func TestTheRecordDoesNotHoldOnToTheBuffer(t *testing.T) {
	buffer := required().with(fields{"auto_conversion": `{"a":1}`}).json()
	got, err := transfer.ParseRecord(buffer)
	if err != nil {
		t.Fatal(err)
	}
	want := string(got.Raw)
	clear(buffer)
	if string(got.Raw) != want || string(got.AutoConversion) != `{"a":1}` {
		t.Errorf("changed with the buffer: %s, %s", got.Raw, got.AutoConversion)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(required().json())
	f.Add(required().with(fields{"metadata": `{"a":"b"}`, "secondary_status": `{}`}).json())
	f.Add([]byte(`{"id":"a","id":"b"}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := transfer.ParseRecord(raw)
		if err != nil {
			return
		}
		again, err := transfer.ParseRecord(r.Raw)
		if err != nil {
			t.Fatalf("what was read is unreadable: %v", err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Errorf("read again:\n%s", diff)
		}
		if r.ID == "" || r.Amount == "" || r.Status == "" {
			t.Errorf("a required field is empty: %+v", r)
		}
	})
}

func TestParseRecordNamesAllThatIsWrongOnOneLine(t *testing.T) {
	_, err := transfer.ParseRecord([]byte(`{"transfer":{}}`))
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "id is missing or empty; the required field customer_id") {
		t.Errorf("ParseRecord of a wrapped record: %v", err)
	}
}
