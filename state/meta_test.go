package state_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/statetest"
)

func TestOneClientOfOneServiceHoweverItIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		a, b string
		want bool
	}{
		"the same":                      {"https://api.example.com", "https://api.example.com", true},
		"a dot at the end of the host":  {"https://api.example.com", "https://api.example.com.", true},
		"a dot before the port":         {"https://api.example.com:8443/v1", "https://api.example.com.:8443/v1", true},
		"zeros before the default port": {"https://api.example.com", "https://api.example.com:0443", true},
		"zeros before another port":     {"http://localhost:8080", "http://localhost:008080", true},
		"capitals":                      {"https://api.example.com", "https://API.example.com", true},
		"letters of twice the width":    {"https://api.example.com", "https://ａｐｉ。example．com", true},
		"an IPv6 address, longer":       {"http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080", true},
		"an IPv4 address in IPv6":       {"http://127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080", true},
		"an escaped letter of the path": {"https://api.example.com/v1", "https://api.example.com/%761", true},
		"two slashes in the path":       {"https://api.example.com/a/b", "https://api.example.com/a//b", true},
		"another host":                  {"https://api.example.com", "https://api.example.org", false},
		"another port":                  {"https://api.example.com", "https://api.example.com:8443", false},
		"another path":                  {"https://api.example.com/v1", "https://api.example.com/V1", false},
		"the sandbox and an address":    {"sandbox", "https://sandbox", false},
		"the sandbox and the sandbox":   {"sandbox", "sandbox", true},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := state.Identity{BaseURL: c.a, Operator: "platform", ClientID: "finance"}, state.Identity{BaseURL: c.b, Operator: "platform", ClientID: "finance"}
			if a.HasClientOf(b) != c.want || b.HasClientOf(a) != c.want {
				t.Errorf("%s and %s: not %t", c.a, c.b, c.want)
			}
			if b.ClientID = "payroll"; a.HasClientOf(b) {
				t.Error("another client is taken for the same")
			}
		})
	}
}

