package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/sandbox"
	"remit/internal/transfer"
)

func TestParseFault(t *testing.T) {
	tests := map[string]sandbox.Fault{
		"lost-answer":                        {Kind: sandbox.LostAnswer},
		"lost-answer=2%":                     {Kind: sandbox.LostAnswer, Percent: 2},
		"lost-answer=0.5%,#3":                {Kind: sandbox.LostAnswer, Percent: 0.5, Nth: 3},
		"latency=20ms":                       {Kind: sandbox.Latency, Duration: 20 * time.Millisecond},
		"error-after=502,#1":                 {Kind: sandbox.ErrorAfter, Number: 502, Nth: 1},
		"error-before=ref:a=b,c":             {Kind: sandbox.ErrorBefore, RefID: "a=b,c"},
		"replay=409-existing":                {Kind: sandbox.Replay, Mode: sandbox.ReplayExisting},
		"throttled=10%,2s":                   {Kind: sandbox.Throttled, Duration: 2 * time.Second, Percent: 10},
		"token-expired=5":                    {Kind: sandbox.TokenExpired, Number: 5},
		"wrong-amount=ref:rent-2026-11":      {Kind: sandbox.WrongAmount, RefID: "rent-2026-11"},
		"late=3s,50%,ref:with spaces inside": {Kind: sandbox.Late, Duration: 3 * time.Second, Percent: 50, RefID: "with spaces inside"},
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := sandbox.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for _, text := range []string{
		"", "lost", "lost-answer=", "lost-answer=20ms", "lost-answer=0%", "lost-answer=101%", "lost-answer=NaN%", "lost-answer=2%,3%",
		"lost-answer=#0", "latency", "latency=5%", "latency=-1s", "latency=1s,2s", "replay", "replay=first", "forget=0",
		"error-before=99", "error-before=ref:", "LATENCY=1s",
	} {
		if f, err := sandbox.ParseFault(text); err == nil {
			t.Errorf("%q is read as %+v", text, f)
		}
	}
}

func FuzzParseFault(f *testing.F) {
	for _, kind := range sandbox.FaultKinds() {
		f.Add(string(kind) + "=1s,503,2%,#1,ref:x")
		f.Add(string(kind))
	}
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := sandbox.ParseFault(text)
		if err != nil {
			return
		}
		again, err := sandbox.ParseFault(fault.String())
		if err != nil || again != fault {
			t.Fatalf("%q is written %q, which is read as %+v: %v", text, fault, again, err)
		}
	})
}

func TestEveryFaultIsWrittenAsItIsRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		kind := rapid.SampledFrom(sandbox.FaultKinds()).Draw(rt, "kind")
		items := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"20ms", "503", "debit", "409", "12.5%", "#4"}), rapid.ID).Draw(rt, "items")
		f, err := sandbox.ParseFault(string(kind) + "=" + strings.Join(append(items, "ref:x"), ","))
		if err != nil {
			return
		}
		if again, err := sandbox.ParseFault(f.String()); err != nil || again != f {
			rt.Fatalf("%+v is written %q: %v", f, f, err)
		}
	})
}

// Each fault, what the client sees of it, and whether the transfer was made.
func TestFaultsOfRequests(t *testing.T) {
	tests := map[string]struct {
		status int // 0 for no whole answer
		made   bool
	}{
		"reset-before":       {0, false},
		"error-before":       {503, false},
		"error-before=408":   {408, false},
		"throttled=2s":       {429, false},
		"too-early":          {425, false},
		"redirect":           {307, false},
		"redirect=303":       {303, false},
		"refuse":             {422, false},
		"refuse=403":         {403, false},
		"token-expired":      {401, false},
		"lost-answer":        {0, true},
		"error-after=502":    {502, true},
		"half-answer":        {0, true},
		"garbage":            {201, true},
		"endless":            {201, true},
		"answer=none":        {204, true},
		"error-before=ref:b": {201, true},
		"lost-answer=#2":     {201, true},
	}
	for fault, tt := range tests {
		t.Run(fault, func(t *testing.T) {
			c := open(t, sandbox.Options{})
			status, answer := c.create(body("a", "1"), fault)
			if status != tt.status {
				t.Errorf("answered %d, want %d: %.80s", status, tt.status, answer)
			}
			if made := len(c.ledger()) == 2; made != tt.made {
				t.Errorf("made: %v", made)
			}
		})
	}
}

