package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/internal/sandbox"
	"remit/internal/service/operator"
	"remit/internal/transfer"
)

const (
	treasury = "0acfa5a6-6f2e-41af-a833-48e301197ffd"
	landlord = "37867177-f88c-45cc-b9b5-d786e7079609"
)

// clock is a time that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// client is a plain HTTP client of one sandbox, with a token.
type client struct {
	t       testing.TB
	sandbox *sandbox.Sandbox
	url     string
	token   string
}

func open(t testing.TB, o sandbox.Options) *client {
	t.Helper()
	if o.Now == nil {
		o.Now = newClock().Now
	}
	s, err := sandbox.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	c := &client{t: t, sandbox: s, url: server.URL}
	c.token = c.getToken(sandbox.DefaultClientID, sandbox.DefaultClientSecret)
	return c
}

func (c *client) getToken(id, secret string) string {
	c.t.Helper()
	answer, err := http.PostForm(c.url+sandbox.TokenPath, url.Values{
		"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	var body struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		c.t.Fatal(err)
	}
	return body.Token
}

// do sends a request and returns the status and the body; 0 where no answer came.
func (c *client) do(method, path, body string, faults ...string) (int, []byte) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + c.token}, "Content-Type": {"application/json"}, sandbox.FaultHeader: faults,
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 2<<20))
	if err != nil {
		return 0, text
	}
	return answer.StatusCode, text
}

func (c *client) create(body string, faults ...string) (int, []byte) {
	c.t.Helper()
	return c.do(http.MethodPost, "/v2/transfer/internal", body, faults...)
}

// made creates a transfer that must be answered with a record.
func (c *client) made(body string, faults ...string) transfer.Record {
	c.t.Helper()
	status, answer := c.create(body, faults...)
	if status != http.StatusCreated && status != http.StatusOK {
		c.t.Fatalf("answered %d: %s", status, answer)
	}
	record, err := transfer.ParseRecord(answer)
	if err != nil {
		c.t.Fatalf("%v: %s", err, answer)
	}
	return record
}

type page struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next_page_cursor"`
}

func (c *client) lookup(query string, faults ...string) page {
	c.t.Helper()
	status, answer := c.do(http.MethodGet, sandbox.LookupPath("")+"?"+query, "", faults...)
	var p page
	if err := json.Unmarshal(answer, &p); err != nil || status != http.StatusOK {
		c.t.Fatalf("lookup answered %d: %s", status, answer)
	}
	return p
}

func (c *client) ledger() []transfer.Record {
	c.t.Helper()
	var records []transfer.Record
	for record, err := range c.sandbox.Ledger(c.t.Context()) {
		if err != nil {
			c.t.Fatal(err)
		}
		records = append(records, record)
	}
	return records
}

func body(refID, amount string) string {
	return fmt.Sprintf(`{"amount":%q,"asset":"USD","from_profile_id":%q,"ref_id":%q,"to_profile_id":%q}`, amount, treasury, refID, landlord)
}

func problemType(t *testing.T, answer []byte) string {
	t.Helper()
	var p struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(answer, &p); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return p.Type[strings.LastIndex(p.Type, "/")+1:]
}

