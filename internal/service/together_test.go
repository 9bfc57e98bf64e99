package service_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"remit/internal/service"
)

// TestFindSeesWhatAGatewayDrops asks through gateways that pass on some of the ref_ids.
func TestFindSeesWhatAGatewayDrops(t *testing.T) {
	all := func(asked []string) []string { return asked }
	first := func(asked []string) []string { return asked[:1] }
	last := func(asked []string) []string { return asked[len(asked)-1:] }
	firstThree := func(asked []string) []string { return asked[:min(3, len(asked))] }
	lastFive := func(asked []string) []string { return asked[max(0, len(asked)-5):] }
	alone, n, m := 1+2+7, 0, 0
	tests := map[string]struct {
		pass     func(asked []string) []string
		most     int // items in a list; 0 for all
		made     string
		requests int // of a lookup of 8 ref_ids
		next     int // and of the same one again, with the same client
	}{
		"nothing was made":                  {all, 0, "", 1, 1},
		"all were made":                     {all, 0, "abcdefgh", 1, 1},
		"some were made":                    {all, 0, "acd", 2, 2},
		"one was made":                      {all, 0, "h", 2, 2},
		"the first passes, of a lost state": {first, 0, "abcdefgh", alone, 8},
		"the first passes, and the next ones were not made": {first, 0, "ah", alone, 8},
		"the last passes":      {last, 0, "abch", alone, 8},
		"the first three pass": {firstThree, 0, "bg", alone, 8},
		"the first three pass, and the first two were made": {firstThree, 0, "abd", 1 + 2 + 6, 8},
		"the last five pass":        {lastFive, 0, "adh", 3 + 5, 8},
		"a list is cut after three": {all, 3, "abcdefgh", 1 + 2 + 5, 8},
		"a list lagged once": {func(asked []string) []string {
			if n++; n == 2 {
				return nil
			}
			return asked
		}, 0, "ad", 3, 2},
		"the first list lagged": {func(asked []string) []string {
			if m++; m == 1 {
				return asked[:1]
			}
			return asked
		}, 0, "ad", 4, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				var items []string
				for _, refID := range tt.pass(r.URL.Query()["ref_ids"]) {
					if strings.Contains(tt.made, refID) && (tt.most == 0 || len(items) < tt.most) {
						items = append(items, record(refID, refID+"1"))
					}
				}
				always(200, "", `{"items":[`+strings.Join(items, ",")+`]}`)(rw, r)
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				for i, want := range []int{tt.requests, tt.next} {
					before := w.requests
					found, err := c.Find(t.Context(), strings.Split("abcdefgh", ""))
					if err != nil {
						t.Fatal(err)
					}
					var made []string
					for refID, records := range found {
						for range records {
							made = append(made, refID)
						}
					}
					slices.Sort(made)
					if got := strings.Join(made, ""); got != tt.made {
						t.Errorf("lookup %d found %q, want %q", i+1, got, tt.made)
					}
					if got := w.requests - before; got != want {
						t.Errorf("lookup %d took %d requests, want %d", i+1, got, want)
					}
				}
			})
		})
	}
}

// TestFindTellsThatItAsksForEachAlone is what a trial hears.
func TestFindTellsThatItAsksForEachAlone(t *testing.T) {
	var told []string
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		always(200, "", `{"items":[`+record(r.URL.Query().Get("ref_ids"), "x")+`]}`)(rw, r)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		if found, err := c.Find(t.Context(), []string{"a", "b"}); err != nil || len(found) != 2 {
			t.Errorf("%v, %v", found, err)
		}
	}, func(o *service.Options) {
		o.WatchList = func(l service.List) { told = append(told, fmt.Sprint(l.Asked, l.Alone)) }
	})
	if want := []string{"2 false", "2 false", "2 false", "1 true"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