// A request that hangs has no answer until the sandbox is closed, and then none either.
func TestHangingRequestsEndWithTheSandbox(t *testing.T) {
	for fault, legs := range map[string]int{"hang": 0, "hang-after": 2, "latency=1h": 0} {
		t.Run(fault, func(t *testing.T) {
			reached := make(chan struct{}, 1)
			s, err := sandbox.Open(t.Context(), sandbox.Options{
				Now:    newClock().Now,
				Script: func(sandbox.Request) sandbox.Faults { reached <- struct{}{}; return nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(s)
			defer server.Close()
			c := &client{t: t, sandbox: s, url: server.URL}
			c.token = c.getToken(sandbox.DefaultClientID, sandbox.DefaultClientSecret)
			<-reached // by the token
			status := make(chan int)
			go func() {
				got, _ := c.create(body("a", "1"), fault)
				status <- got
			}()
			<-reached
			for len(c.ledger()) != legs {
				runtime.Gosched()
			}
			select {
			case got := <-status:
				t.Fatalf("answered %d", got)
			default:
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := <-status; got != 0 {
				t.Errorf("answered %d", got)
			}
			if s.Close() == nil {
				t.Error("closed twice without an error")
			}
		})
	}
}

func TestFaultsOfRecords(t *testing.T) {
	plain := open(t, sandbox.Options{}).made(body("a", "10"))
	tests := map[string]func(*transfer.Record){
		"rescaled":       func(r *transfer.Record) { r.Amount, r.Total = "10.00000000", "10.00000000" },
		"wrong-amount":   func(r *transfer.Record) { r.Amount, r.Total = "11", "11" },
		"wrong-asset":    func(r *transfer.Record) { r.Asset, r.BalanceAsset = "EUR", "EUR" },
		"wrong-profile":  func(r *transfer.Record) { r.ProfileID = "" },
		"wrong-ref-id":   func(r *transfer.Record) { r.RefID = "a-other" },
		"wrong-customer": func(r *transfer.Record) { r.CustomerID = "" },
		"same-id":        func(r *transfer.Record) { r.ID = "" },
		"backdated":      func(r *transfer.Record) { r.CreatedAt = r.CreatedAt.Add(-time.Hour) },
		"bare": func(r *transfer.Record) {
			r.RefID, r.BalanceAsset, r.GroupID, r.AutoConversion = "", "", "", nil
		},
		"novel":         func(r *transfer.Record) { r.CryptoNetwork = "NETWORK_OF_TOMORROW" },
		"novel-status":  func(r *transfer.Record) { r.Status = "SETTLING" },
		"fee=2":         func(r *transfer.Record) { r.Fee, r.Total = "2", "12" },
		"relinked":      func(r *transfer.Record) { r.GroupID = "" },
		"pending=1h":    func(r *transfer.Record) { r.Status = transfer.Pending },
		"credit-failed": func(*transfer.Record) {}, // of the other side
		"debit-failed":  func(r *transfer.Record) { r.Status = transfer.Failed },
		"versions":      func(*transfer.Record) {}, // in lookups alone
		"unreadable":    func(*transfer.Record) {}, // in lookups alone
		"answer=credit": func(r *transfer.Record) {
			r.ID, r.ProfileID, r.Direction, r.Type = "", landlord, "CREDIT", "INTERNAL_TRANSFER_CREDIT"
		},
		"fail": func(r *transfer.Record) { r.Status = transfer.Failed },
	}
	for fault, change := range tests {
		t.Run(fault, func(t *testing.T) {
			want := plain
			change(&want)
			got := open(t, sandbox.Options{}).made(body("a", "10"), fault)
			if want.ID == "" && got.ID != plain.ID {
				got.ID = ""
			}
			if want.ProfileID == "" && got.ProfileID != plain.ProfileID {
				got.ProfileID = ""
			}
			if want.CustomerID == "" && got.CustomerID != plain.CustomerID {
				got.CustomerID = ""
			}
			if want.GroupID == "" && got.GroupID != plain.GroupID {
				got.GroupID = ""
			}
			got.Raw, want.Raw, got.StatusDetails, got.SecondaryStatus = nil, nil, nil, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsOfTheLookup(t *testing.T) {
	now := newClock()
	c := open(t, sandbox.Options{Now: now.Now})
	c.made(body("a", "1"))
	directions := func(p page) string {
		var all []string
		for _, item := range p.Items {
			var r struct {
				Direction string `json:"direction"`
				RefID     string `json:"ref_id"`
			}
			if err := json.Unmarshal(item, &r); err != nil || r.RefID != "a" {
				t.Fatalf("%v: %s", err, item)
			}
			all = append(all, r.Direction)
		}
		return strings.Join(all, " ")
	}
	for fault, want := range map[string]string{
		"latency=0s": "DEBIT CREDIT", "lookup=debit": "DEBIT", "lookup=credit": "CREDIT", "lookup=none": "",
		"late=5s": "", "lookup=none,ref:b": "DEBIT CREDIT", "bare": "DEBIT CREDIT",
	} {
		if got := directions(c.lookup("ref_ids=a", fault)); got != want {
			t.Errorf("%s: the lookup shows %q, want %q", fault, got, want)
		}
	}
	for _, item := range c.lookup("ref_ids=a", "lookup=capitals").Items {
		if !strings.Contains(string(item), `"ref_id":"A"`) {
			t.Errorf("in capitals the lookup shows %s", item)
		}
	}
	now.Advance(5 * time.Second)
	if got := directions(c.lookup("ref_ids=a", "late=5s")); got != "DEBIT CREDIT" {
		t.Errorf("after five seconds the lookup shows %q", got)
	}
	if status, _ := c.do(http.MethodGet, sandbox.LookupPath("")+"?ref_ids=a", "", "lookup-error=500"); status != 500 {
		t.Errorf("lookup-error is answered %d", status)
	}
	if status, _ := c.do(http.MethodGet, sandbox.LookupPath("")+"?ref_ids=a", "", "nonsense"); status != 400 {
		t.Errorf("an unknown fault is answered %d", status)
	}
}

func TestTokenIsGoodForSoManyUses(t *testing.T) {
	c := open(t, sandbox.Options{Faults: sandbox.Faults{{Kind: sandbox.TokenExpired, Number: 2}}})
	for i, want := range []int{201, 201, 401, 401} {
		if status, _ := c.create(body(fmt.Sprint("r", i), "1")); status != want {
			t.Errorf("use %d is answered %d, want %d", i+1, status, want)
		}
	}
	c.token = c.getToken(sandbox.DefaultClientID, sandbox.DefaultClientSecret)
	if status, _ := c.create(body("other", "1")); status != 201 {
		t.Errorf("a new token is answered %d", status)
	}
}

// Chance hangs on the seed and the ref_id, not on the order of requests; another seed is
// another history; each attempt is another chance.
func TestChanceIsDecidedBySeed(t *testing.T) {
	history := func(seed uint64, refIDs []string) map[string]string {
		c := open(t, sandbox.Options{Seed: seed, Faults: sandbox.Faults{{Kind: sandbox.ErrorBefore, Percent: 50}}})
		statuses := make(map[string]string)
		for _, refID := range refIDs {
			for range 4 {
				status, _ := c.create(body(refID, "1"))
				statuses[refID] += fmt.Sprint(status, " ")
			}
		}
		return statuses
	}
	refIDs := manyRefIDs(20)
	first := history(1, refIDs)
	backwards := make([]string, 0, len(refIDs))
	for i := range refIDs {
		backwards = append(backwards, refIDs[len(refIDs)-1-i])
	}
	if diff := cmp.Diff(first, history(1, backwards)); diff != "" {
		t.Errorf("the order of requests matters:\n%s", diff)
	}
	if cmp.Equal(first, history(2, refIDs)) {
		t.Error("two seeds have one history")
	}
	all := strings.Join(valuesOf(first), "")
	if failed := strings.Count(all, "503"); failed < 20 || failed > 60 {
		t.Errorf("%d of 80 requests failed at 50%%", failed)
	}
}

func valuesOf(m map[string]string) []string {
	var values []string
	for _, v := range m {
		values = append(values, v)
	}
	return values
}

func TestScriptSeesRequestsAndDecides(t *testing.T) {
	var seen []string
	c := open(t, sandbox.Options{Script: func(r sandbox.Request) sandbox.Faults {
		if r.Number == 0 {
			return nil
		}
		seen = append(seen, fmt.Sprintf("%d %s %s attempt %d %d bytes", r.Number, r.Path, r.RefID, r.Attempt, len(r.Body)))
		if r.Attempt == 1 {
			return sandbox.Faults{{Kind: sandbox.ErrorAfter}}
		}
		return nil
	}})
	for _, want := range []int{503, 200} {
		if status, _ := c.create(body("a", "1")); status != want {
			t.Errorf("answered %d, want %d", status, want)
		}
	}
	n := len(body("a", "1"))
	want := []string{
		fmt.Sprintf("1 /v2/transfer/internal a attempt 1 %d bytes", n),
		fmt.Sprintf("2 /v2/transfer/internal a attempt 2 %d bytes", n),
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.sandbox.SetFaults(sandbox.Faults{{Kind: sandbox.Refuse}})
	if status, _ := c.create(body("b", "1")); status != 422 {
		t.Errorf("with a new fault it answered %d", status)
	}
}