func TestTransferHasBothSidesUnderOneGroup(t *testing.T) {
	c := open(t, sandbox.Options{Operator: "acme-pay"})
	request := fmt.Sprintf(`{"amount":"8200.00","asset":"USD","from_profile_id":%q,"from_account_id":"A-1","ref_id":"rent",
		"to_profile_id":%q,"to_identity_id":"I-2","metadata":{"a":"1"},"recipient_metadata":{"b":"2"}}`, treasury, landlord)
	status, answer := c.do(http.MethodPost, "/v2/transfer/acme-pay", request)
	if status != http.StatusCreated {
		t.Fatalf("answered %d: %s", status, answer)
	}
	legs := c.ledger()
	if len(legs) != 2 {
		t.Fatalf("the ledger has %d legs, want 2", len(legs))
	}
	debit, credit := legs[0], legs[1]
	if debit.GroupID == "" || debit.GroupID != credit.GroupID || debit.ID == credit.ID {
		t.Errorf("the legs are not linked: %q %q", debit.GroupID, credit.GroupID)
	}
	answered, err := transfer.ParseRecord(answer)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(debit, answered); diff != "" {
		t.Errorf("the answer is not the debit side (-ledger +answer):\n%s", diff)
	}
	type side struct {
		Profile, Identity, Account, Amount string
		Type                               transfer.RecordType
		Status                             transfer.RecordStatus
		Metadata                           map[string]string
	}
	got := make([]side, 0, 2)
	for _, l := range legs {
		got = append(got, side{l.ProfileID, l.IdentityID, l.AccountID, l.Amount, l.Type, l.Status, l.Metadata})
	}
	want := []side{
		{treasury, "", "A-1", "8200.00", "ACME_PAY_TRANSFER_DEBIT", transfer.Completed, map[string]string{"a": "1"}},
		{landlord, "I-2", "", "8200.00", "ACME_PAY_TRANSFER_CREDIT", transfer.Completed, map[string]string{"b": "2"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("legs (-want +got):\n%s", diff)
	}
}

func TestKnownRefIDIsNeverMadeTwice(t *testing.T) {
	tests := map[string]struct {
		second, fault string
		status        int
		existing      bool
	}{
		"the same request is answered with the first record":  {body("a", "10.00"), "latency=0s", 200, false},
		"another way to write the amount is the same request": {body("a", "10"), "latency=0s", 200, false},
		"another amount is a conflict":                        {body("a", "11"), "latency=0s", 409, false},
		"the body is ignored when told so":                    {body("a", "11"), "replay=ignore-body", 200, false},
		"even the same request is a conflict when told so":    {body("a", "10.00"), "replay=409", 409, false},
		"the conflict carries the record when told so":        {body("a", "10.00"), "replay=409-existing", 409, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := open(t, sandbox.Options{})
			first := c.made(body("a", "10.00"))
			status, answer := c.create(tt.second, tt.fault)
			if status != tt.status {
				t.Fatalf("answered %d, want %d: %s", status, tt.status, answer)
			}
			found := answer
			if status == http.StatusConflict {
				if got := problemType(t, answer); got != "already-exists" {
					t.Errorf("type ends in %q", got)
				}
				var p struct {
					Meta struct {
						Existing json.RawMessage `json:"existing"`
					} `json:"meta"`
				}
				if err := json.Unmarshal(answer, &p); err != nil || (p.Meta.Existing != nil) != tt.existing {
					t.Fatalf("meta.existing is %s, want it: %v", p.Meta.Existing, tt.existing)
				}
				found = p.Meta.Existing
			}
			if found != nil {
				record, err := transfer.ParseRecord(found)
				if diff := cmp.Diff(first, record); err != nil || diff != "" {
					t.Errorf("not the first record: %v\n%s", err, diff)
				}
			}
			if n := len(c.ledger()); n != 2 {
				t.Errorf("the ledger has %d legs, want 2", n)
			}
		})
	}
}

func TestForgottenRefIDIsMadeAgain(t *testing.T) {
	c := open(t, sandbox.Options{Faults: sandbox.Faults{{Kind: sandbox.Forget, Number: 2}}})
	first := c.made(body("a", "1"))
	c.made(body("b", "1"))
	if again := c.made(body("a", "1")); again.ID != first.ID {
		t.Fatal("forgotten after one further transfer, want two")
	}
	c.made(body("c", "1"))
	second := c.made(body("a", "1"))
	if second.ID == first.ID {
		t.Fatal("not forgotten after two further transfers")
	}
	if again := c.made(body("a", "1")); again.ID != second.ID {
		t.Error("the second transfer is not protected")
	}
	if got := len(c.lookup("ref_ids=a").Items); got != 4 {
		t.Errorf("the lookup shows %d records, want both sides of both", got)
	}
}

func TestRequestIsValidated(t *testing.T) {
	text := func(n int) string { return strings.Repeat("ü", n) }
	with := func(field string) string { return strings.Replace(body("a", "10"), "{", "{"+field+",", 1) }
	pairs := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":"v"`, i)
		}
		return `{` + strings.TrimPrefix(b.String(), ",") + `}`
	}
	tests := map[string]struct {
		body   string
		status int
		kind   string
	}{
		"no JSON":                          {"amount=10", 400, "malformed"},
		"a list":                           {"[]", 400, "malformed"},
		"null":                             {"null", 400, "malformed"},
		"two objects":                      {body("a", "10") + body("b", "10"), 400, "malformed"},
		"an unknown field":                 {with(`"memo":"x"`), 400, "unknown-field"},
		"a name in another case":           {with(`"Metadata":{}`), 400, "unknown-field"},
		"recipient_metadata on internal":   {with(`"recipient_metadata":{"a":"b"}`), 400, "unknown-field"},
		"a number for an amount":           {strings.Replace(body("a", "10"), `"10"`, `10`, 1), 400, "type"},
		"null for an optional field":       {with(`"from_identity_id":null`), 400, "type"},
		"an empty optional field":          {with(`"from_identity_id":""`), 422, "empty"},
		"no amount":                        {`{"asset":"USD","from_profile_id":"a","to_profile_id":"b"}`, 400, "missing"},
		"an amount of zero":                {body("a", "0.00"), 422, "amount"},
		"a negative amount":                {body("a", "-1"), 422, "amount"},
		"an exponent":                      {body("a", "1e3"), 422, "amount"},
		"nineteen decimals":                {body("a", "0.1234567890123456789"), 422, "amount"},
		"seven pairs of metadata":          {with(`"metadata":` + pairs(7)), 422, "metadata"},
		"a value of 101 characters":        {with(`"metadata":{"a":"` + text(101) + `"}`), 422, "metadata"},
		"a key of 101 characters":          {with(`"metadata":{"` + text(101) + `":"a"}`), 422, "metadata"},
		"a number in metadata":             {with(`"metadata":{"a":1}`), 400, "type"},
		"null in metadata":                 {with(`"metadata":{"a":null}`), 400, "type"},
		"the sender as its own recipient":  {strings.Replace(body("a", "10"), landlord, treasury, 1), 422, "same-profile"},
		"six pairs of 100 characters pass": {with(`"metadata":` + strings.Replace(pairs(6), `"v"`, `"`+text(100)+`"`, 1)), 201, ""},
		"eighteen decimals pass":           {body("a", "0.123456789012345678"), 201, ""},
		"no ref_id passes":                 {`{"amount":"1","asset":"USD","from_profile_id":"a","to_profile_id":"b"}`, 201, ""},
	}
	c := open(t, sandbox.Options{})
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := len(c.ledger())
			status, answer := c.create(strings.Replace(tt.body, `"ref_id":"a"`, fmt.Sprintf(`"ref_id":%q`, name), 1))
			if status != tt.status {
				t.Fatalf("answered %d, want %d: %s", status, tt.status, answer)
			}
			made := len(c.ledger()) > before
			if made != (tt.status == 201) {
				t.Errorf("made: %v", made)
			}
			if tt.kind != "" && problemType(t, answer) != tt.kind {
				t.Errorf("type ends in %q, want %q", problemType(t, answer), tt.kind)
			}
		})
	}
}

