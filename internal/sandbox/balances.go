package sandbox

import (
	"errors"
	"net/http"
	"slices"

	"github.com/shopspring/decimal"
)

// profileBalance is what a profile has of an asset, as the service says it.
type profileBalance struct {
	Asset     string `json:"asset"`
	Available string `json:"available"`
	Trading   string `json:"trading"`
}

// Deposit adds to what a profile has, as a payment from outside does. It is an error where every profile
// has enough of everything.
func (s *Sandbox) Deposit(b Balance) error {
	if !s.isLimited() {
		return errors.New("every profile has enough")
	}
	return s.ledger.do(func(*batch) error {
		of := account{b.ProfileID, b.Asset}
		s.ledger.opening[of] = s.ledger.opening[of].Add(b.Amount)
		return nil
	})
}

// isLimited reports whether profiles can have too little.
func (s *Sandbox) isLimited() bool { return len(s.options.OpeningBalances) > 0 }

// serveBalances answers what a profile has of each asset that it ever had or moved, or of those that the
// query names. Where every profile has enough of everything, there are no balances to be told.
func (s *Sandbox) serveBalances(w http.ResponseWriter, r *http.Request) {
	if _, _, ok := s.admit(w, r); !ok {
		return
	}
	if !s.isLimited() {
		fail(w, http.StatusNotFound, "no-balances", "This sandbox was given no opening balances: every profile has enough")
		return
	}
	all, err := s.Balances(r.Context())
	if err != nil {
		fail(w, http.StatusInternalServerError, "ledger", "The ledger failed")
		return
	}
	assets := r.URL.Query()["assets"]
	list := struct {
		Items []profileBalance `json:"items"`
	}{Items: []profileBalance{}}
	for _, b := range all {
		if b.ProfileID == r.PathValue("profile_id") && (len(assets) == 0 || slices.Contains(assets, b.Asset)) {
			list.Items = append(list.Items, profileBalance{b.Asset, b.Amount.String(), decimal.Zero.String()})
		}
	}
	write(w, http.StatusOK, s.encode(list))
}
