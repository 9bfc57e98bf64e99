package service_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/internal/service"
)

// TestALookupGoesPastACache has a cache that gives each list again as it was, without an Age, whatever it is asked for.
func TestALookupGoesPastACache(t *testing.T) {
	for _, refIDs := range [][]string{{"pay-1"}, {"7"}, {"ä & 100%/="}, {"支払い"}, {"a", "b"}, {"rent", "a b", "c"}} {
		isMade := false
		kept := make(map[string]*httptest.ResponseRecorder) // by the address as it was written
		w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
			if got := r.URL.Query()["ref_ids"]; !slices.Equal(got, refIDs) {
				t.Errorf("%s asks for %q, want %q", r.URL, got, refIDs)
			}
			if plain := "/v2/transfers?" + strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"); len(kept) == 0 && r.RequestURI != plain {
				t.Errorf("the first lookup is %s", r.RequestURI)
			}
			if kept[r.RequestURI] == nil {
				items := `{"items":[`
				for i, refID := range r.URL.Query()["ref_ids"] {
					if isMade && i > 0 {
						items += ","
					}
					if isMade {
						items += record(refID, refID+"1")
					}
				}
				answer := httptest.NewRecorder()
				always(200, "", items+`]}`)(answer, r)
				kept[r.RequestURI] = answer
			}
			always(200, "", kept[r.RequestURI].Body.String())(rw, r)
		}}
		w.in(t, func(t *testing.T, c *service.Client) {
			for range 3 { // before anything is made
				if found, err := c.Find(t.Context(), refIDs); err != nil || len(found) != 0 {
					t.Errorf("%q: found %v: %v", refIDs, found, err)
				}
				time.Sleep(time.Second)
			}
			isMade = len(refIDs[0]) > 1 || len(refIDs) > 1 // a single letter can be written in two ways
			if found, err := c.Find(t.Context(), refIDs); err != nil || isMade && len(found) != len(refIDs) {
				t.Errorf("%q: found %v: %v", refIDs, found, err)
			}
		})
	}
}