func TestOnlyDocumentedPathsAndTypes(t *testing.T) {
	c := open(t, sandbox.Options{})
	if status, _ := c.do(http.MethodPost, "/v2/transfer/other", body("a", "1")); status != http.StatusNotFound {
		t.Errorf("an unknown path is answered %d", status)
	}
	if status, _ := c.do(http.MethodGet, "/v2/transfer/internal", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("another method is answered %d", status)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/v2/transfer/internal", strings.NewReader(body("a", "1")))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + c.token}, "Content-Type": {"text/plain"}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("text/plain is answered %d", answer.StatusCode)
	}
}

func TestOpeningBalances(t *testing.T) {
	usd := func(profile, amount string) sandbox.Balance {
		return sandbox.Balance{ProfileID: profile, Asset: "USD", Amount: decimal.RequireFromString(amount)}
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	c := open(t, sandbox.Options{Path: path, OpeningBalances: []sandbox.Balance{usd(treasury, "10")}})
	c.made(body("a", "9.99"))
	status, answer := c.create(body("b", "0.02"))
	if status != 422 || problemType(t, answer) != "insufficient-funds" {
		t.Fatalf("more than there is: %d %s", status, answer)
	}
	c.made(body("c", "0.01"))
	got, err := c.sandbox.Balances(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]sandbox.Balance{usd(treasury, "0"), usd(landlord, "10")}, got); diff != "" {
		t.Errorf("balances (-want +got):\n%s", diff)
	}
	other := open(t, sandbox.Options{Path: path, OpeningBalances: []sandbox.Balance{usd(treasury, "10"), usd(landlord, "1")}})
	if status, _ := other.create(body("d", "0.01")); status != 422 {
		t.Errorf("opened again, it answered %d: what was moved is forgotten", status)
	}
}

