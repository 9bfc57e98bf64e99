package service_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"remit/internal/service"
	"remit/internal/service/operator"
)

func saysBalances(o *service.Options) {
	o.BalancePath = "/v2/profiles/" + operator.ProfilePart + "/balances"
}

// TestBalancesAreReadOrNot has every kind of answer, of which none is taken for a balance that it is not.
func TestBalancesAreReadOrNot(t *testing.T) {
	usd := func(available string) string { return `{"items":[{"asset":"USD","available":` + available + `}]}` }
	tests := map[string]struct {
		status      int
		body        string
		want, amiss string // of USD: the amount, or a part of why there is none
	}{
		"a decimal":                    {200, usd(`"12.34"`), "12.34", ""},
		"without the zero":             {200, usd(`".5"`), "0.5", ""},
		"an overdrawn profile":         {200, usd(`"-3"`), "-3", ""},
		"among others":                 {200, `{"items":[{"asset":"EUR","available":"1"},{"asset":"usd","available":"2","trading":"9"}],"x":1}`, "2", ""},
		"an asset that is absent":      {200, `{"items":[]}`, "", "does not have the asset"},
		"twice":                        {200, `{"items":[{"asset":"USD","available":"1"},{"asset":"USD","available":"1"}]}`, "", "two balances"},
		"a number of JSON":             {200, usd(`12.34`), "", "not a number"},
		"an exponent":                  {200, usd(`"1e999999999"`), "", "not a number"},
		"null":                         {200, usd(`null`), "", "not a number"},
		"a key that stands twice":      {200, `{"items":[],"items":[{"asset":"USD","available":"1"}]}`, "", "JSON object"},
		"an item's key twice":          {200, `{"items":[{"asset":"USD","available":"1","available":"2"}]}`, "", "an item"},
		"an item without an asset":     {200, `{"items":[{"available":"1"},{"asset":"USD","available":"2"}]}`, "", "no asset"},
		"no list":                      {200, `{"items":null}`, "", "no list"},
		"no JSON":                      {200, `<html>`, "", "JSON object"},
		"more than can be read":        {200, usd(`"1"`) + strings.Repeat(" ", 1<<20), "", "longer than"},
		"another success":              {203, usd(`"1"`), "", "203"},
		"no scope":                     {403, `{"title":"No"}`, "", "scopes"},
		"no such place":                {404, ``, "", "balance_path"},
		"a redirect":                   {302, ``, "", "302"},
		"a failure that does not pass": {500, `{"title":"` + secret + `"}`, "", "[removed]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: always(tt.status, "Date: Mon, 23 Nov 2026 04:00:00 GMT", tt.body)}
			w.in(t, func(t *testing.T, c *service.Client) {
				got, err := c.Balances(t.Context(), "p1")
				if err == nil && got.At.IsZero() {
					t.Error("it does not say when that was")
				}
				amount, amiss := got.Of("USD")
				if err != nil {
					amiss = err
				}
				switch {
				case tt.amiss == "" && (amiss != nil || amount.String() != tt.want):
					t.Errorf("%s, %v", amount, amiss)
				case tt.amiss != "" && (amiss == nil || !strings.Contains(amiss.Error(), tt.amiss) || strings.Contains(amiss.Error(), secret)):
					t.Errorf("%v, want %q", amiss, tt.amiss)
				}
			}, saysBalances)
		})
	}
}

// TestAProfileLeadsNowhereElse has IDs that would be other paths, queries or hosts.
func TestAProfileLeadsNowhereElse(t *testing.T) {
	var asked []string
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI)
		_, _ = io.WriteString(rw, `{"items":[]}`)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		for _, profileID := range []string{"p1", "a/../b", "a?b#c", "//host/x", "%2e%2e", "ä", "a b"} {
			if _, err := c.Balances(t.Context(), profileID); err != nil {
				t.Errorf("%s: %v", profileID, err)
			}
		}
		for _, profileID := range []string{"", ".", ".."} {
			if _, err := c.Balances(t.Context(), profileID); err == nil {
				t.Errorf("%q was asked about", profileID)
			}
		}
	}, saysBalances)
	want := []string{"p1", "a%2F..%2Fb", "a%3Fb%23c", "%2F%2Fhost%2Fx", "%252e%252e", "%C3%A4", "a%20b"}
	if len(asked) != len(want) {
		t.Fatalf("asked: %q", asked)
	}
	for i := range want {
		if asked[i] != "GET /v2/profiles/"+want[i]+"/balances" {
			t.Errorf("asked %s, want %s", asked[i], want[i])
		}
	}
}

// TestBalancesAreAskedForAgain has a token that is refused once, and a service that is busy once.
func TestBalancesAreAskedForAgain(t *testing.T) {
	asked := 0
	w := &world{api: func(rw http.ResponseWriter, _ *http.Request) {
		switch asked++; asked {
		case 1:
			rw.WriteHeader(http.StatusUnauthorized)
		case 2:
			rw.Header().Set("Retry-After", "3")
			rw.WriteHeader(http.StatusTooManyRequests)
		default:
			_, _ = io.WriteString(rw, `{"items":[{"asset":"USD","available":"1"}]}`)
		}
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		got, err := c.Balances(t.Context(), "p1")
		if amount, amiss := got.Of("USD"); err != nil || amiss != nil || amount.String() != "1" || asked != 3 {
			t.Errorf("%s after %d requests: %v, %v", amount, asked, err, amiss)
		}
	}, saysBalances)
}
