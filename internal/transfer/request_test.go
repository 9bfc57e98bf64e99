package transfer_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/transfer"
)

// compareAmounts lets cmp see the digits of an amount.
var compareAmounts = cmp.Comparer(func(a, b transfer.Amount) bool { return a == b })

func payroll() transfer.Request {
	return transfer.Request{
		Operation:     transfer.Internal,
		RefID:         "r-1",
		FromProfileID: "p1",
		ToProfileID:   "p2",
		Amount:        transfer.MustAmount("1200.50"),
		Asset:         "USD",
		Metadata:      transfer.NewMetadata(map[string]string{"note": `a"b`, "employee": "E-17"}),
	}
}

func rent() transfer.Request {
	return transfer.Request{
		Operation:         transfer.Platform,
		RefID:             "rent-é-<&>",
		FromProfileID:     "fp",
		FromIdentityID:    "fi",
		FromAccountID:     "fa",
		ToProfileID:       "tp",
		ToIdentityID:      "ti",
		ToAccountID:       "ta",
		Amount:            transfer.MustAmount("8200.00"),
		Asset:             "BTC",
		Metadata:          transfer.NewMetadata(map[string]string{"b": "2", "a": "1"}),
		RecipientMetadata: transfer.NewMetadata(map[string]string{"contract": "R-17"}),
	}
}

func TestBodiesAreWhatTheDocumentShows(t *testing.T) {
	marked := payroll()
	marked.FingerprintKey = "fingerprint"
	wrong := payroll()
	wrong.RecipientMetadata = rent().RecipientMetadata
	for sentence, test := range map[string]struct {
		request transfer.Request
		body    string
	}{
		"an internal transfer": {
			payroll(), `{"amount":"1200.50","asset":"USD","from_profile_id":"p1",` +
				`"metadata":{"employee":"E-17","note":"a\"b"},"ref_id":"r-1","to_profile_id":"p2"}`,
		},
		"a platform transfer with every field": {
			rent(), `{"amount":"8200.00","asset":"BTC","from_account_id":"fa","from_identity_id":"fi","from_profile_id":"fp",` +
				`"metadata":{"a":"1","b":"2"},"recipient_metadata":{"contract":"R-17"},"ref_id":"rent-é-<&>",` +
				`"to_account_id":"ta","to_identity_id":"ti","to_profile_id":"tp"}`,
		},
		"a fingerprint that travels": {
			marked, `{"amount":"1200.50","asset":"USD","from_profile_id":"p1","metadata":{"employee":"E-17",` +
				`"fingerprint":"a25eb71963d6078cf3f0525439e198ee596cf8f8c0f98e32b516492397ef62d1","note":"a\"b"},` +
				`"ref_id":"r-1","to_profile_id":"p2"}`,
		},
		"an internal transfer never has recipient_metadata": {wrong, string(payroll().Body())},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(test.body, string(test.request.Body())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The constants are the SHA-256 of the canonical text as another program computed it. They
// never change: states hold them.
func TestFingerprintsAreTheSameForEver(t *testing.T) {
	for want, request := range map[string]transfer.Request{
		"a25eb71963d6078cf3f0525439e198ee596cf8f8c0f98e32b516492397ef62d1": payroll(),
		"e7dc8b6d47fcd790b1fd8c6f16eef680a616b086e549e1cb8c2770072077eef5": rent(),
	} {
		if got := request.Fingerprint().String(); got != want {
			t.Errorf("%s has the fingerprint %s, want %s", request.RefID, got, want)
		}
	}
}

func TestTheFingerprintKnowsEveryFieldAndNothingElse(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*transfer.Request)
		same   bool
	}{
		"other zeros of the amount":   {func(r *transfer.Request) { r.Amount = transfer.MustAmount("8200") }, true},
		"a fingerprint key":           {func(r *transfer.Request) { r.FingerprintKey = "k" }, true},
		"metadata built in one piece": {func(r *transfer.Request) { r.Metadata = transfer.Metadata{{"a", "1"}, {"b", "2"}} }, true},
		"another operation":           {func(r *transfer.Request) { r.Operation = transfer.Internal; r.RecipientMetadata = nil }, false},
		"another ref_id":              {func(r *transfer.Request) { r.RefID = "x" }, false},
		"another sending profile":     {func(r *transfer.Request) { r.FromProfileID = "x" }, false},
		"another sending identity":    {func(r *transfer.Request) { r.FromIdentityID = "" }, false},
		"another sending account":     {func(r *transfer.Request) { r.FromAccountID = "x" }, false},
		"another profile":             {func(r *transfer.Request) { r.ToProfileID = "x" }, false},
		"another identity":            {func(r *transfer.Request) { r.ToIdentityID = "x" }, false},
		"another account":             {func(r *transfer.Request) { r.ToAccountID = "" }, false},
		"another amount":              {func(r *transfer.Request) { r.Amount = transfer.MustAmount("8200.01") }, false},
		"another asset":               {func(r *transfer.Request) { r.Asset = "btc" }, false},
		"other metadata":              {func(r *transfer.Request) { r.Metadata = r.Metadata[:1] }, false},
		"metadata on the other side": {func(r *transfer.Request) {
			r.Metadata, r.RecipientMetadata = r.RecipientMetadata, r.Metadata
		}, false},
		"identity and account exchanged": {func(r *transfer.Request) {
			r.ToIdentityID, r.ToAccountID = r.ToAccountID, r.ToIdentityID
		}, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			changed := rent()
			test.change(&changed)
			if got := changed.Fingerprint() == rent().Fingerprint(); got != test.same {
				t.Errorf("the same fingerprint: %v, want %v", got, test.same)
			}
		})
	}
}