func TestLedgerSurvivesReopening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	first := open(t, sandbox.Options{Path: path, Seed: 7})
	made := first.made(body("a", "1"))
	second := open(t, sandbox.Options{Path: path, Seed: 7})
	if again := second.made(body("a", "1")); again.ID != made.ID || again.CustomerID != made.CustomerID {
		t.Error("opened again, it does not know the ref_id")
	}
	if other := second.made(body("b", "1")); other.ID == made.ID || other.GroupID == made.GroupID {
		t.Error("opened again with the same seed, it gives the same IDs away")
	}
	if _, err := sandbox.Open(t.Context(), sandbox.Options{Path: path, CustomerID: "another", Now: newClock().Now}); err == nil {
		t.Error("a ledger of another customer was opened")
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the ledger's file is %v, want 0600: %v", info.Mode(), err)
	}
}

func TestLookupInPages(t *testing.T) {
	c := open(t, sandbox.Options{PageSize: 3})
	var want []string
	query := url.Values{"ref_ids": {"unknown"}}
	for _, refID := range []string{"a", "b", "c", "d"} {
		c.made(body(refID, "1"))
		query.Add("ref_ids", refID)
		want = append(want, refID+" DEBIT", refID+" CREDIT")
	}
	c.made(body("not asked for", "1"))
	var got []string
	for pages := 1; ; pages++ {
		p := c.lookup(query.Encode())
		for _, item := range p.Items {
			record, err := transfer.ParseRecord(item)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, record.RefID+" "+string(record.Direction))
		}
		if p.Next == "" {
			if pages != 3 {
				t.Errorf("%d pages, want 3", pages)
			}
			break
		}
		query.Set("page_cursor", p.Next)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	for name, query := range map[string]string{
		"no ref_id":    "",
		"101 ref_ids":  "ref_ids=" + strings.Join(manyRefIDs(101), "&ref_ids="),
		"a bad cursor": "ref_ids=a&page_cursor=x",
	} {
		if status, _ := c.do(http.MethodGet, sandbox.LookupPath("")+"?"+query, ""); status != http.StatusBadRequest {
			t.Errorf("%s is answered %d", name, status)
		}
	}
}

func manyRefIDs(n int) []string {
	refIDs := make([]string, n)
	for i := range refIDs {
		refIDs[i] = fmt.Sprint("r", i)
	}
	return refIDs
}

func TestPendingIsCompletedLater(t *testing.T) {
	now := newClock()
	c := open(t, sandbox.Options{Now: now.Now, PendingFor: time.Minute})
	if got := c.made(body("a", "1")).Status; got != transfer.Pending {
		t.Fatalf("answered %s", got)
	}
	now.Advance(time.Minute)
	if got := c.made(body("a", "1")); got.Status != transfer.Completed || !got.UpdatedAt.Equal(now.Now()) {
		t.Errorf("after a minute it is %s of %s", got.Status, got.UpdatedAt)
	}

	c = open(t, sandbox.Options{PendingLookups: 2})
	c.made(body("a", "1"))
	for i, want := range []transfer.RecordStatus{transfer.Pending, transfer.Pending, transfer.Completed} {
		record, err := transfer.ParseRecord(c.lookup("ref_ids=a").Items[0])
		if err != nil || record.Status != want {
			t.Errorf("lookup %d shows %s, want %s: %v", i+1, record.Status, want, err)
		}
	}
}

// TestAPendingTransferFailsLate has the two faults together, of a platform transfer too.
func TestAPendingTransferFailsLate(t *testing.T) {
	c := open(t, sandbox.Options{})
	if got := c.made(body("a", "1"), "fail", "pending-more=1"); got.Status != transfer.Pending || got.StatusDetails != nil {
		t.Fatalf("answered %s", got.Raw)
	}
	for i, want := range []transfer.RecordStatus{transfer.Pending, transfer.Failed} {
		record, err := transfer.ParseRecord(c.lookup("ref_ids=a").Items[0])
		if err != nil || record.Status != want || (record.SecondaryStatus != nil) != (want == transfer.Failed) {
			t.Errorf("lookup %d shows %s, want %s: %v", i+1, record.Raw, want, err)
		}
	}
	totals, err := c.sandbox.Debits(t.Context())
	if err != nil || totals.Count() != 0 {
		t.Errorf("it moved %d amounts: %v", totals.Count(), err)
	}
}

