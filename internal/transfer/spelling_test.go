package transfer_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/transfer"
)

// TestLettersChangeNoMovement writes the asset and the parties of a request in other letters: it is a
// twin to the same destination, with a fingerprint and a body of its own.
func TestLettersChangeNoMovement(t *testing.T) {
	const profile, identity = "37867177-f88c-45cc-b9b5-d786e7079609", "fd51a06f-31aa-5402-9245-363ab611c818"
	plain := transfer.Request{
		Operation: transfer.Internal, RefID: "rent", Amount: transfer.MustAmount("8200.00"), Asset: "USD",
		FromProfileID: "treasury", ToProfileID: profile, ToIdentityID: identity,
	}
	rapid.Check(t, func(t *rapid.T) {
		letters := func(text string) string {
			return strings.Map(func(c rune) rune {
				if rapid.Bool().Draw(t, "capital") {
					return []rune(strings.ToUpper(string(c)))[0]
				}
				return []rune(strings.ToLower(string(c)))[0]
			}, text)
		}
		other := plain
		other.Asset, other.ToProfileID, other.ToIdentityID = letters(plain.Asset), letters(profile), letters(identity)
		if other.Twin() != plain.Twin() || !other.IsTwin(&plain) || other.Destination() != plain.Destination() {
			t.Errorf("%s is no twin of %s", other.Body(), plain.Body())
		}
		if isSame := other.Asset == plain.Asset && other.ToProfileID == profile && other.ToIdentityID == identity; isSame != (other.Fingerprint() == plain.Fingerprint()) ||
			isSame != (string(other.Body()) == string(plain.Body())) {
			t.Errorf("letters of %s: the fingerprint and the body are those of what is declared", other.Body())
		}
		if one := other.OneSpelling(); one.Twin() != plain.Twin() || one.OneSpelling().Fingerprint() != one.Fingerprint() {
			t.Errorf("%s has another spelling", one.Body())
		}
	})
	other := plain
	other.FromProfileID = "Treasury" // no UUID: a name may hang on its letters
	if other.IsTwin(&plain) {
		t.Error("names in other letters are the same party")
	}
}
