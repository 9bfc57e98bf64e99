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
		if one := other.OneSpelling(); other.IsSpelled() != (one.Fingerprint() == other.Fingerprint()) || !one.IsSpelled() || one.Twin() != plain.Twin() || one.OneSpelling().Fingerprint() != one.Fingerprint() {
			t.Errorf("%s has another spelling", one.Body())
		}
	})
	for _, form := range []string{
		"37867177f88c45ccb9b5d786e7079609", "{37867177-f88c-45cc-b9b5-d786e7079609}", "{37867177F88C45CCB9B5D786E7079609}",
		"urn:uuid:37867177-f88c-45cc-b9b5-d786e7079609", "URN:UUID:37867177-F88C-45CC-B9B5-D786E7079609",
		"3786-7177-f88c-45cc-b9b5-d786-e707-9609", "(37867177-f88c-45cc-b9b5-d786e7079609)",
	} {
		other := plain
		other.ToProfileID = form
		if other.Twin() != plain.Twin() || !other.IsTwin(&plain) || !plain.IsTwin(&other) || other.Destination() != plain.Destination() {
			t.Errorf("%s is another UUID", form)
		}
		if other.Fingerprint() == plain.Fingerprint() || !strings.Contains(string(other.Body()), form) {
			t.Errorf("%s is not sent as it is declared", form)
		}
		if one := other.OneSpelling(); one.ToProfileID != profile {
			t.Errorf("%s is spelled %s", form, one.ToProfileID)
		}
	}
	for _, form := range []string{
		"37867177f88c45ccb9b5d786e707960", "37867177f88c45ccb9b5d786e70796090", "{37867177-f88c-45cc-b9b5-d786e7079609", "37867177-f88c-45cc-b9b5-d786e7079609-",
		"-37867177-f88c-45cc-b9b5-d786e707960", "urn:uuid37867177-f88c-45cc-b9b5-d786e7079609", "37867177-f88c-45cc-b9b5-d786e707960g", "37867177-f88c-45cc-b9b5-d786e7079608",
	} {
		other := plain
		if other.ToProfileID = form; other.IsTwin(&plain) || other.Destination() == plain.Destination() || other.OneSpelling().ToProfileID != form {
			t.Errorf("%s is taken for %s", form, profile)
		}
	}
	other := plain
	other.FromProfileID = "Treasury" // no UUID: a name may hang on its letters
	if other.IsTwin(&plain) {
		t.Error("names in other letters are the same party")
	}
}

// TestAnAnswerMayNormaliseAUUID has a service answer parties in the usual spelling of their UUIDs, which agrees, and another
// UUID, which does not.
func TestAnAnswerMayNormaliseAUUID(t *testing.T) {
	request := transfer.Request{
		Operation: transfer.Internal, RefID: "rent", Amount: transfer.MustAmount("1"), Asset: "USD",
		FromProfileID: "{37867177F88C45CCB9B5D786E7079609}", FromIdentityID: "FD51A06F31AA54029245363AB611C818", ToProfileID: "landlord",
	}
	record := transfer.Record{
		ID: "r", ProfileID: "37867177-f88c-45cc-b9b5-d786e7079609", IdentityID: "fd51a06f-31aa-5402-9245-363ab611c818",
		Amount: "1", Asset: "USD", Direction: transfer.Debit, Type: "INTERNAL_TRANSFER_DEBIT",
	}
	if differences := transfer.Compare(request, record, transfer.DefaultOperator); len(differences) > 0 {
		t.Errorf("one UUID in two spellings: %v", differences)
	}
	record.IdentityID = "fd51a06f-31aa-5402-9245-363ab611c819"
	if differences := transfer.Compare(request, record, transfer.DefaultOperator); len(differences) != 1 || differences[0].Field != "identity_id" {
		t.Errorf("another UUID: %v", differences)
	}
	newer := record
	newer.ProfileID = request.FromProfileID
	if differences := transfer.CompareCopies(record, newer); len(differences) > 0 {
		t.Errorf("copies with one UUID in two spellings: %v", differences)
	}
}