func TestTokenEndpoint(t *testing.T) {
	now := newClock()
	c := open(t, sandbox.Options{Now: now.Now, ClientID: "id&=", ClientSecret: "se:cr%et"})
	if c.token != "" {
		t.Fatal("a token for the default credentials")
	}
	tests := map[string]struct {
		header, form url.Values
		grant, kind  string
		status       int
	}{
		"credentials in the body":     {form: url.Values{"client_id": {"id&="}, "client_secret": {"se:cr%et"}}, status: 200},
		"credentials in the header":   {header: url.Values{"id&=": {"se:cr%et"}}, status: 200},
		"credentials in both":         {header: url.Values{"id&=": {"se:cr%et"}}, form: url.Values{"client_secret": {"se:cr%et"}}, status: 400},
		"a wrong secret":              {form: url.Values{"client_id": {"id&="}, "client_secret": {"x"}}, status: 401},
		"a wrong secret in a header":  {header: url.Values{"id&=": {"x"}}, status: 401},
		"no credentials":              {status: 401},
		"another grant":               {form: url.Values{"client_id": {"id&="}, "client_secret": {"se:cr%et"}}, grant: "password", status: 400},
		"another content type (JSON)": {form: url.Values{"client_id": {"id&="}, "client_secret": {"se:cr%et"}}, kind: "application/json", status: 400},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			form := url.Values{"grant_type": {"client_credentials"}, "scope": {"a b"}}
			for key, values := range tt.form {
				form[key] = values
			}
			if tt.grant != "" {
				form.Set("grant_type", tt.grant)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+sandbox.TokenPath, strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			if tt.kind != "" {
				r.Header.Set("Content-Type", tt.kind)
			}
			for id, secret := range tt.header {
				r.SetBasicAuth(url.QueryEscape(id), url.QueryEscape(secret[0]))
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != tt.status {
				t.Errorf("answered %d, want %d", answer.StatusCode, tt.status)
			}
		})
	}
	c.token = c.getToken("id&=", "se:cr%et")
	c.made(body("a", "1"))
	now.Advance(time.Hour)
	if status, _ := c.create(body("b", "1")); status != http.StatusUnauthorized {
		t.Errorf("an expired token is answered %d", status)
	}
	c.token = "sandbox-token-guessed"
	if status, _ := c.create(body("b", "1")); status != http.StatusUnauthorized {
		t.Errorf("a guessed token is answered %d", status)
	}
}

func TestListensOnThisMachineOnly(t *testing.T) {
	c := open(t, sandbox.Options{})
	if _, err := c.sandbox.Listen("0.0.0.0:0"); err == nil || !strings.Contains(err.Error(), "this machine") {
		t.Errorf("listens to everyone: %v", err)
	}
	server, err := c.sandbox.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.url = server.URL
	c.made(body("a", "1"))
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
}

// After any sequence of requests: per asset, credits less debits are zero; each balance is the
// opening balance and the legs since; no ref_id has two transfers; a failed transfer moves nothing;
// no balance falls below zero where balances are known.
func TestBooksBalance(t *testing.T) {
	profiles := []string{"p1", "p2", "p3"}
	assets := []string{"USD", "ETH"}
	rapid.Check(t, func(rt *rapid.T) {
		o := sandbox.Options{Now: newClock().Now}
		limited := rapid.Bool().Draw(rt, "limited")
		if limited {
			for _, profile := range profiles {
				o.OpeningBalances = append(o.OpeningBalances, sandbox.Balance{ProfileID: profile, Asset: "USD", Amount: decimal.NewFromInt(50)})
			}
		}
		s, err := sandbox.Open(t.Context(), o)
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		token := tokenOf(rt, s)
		var wait sync.WaitGroup
		for range rapid.IntRange(0, 30).Draw(rt, "requests") {
			amount := rapid.StringMatching(`[1-9][0-9]?(\.[0-9]{1,18})?`).Draw(rt, "amount")
			request := fmt.Sprintf(`{"amount":%q,"asset":%q,"from_profile_id":%q,"to_profile_id":%q,"ref_id":%q}`, amount,
				rapid.SampledFrom(assets).Draw(rt, "asset"), rapid.SampledFrom(profiles).Draw(rt, "from"),
				rapid.SampledFrom(profiles).Draw(rt, "to"), rapid.StringMatching(`[a-h]`).Draw(rt, "ref_id"))
			fault := rapid.SampledFrom([]string{"latency=0s", "error-before", "error-after", "fail", "replay=409", "replay=ignore-body"}).Draw(rt, "fault")
			wait.Go(func() {
				r := httptest.NewRequest(http.MethodPost, "/v2/transfer/internal", strings.NewReader(request))
				r.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, sandbox.FaultHeader: {fault}}
				s.ServeHTTP(httptest.NewRecorder(), r)
			})
		}
		wait.Wait()
		checkBooks(rt, s, o, limited)
	})
}