func TestTheDigitsOfAnAmountChangeTheBodyAndNotTheFingerprint(t *testing.T) {
	short, long := payroll(), payroll()
	short.Amount = transfer.MustAmount("1200.5")
	if short.Fingerprint() != long.Fingerprint() {
		t.Error("1200.5 and 1200.50 have two fingerprints")
	}
	if string(short.Body()) == string(long.Body()) {
		t.Error("1200.5 and 1200.50 have one body: the author's digits are lost")
	}
}

func TestFingerprintsAreReadBack(t *testing.T) {
	want := payroll().Fingerprint()
	got, err := transfer.ParseFingerprint(want.String())
	if err != nil || got != want || got.IsZero() {
		t.Errorf("%s is read as %s (%v)", want, got, err)
	}
	for _, text := range []string{"", "00", want.String() + "00", strings.Repeat("g", 64)} {
		if _, err := transfer.ParseFingerprint(text); err == nil {
			t.Errorf("%q is read as a fingerprint", text)
		}
	}
	if !(transfer.Fingerprint{}).IsZero() {
		t.Error("the zero value is not zero")
	}
}

// validText draws what CheckText accepts.
func validText(atLeast int) *rapid.Generator[string] {
	return rapid.StringN(atLeast, 20, -1).Filter(func(s string) bool { return transfer.CheckText(s) == nil })
}

// requests draws requests as config makes them.
func requests() *rapid.Generator[transfer.Request] {
	return rapid.Custom(func(t *rapid.T) transfer.Request {
		pairs := rapid.MapOfN(validText(1), validText(0), 0, 5)
		r := transfer.Request{
			Operation:      rapid.SampledFrom(transfer.Operations()).Draw(t, "operation"),
			RefID:          validText(1).Draw(t, "ref_id"),
			FromProfileID:  validText(1).Draw(t, "from_profile_id"),
			FromIdentityID: validText(0).Draw(t, "from_identity_id"),
			FromAccountID:  validText(0).Draw(t, "from_account_id"),
			ToProfileID:    validText(1).Draw(t, "to_profile_id"),
			ToIdentityID:   validText(0).Draw(t, "to_identity_id"),
			ToAccountID:    validText(0).Draw(t, "to_account_id"),
			Amount:         amounts().Draw(t, "amount"),
			Asset:          validText(1).Draw(t, "asset"),
			Metadata:       transfer.NewMetadata(pairs.Draw(t, "metadata")),
		}
		if r.Operation == transfer.Platform {
			r.RecipientMetadata = transfer.NewMetadata(pairs.Draw(t, "recipient_metadata"))
		}
		if rapid.Bool().Draw(t, "fingerprint travels") {
			r.FingerprintKey = "remit-fingerprint"
		}
		return r
	})
}

func TestABodyIsReadBackAsTheSameRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := requests().Draw(t, "request")
		got, err := transfer.ParseRequest(want.Operation, want.Body(), "remit-fingerprint")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, compareAmounts); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		if got.Fingerprint() != want.Fingerprint() {
			t.Fatal("the fingerprint is another one")
		}
	})
}

func TestAReaderWithoutTheFingerprintKeyKeepsTheBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := requests().Draw(t, "request")
		got, err := transfer.ParseRequest(want.Operation, want.Body(), "")
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Body()) != string(want.Body()) {
			t.Fatalf("%s becomes %s", want.Body(), got.Body())
		}
	})
}

func TestAPairThatOnlyLooksLikeAFingerprintStaysMetadata(t *testing.T) {
	want := payroll()
	want.Metadata = transfer.NewMetadata(map[string]string{"k": rent().Fingerprint().String()})
	got, err := transfer.ParseRequest(want.Operation, want.Body(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, compareAmounts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnyJSONReaderSeesTheStringsThatWereAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := requests().Draw(t, "request")
		var got map[string]any
		if err := json.Unmarshal(r.Body(), &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{}
		for name, value := range map[string]string{
			"amount": r.Amount.String(), "asset": r.Asset, "ref_id": r.RefID,
			"from_profile_id": r.FromProfileID, "from_identity_id": r.FromIdentityID, "from_account_id": r.FromAccountID,
			"to_profile_id": r.ToProfileID, "to_identity_id": r.ToIdentityID, "to_account_id": r.ToAccountID,
		} {
			if value != "" {
				want[name] = value
			}
		}
		for name, pairs := range map[string]transfer.Metadata{"metadata": r.SentMetadata(), "recipient_metadata": r.RecipientMetadata} {
			object := map[string]any{}
			for _, p := range pairs {
				object[p.Key] = p.Value
			}
			if len(object) > 0 {
				want[name] = object
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

func TestTheOrderInWhichMetadataWasBuiltSaysNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.MapOfN(validText(1), validText(0), 0, 6).Draw(t, "pairs")
		a, b := payroll(), payroll()
		a.Metadata, b.Metadata = transfer.NewMetadata(pairs), transfer.NewMetadata(pairs)
		if string(a.Body()) != string(b.Body()) || a.Fingerprint() != b.Fingerprint() {
			t.Fatalf("%s and %s", a.Body(), b.Body())
		}
		for key, want := range pairs {
			if got, ok := a.Metadata.Get(key); !ok || got != want {
				t.Fatalf("%q is %q, want %q", key, got, want)
			}
		}
		if _, ok := a.Metadata.Get("not\x00there"); ok {
			t.Fatal("a key that is not there was found")
		}
	})
}

func TestBodiesThatWereNotWrittenHereAreNotGuessedAt(t *testing.T) {
	good := string(payroll().Body())
	for sentence, body := range map[string]string{
		"nothing":              "",
		"null":                 "null",
		"no object":            "[]",
		"an empty object":      "{}",
		"text behind it":       good + "x",
		"a second object":      good + "{}",
		"a space behind it":    good + " ",
		"a space within it":    strings.Replace(good, ":", ": ", 1),
		"an unknown field":     strings.Replace(good, `"ref_id"`, `"memo":"x","ref_id"`, 1),
		"another letter case":  strings.Replace(good, `"amount"`, `"Amount"`, 1),
		"a field twice":        strings.Replace(good, `"asset"`, `"amount":"9","asset"`, 1),
		"another order":        strings.Replace(good, `"amount":"1200.50","asset":"USD"`, `"asset":"USD","amount":"1200.50"`, 1),
		"a number":             strings.Replace(good, `"1200.50"`, `1200.50`, 1),
		"a negative amount":    strings.Replace(good, `"1200.50"`, `"-1200.50"`, 1),
		"a null":               strings.Replace(good, `"ref_id"`, `"from_account_id":null,"ref_id"`, 1),
		"an empty field":       strings.Replace(good, `"from_profile_id"`, `"from_account_id":"","from_profile_id"`, 1),
		"a needless escape":    strings.Replace(good, `USD`, `\u0055SD`, 1),
		"recipient_metadata":   strings.Replace(good, `"ref_id"`, `"recipient_metadata":{"a":"b"},"ref_id"`, 1),
		"metadata without any": strings.Replace(good, `{"employee":"E-17","note":"a\"b"}`, `{}`, 1),
		"a cut-off tail":       good[:len(good)-1],
	} {
		t.Run(sentence, func(t *testing.T) {
			if body == good {
				t.Fatal("the body was not changed")
			}
			if r, err := transfer.ParseRequest(transfer.Internal, []byte(body), ""); err == nil {
				t.Errorf("%s is read as %s", body, r.Body())
			}
		})
	}
}

func TestARequestSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := requests().Draw(t, "request")
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got transfer.Request
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, compareAmounts); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}

func TestTheZeroRequestSurvivesJSON(t *testing.T) {
	raw, err := json.Marshal(transfer.Request{})
	if err != nil {
		t.Fatal(err)
	}
	got := payroll()
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(transfer.Request{}, got, compareAmounts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestJSONThatIsNoRequestLeavesItAsItWas(t *testing.T) {
	for sentence, raw := range map[string]string{
		"a body that was changed":            `{"operation":"internal","body":"{\"amount\": \"1\"}"}`,
		"a body without an amount":           `{"operation":"internal","body":"{}"}`,
		"a fingerprint key and no such pair": `{"operation":"internal","fingerprint_key":"k","body":"{\"amount\":\"1\"}"}`,
		"no object":                          `"x"`,
	} {
		t.Run(sentence, func(t *testing.T) {
			got := payroll()
			if err := json.Unmarshal([]byte(raw), &got); err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff(payroll(), got, compareAmounts); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestTwinsMoveTheSameMoney(t *testing.T) {
	for sentence, test := range map[string]struct {
		change                func(*transfer.Request)
		twin, sameDestination bool
	}{
		"another ref_id":          {func(r *transfer.Request) { r.RefID = "x" }, true, true},
		"other metadata":          {func(r *transfer.Request) { r.Metadata, r.RecipientMetadata = nil, nil }, true, true},
		"another operation":       {func(r *transfer.Request) { r.Operation = transfer.Internal }, true, true},
		"other zeros":             {func(r *transfer.Request) { r.Amount = transfer.MustAmount("8200") }, true, true},
		"another amount":          {func(r *transfer.Request) { r.Amount = transfer.MustAmount("82") }, false, true},
		"another asset":           {func(r *transfer.Request) { r.Asset = "ETH" }, false, true},
		"another sending profile": {func(r *transfer.Request) { r.FromProfileID = "x" }, false, true},
		"another sending account": {func(r *transfer.Request) { r.FromAccountID = "x" }, false, true},
		"another profile":         {func(r *transfer.Request) { r.ToProfileID = "x" }, false, false},
		"another identity":        {func(r *transfer.Request) { r.ToIdentityID = "x" }, false, false},
		"another account":         {func(r *transfer.Request) { r.ToAccountID = "" }, false, false},
		"both sides exchanged": {func(r *transfer.Request) {
			r.FromProfileID, r.ToProfileID = r.ToProfileID, r.FromProfileID
		}, false, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			changed := rent()
			test.change(&changed)
			if got := changed.Twin() == rent().Twin(); got != test.twin {
				t.Errorf("a twin: %v, want %v", got, test.twin)
			}
			if got := changed.Destination() == rent().Destination(); got != test.sameDestination {
				t.Errorf("the same destination: %v, want %v", got, test.sameDestination)
			}
		})
	}
}

func FuzzRequest(f *testing.F) {
	f.Add(payroll().Body(), true)
	f.Add(rent().Body(), false)
	f.Add([]byte(`{"amount":"1","Amount":"2"}`), false)
	f.Fuzz(func(t *testing.T, body []byte, internal bool) {
		operation := transfer.Platform
		if internal {
			operation = transfer.Internal
		}
		r, err := transfer.ParseRequest(operation, body, "fingerprint")
		if err == nil && string(r.Body()) != string(body) {
			t.Errorf("%s is read as %s", body, r.Body())
		}
	})
}