func TestNormalizeBaseURL(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{ // want "" for refused
		"as it should be":                {"https://api.example.com", "https://api.example.com"},
		"capitals and a slash":           {"HTTPS://API.Example.COM/", "https://api.example.com"},
		"the default port of https":      {"https://api.example.com:443/v1/", "https://api.example.com/v1"},
		"the default port of http":       {"http://127.0.0.1:80", "http://127.0.0.1"},
		"another port":                   {"http://127.0.0.1:8080//", "http://127.0.0.1:8080"},
		"a port that is missing":         {"https://api.example.com:", "https://api.example.com"},
		"an IPv6 address":                {"https://[::1]:443/", "https://[::1]"},
		"the port of the other scheme":   {"https://api.example.com:80", "https://api.example.com:80"},
		"capitals of a path stay":        {"https://api.example.com/V1", "https://api.example.com/V1"},
		"no scheme":                      {"api.example.com", ""},
		"another scheme":                 {"ftp://api.example.com", ""},
		"no host":                        {"https:///v1", ""},
		"a password":                     {"https://u:p@api.example.com", ""},
		"a query":                        {"https://api.example.com?x=1", ""},
		"an empty query":                 {"https://api.example.com?", ""},
		"a fragment":                     {"https://api.example.com/#x", ""},
		"an empty fragment":              {"https://api.example.com/#", ""},
		"dots in the path":               {"https://api.example.com/a/../b", ""},
		"encoded dots in the path":       {"https://api.example.com/a/%2e%2e/b", ""},
		"nothing":                        {"", ""},
		"a control character":            {"https://api.example.com/\x00", ""},
		"a port that is not a number":    {"https://api.example.com:x", ""},
		"a path whose encoding is wrong": {"https://api.example.com/%zz", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := state.NormalizeBaseURL(c.text)
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func FuzzNormalizeBaseURL(f *testing.F) {
	f.Add("https://api.example.com:443/")
	f.Add("http://[::1]:80/a/%2E/b")
	f.Fuzz(func(t *testing.T, text string) {
		once, err := state.NormalizeBaseURL(text)
		if err != nil {
			return
		}
		if twice, err := state.NormalizeBaseURL(once); err != nil || twice != once {
			t.Errorf("%q becomes %q, and that %q, %v", text, once, twice, err)
		}
	})
}

func TestMetaCheckNamesAllThatDiffers(t *testing.T) {
	meta := state.Meta{
		Lineage: "l", Environment: "production",
		Service: state.Identity{BaseURL: "https://a", Operator: "platform", ClientID: "c", CustomerID: "k"},
	}
	other := state.Identity{BaseURL: "https://b", Operator: "acme", ClientID: "d", CustomerID: "m"}
	unknown := meta.Service
	unknown.CustomerID = ""
	elsewhere, spelled := meta.Service, meta.Service
	elsewhere.TokenURL, spelled.TokenURL = "https://b", "https://a"
	for name, c := range map[string]struct {
		environment, lineage string
		service              state.Identity
		want                 []state.Mismatch
	}{
		"the same":                    {"production", "l", meta.Service, nil},
		"no lineage and no customer":  {"production", "", unknown, nil},
		"another environment":         {"test", "l", meta.Service, []state.Mismatch{{"environment", "production", "test"}}},
		"another lineage":             {"production", "x", meta.Service, []state.Mismatch{{"lineage", "l", "x"}}},
		"an environment without name": {"", "l", meta.Service, []state.Mismatch{{"environment", "production", ""}}},
		"tokens from elsewhere":       {"production", "l", elsewhere, []state.Mismatch{{"token_url", "https://a", "https://b"}}},
		"tokens from the same place":  {"production", "l", spelled, nil},
		"another service": {"production", "l", other, []state.Mismatch{
			{"base_url", "https://a", "https://b"},
			{"operator", "platform", "acme"},
			{"client_id", "c", "d"},
			{"customer_id", "k", "m"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			err := meta.Check(c.environment, c.lineage, c.service)
			var mismatch *state.MismatchError
			errors.As(err, &mismatch)
			var got []state.Mismatch
			if mismatch != nil {
				got = mismatch.Mismatches
			}
			if diff := cmp.Diff(c.want, got); diff != "" || (err == nil) != (c.want == nil) {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

func TestTokenOriginIsEmptyForThatOfTheService(t *testing.T) {
	const base = "https://api.example.com/v1"
	for name, c := range map[string]struct{ token, want string }{
		"another path":             {"https://api.example.com/oauth2/token", ""},
		"no path":                  {"https://api.example.com", ""},
		"another host":             {"https://oauth.example.com/oauth2/token", "https://oauth.example.com"},
		"a host that begins alike": {"https://api.example.com.evil.example/v1", "https://api.example.com.evil.example"},
		"a host below it":          {"https://x.api.example.com/v1", "https://x.api.example.com"},
		"another port":             {"https://api.example.com:8443/v1", "https://api.example.com:8443"},
		"another scheme":           {"http://api.example.com/v1", "http://api.example.com"},
		"an IPv6 address":          {"https://[::1]:8443/token", "https://[::1]:8443"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := state.TokenOrigin(c.token, base); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheFirstRecordNamesTheCustomer(t *testing.T) {
	of := func(source state.Source, customer string) state.Outcome {
		o := outcome(source, state.Adopted)
		o.Records[0] = statetest.Record("a", "r", customer, "10.00", transfer.Completed)
		return o
	}
	conflict := outcome(state.SourceAnswer, state.Conflict)
	conflict.Records = of(state.SourceAnswer, "another").Records
	for name, c := range map[string]struct {
		before  string
		outcome state.Outcome
		want    string
		refused bool
	}{
		"the first one":                    {"", of(state.SourceAnswer, "k"), "k", false},
		"the first one of an import":       {"", of(state.SourceImport, "k"), "k", false},
		"the same again":                   {"k", of(state.SourceLookup, "k"), "k", false},
		"another one":                      {"k", of(state.SourceAnswer, "another"), "k", true},
		"another one that a person gives":  {"k", of(state.SourcePerson, "another"), "k", false},
		"another one that is in conflict":  {"k", conflict, "k", false},
		"a conflict before any record":     {"", conflict, "", false},
		"an outcome without a record":      {"k", outcome(state.SourceAnswer, state.Refused), "k", false},
		"another one that a lookup brings": {"k", of(state.SourceLookup, "another"), "k", true},
	} {
		t.Run(name, func(t *testing.T) {
			draft, err := state.NewDraft(c.outcome)
			if err != nil {
				t.Fatal(err)
			}
			got, err := state.Meta{Lineage: "l", Service: state.Identity{CustomerID: c.before}}.Apply(draft, 7, start)
			var customer *state.CustomerError
			if errors.As(err, &customer) != c.refused {
				t.Errorf("got %v", err)
			}
			if got.Service.CustomerID != c.want {
				t.Errorf("got customer %q, want %q", got.Service.CustomerID, c.want)
			}
		})
	}
}

func TestRunsBeginOnceAndEndOnce(t *testing.T) {
	begun, ended := state.Begun{RunID: "run"}, state.Ended{RunID: "run"}
	for name, c := range map[string]struct {
		entries []state.Entry
		refused bool
	}{
		"begun":              {[]state.Entry{begun}, false},
		"begun and ended":    {[]state.Entry{begun, ended}, false},
		"begun twice":        {[]state.Entry{begun, begun}, true},
		"ended first":        {[]state.Entry{ended}, true},
		"ended twice":        {[]state.Entry{begun, ended, ended}, true},
		"begun after an end": {[]state.Entry{begun, ended, begun}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var run state.Run
			var err error
			for _, entry := range c.entries {
				draft, draftErr := state.NewDraft(entry)
				if draftErr != nil {
					t.Fatal(draftErr)
				}
				if run, err = run.Apply(draft, start); err != nil {
					break
				}
			}
			if errors.Is(err, state.ErrRun) != c.refused {
				t.Errorf("got %v", err)
			}
		})
	}
}