func checkBooks(rt *rapid.T, s *sandbox.Sandbox, o sandbox.Options, limited bool) {
	type account struct{ profile, asset string }
	want := make(map[account]decimal.Decimal)
	for _, b := range o.OpeningBalances {
		want[account{b.ProfileID, b.Asset}] = b.Amount
	}
	sums := make(map[string]decimal.Decimal)
	groups := make(map[string]string)
	legs, debits := 0, decimal.Zero
	for leg, err := range s.Ledger(rt.Context()) {
		if err != nil {
			rt.Fatal(err)
		}
		legs++
		if other, ok := groups[leg.RefID]; ok && other != leg.GroupID {
			rt.Errorf("ref_id %q has two transfers", leg.RefID)
		}
		groups[leg.RefID] = leg.GroupID
		if leg.Status == transfer.Failed {
			continue
		}
		amount := decimal.RequireFromString(leg.Amount)
		if leg.Direction == transfer.Debit {
			debits = debits.Add(amount)
			amount = amount.Neg()
		}
		sums[leg.Asset] = sums[leg.Asset].Add(amount)
		of := account{leg.ProfileID, leg.Asset}
		want[of] = want[of].Add(amount)
	}
	if legs != 2*len(groups) {
		rt.Errorf("%d legs of %d transfers", legs, len(groups))
	}
	for asset, sum := range sums {
		if !sum.IsZero() {
			rt.Errorf("the legs of %s sum to %s", asset, sum)
		}
	}
	balances, err := s.Balances(rt.Context())
	if err != nil {
		rt.Fatal(err)
	}
	got := make(map[account]decimal.Decimal)
	for _, b := range balances {
		got[account{b.ProfileID, b.Asset}] = b.Amount
		if limited && b.Amount.IsNegative() {
			rt.Errorf("%s owes %s %s", b.ProfileID, b.Amount, b.Asset)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		rt.Errorf("balances (-legs +balances):\n%s", diff)
	}
	totals, err := s.Debits(rt.Context())
	if err != nil {
		rt.Fatal(err)
	}
	if sum := totals.Sum("USD").Add(totals.Sum("ETH")); !sum.Equal(debits) {
		rt.Errorf("Debits sums to %s, the legs to %s", sum, debits)
	}
}

func tokenOf(t interface{ Fatal(...any) }, s *sandbox.Sandbox) string {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {sandbox.DefaultClientID}, "client_secret": {sandbox.DefaultClientSecret}}
	r := httptest.NewRequest(http.MethodPost, sandbox.TokenPath, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(&answer); err != nil || answer.Token == "" {
		t.Fatal("no token: ", err)
	}
	return answer.Token
}

func BenchmarkCreate(b *testing.B) {
	c := open(b, sandbox.Options{Path: filepath.Join(b.TempDir(), "ledger.db")})
	var mu sync.Mutex
	n := 0
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mu.Lock()
			n++
			request := body(fmt.Sprint("r", n), "1.25")
			mu.Unlock()
			r := httptest.NewRequest(http.MethodPost, "/v2/transfer/internal", strings.NewReader(request))
			r.Header = http.Header{"Authorization": {"Bearer " + c.token}, "Content-Type": {"application/json"}}
			w := httptest.NewRecorder()
			c.sandbox.ServeHTTP(w, r)
			if w.Code != http.StatusCreated {
				b.Fatal(w.Code, w.Body)
			}
		}
	})
}

// TestTheSandboxOfAnOperatorAnswersAsItDocuments has transfers made, replayed, looked up and refused
// for want of money.
func TestTheSandboxOfAnOperatorAnswersAsItDocuments(t *testing.T) {
	tests := map[transfer.Operator]struct {
		created, short int
		shortType      string
		lookup         string
	}{
		"":      {201, 422, "https://sandbox.invalid/problems/insufficient-funds", "/v2/transfers"},
		"acme":  {201, 422, "https://sandbox.invalid/problems/insufficient-funds", "/v2/transfers"},
		"paxos": {200, 403, "https://sandbox.invalid/v2/problems/insufficient_funds", "/v2/transfer/transfers"},
	}
	for operator, want := range tests {
		t.Run("operator "+string(operator), func(t *testing.T) {
			c := open(t, sandbox.Options{Operator: operator, OpeningBalances: []sandbox.Balance{{ProfileID: "rich", Asset: "USD", Amount: decimal.NewFromInt(100)}}})
			body := func(refID, amount string) string {
				return `{"from_profile_id":"rich","to_profile_id":"b","asset":"USD","ref_id":"` + refID + `","amount":"` + amount + `"}`
			}
			for _, op := range transfer.Operations() {
				path := operator.Path(op)
				if status, answer := c.do(http.MethodPost, path, body(string(op), "1")); status != want.created {
					t.Errorf("%s made: %d %s", path, status, answer)
				}
				if status, answer := c.do(http.MethodPost, path, body(string(op), "1")); status != 200 {
					t.Errorf("%s again: %d %s", path, status, answer)
				}
				status, answer := c.do(http.MethodPost, path, body("dear", "1000"))
				var problem struct {
					Type   string `json:"type"`
					Status int    `json:"status"`
				}
				if err := json.Unmarshal(answer, &problem); err != nil || status != want.short || problem.Status != status || problem.Type != want.shortType {
					t.Errorf("%s without funds: %d %s", path, status, answer)
				}
			}
			if got := sandbox.LookupPath(operator); got != want.lookup {
				t.Errorf("looks up at %q", got)
			}
			if status, answer := c.do(http.MethodGet, want.lookup+"?ref_ids=internal", ""); status != 200 || !strings.Contains(string(answer), `"internal"`) {
				t.Errorf("lookup: %d %s", status, answer)
			}
		})
	}
}

// TestBalancesAreServedWhereThereAreAny asks before and after a transfer and a deposit.
func TestBalancesAreServedWhereThereAreAny(t *testing.T) {
	for _, name := range []transfer.Operator{"", "paxos"} {
		rich := sandbox.Balance{ProfileID: "rich/one", Asset: "USD", Amount: decimal.NewFromInt(100)}
		c := open(t, sandbox.Options{Operator: name, OpeningBalances: []sandbox.Balance{rich, {ProfileID: "rich/one", Asset: "EUR", Amount: decimal.NewFromInt(7)}}})
		at := strings.Replace(sandbox.BalancePath(name), operator.ProfilePart, "rich%2Fone", 1)
		ask := func(query, want string) {
			t.Helper()
			if status, got := c.do(http.MethodGet, at+query, ""); status != http.StatusOK || string(got) != want {
				t.Errorf("%d %s, want %s", status, got, want)
			}
		}
		ask("", `{"items":[{"asset":"EUR","available":"7","trading":"0"},{"asset":"USD","available":"100","trading":"0"}]}`)
		ask("?assets=USD&assets=BTC", `{"items":[{"asset":"USD","available":"100","trading":"0"}]}`)
		c.made(`{"from_profile_id":"rich/one","to_profile_id":"b","asset":"USD","ref_id":"a","amount":"0.01"}`)
		ask("?assets=USD", `{"items":[{"asset":"USD","available":"99.99","trading":"0"}]}`)
		if err := c.sandbox.Deposit(rich); err != nil {
			t.Error(err)
		}
		ask("?assets=USD", `{"items":[{"asset":"USD","available":"199.99","trading":"0"}]}`)
	}
	c := open(t, sandbox.Options{})
	if status, got := c.do(http.MethodGet, "/v2/profiles/rich/balances", ""); status != http.StatusNotFound || problemType(t, got) != "no-balances" {
		t.Errorf("where every profile has enough: %d %s", status, got)
	}
	if err := c.sandbox.Deposit(sandbox.Balance{ProfileID: "rich", Asset: "USD"}); err == nil {
		t.Error("a deposit where every profile has enough")
	}
	c.token = "guessed"
	if status, _ := c.do(http.MethodGet, "/v2/profiles/rich/balances", ""); status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", status)
	}
}
