package transfer_test

import (
	"slices"
	"testing"

	"remit/internal/transfer"
)

func TestTheOperatorStandsInThePathAndTheTypes(t *testing.T) {
	for operator, want := range map[transfer.Operator]struct {
		path          string
		debit, credit transfer.RecordType
	}{
		"":          {"/v2/transfer/platform", "PLATFORM_TRANSFER_DEBIT", "PLATFORM_TRANSFER_CREDIT"},
		"platform":  {"/v2/transfer/platform", "PLATFORM_TRANSFER_DEBIT", "PLATFORM_TRANSFER_CREDIT"},
		"acme":      {"/v2/transfer/acme", "ACME_TRANSFER_DEBIT", "ACME_TRANSFER_CREDIT"},
		"acme-pay2": {"/v2/transfer/acme-pay2", "ACME_PAY2_TRANSFER_DEBIT", "ACME_PAY2_TRANSFER_CREDIT"},
	} {
		t.Run(string(operator), func(t *testing.T) {
			if got := operator.Path(transfer.Platform); got != want.path {
				t.Errorf("path %s, want %s", got, want.path)
			}
			if got := operator.RecordType(transfer.Platform, transfer.Debit); got != want.debit {
				t.Errorf("type %s, want %s", got, want.debit)
			}
			if got := operator.RecordType(transfer.Platform, transfer.Credit); got != want.credit {
				t.Errorf("type %s, want %s", got, want.credit)
			}
			if got := operator.Path(transfer.Internal); got != "/v2/transfer/internal" {
				t.Errorf("path %s of an internal transfer", got)
			}
			if got := operator.RecordType(transfer.Internal, transfer.Debit); got != "INTERNAL_TRANSFER_DEBIT" {
				t.Errorf("type %s of an internal transfer", got)
			}
		})
	}
}

func TestOperatorsThatCannotStandInAPath(t *testing.T) {
	for operator, want := range map[transfer.Operator]bool{
		"platform": true, "acme-pay_2": true, "a": true,
		"": false, "2acme": false, "-a": false, "_a": false, "Acme": false, "a/b": false, "..": false, "a b": false,
		"a?b": false, "a%2f": false, "é": false, "a\n": false, "a.b": false,
	} {
		if got := operator.Valid(); got != want {
			t.Errorf("%q is valid: %v", operator, got)
		}
	}
}

func TestOperationsAndEnumerations(t *testing.T) {
	for _, op := range transfer.Operations() {
		if !op.Known() {
			t.Errorf("%s is not known", op)
		}
		for _, side := range []transfer.Direction{transfer.Debit, transfer.Credit} {
			if !side.Known() {
				t.Errorf("%s is not known", side)
			}
			if kind := transfer.DefaultOperator.RecordType(op, side); !slices.Contains(transfer.RecordTypes(), kind) {
				t.Errorf("the document does not list %s", kind)
			}
		}
	}
	if transfer.Operation("wire").Known() || transfer.Direction("debit").Known() || transfer.RecordStatus("Pending").Known() {
		t.Error("what the document does not list is known")
	}
	if n := len(transfer.RecordTypes()); n != 18 {
		t.Errorf("the service's document lists 18 types, not %d", n)
	}
	if n := len(transfer.CryptoNetworks()); n != 9 {
		t.Errorf("the service's document lists 9 networks, not %d", n)
	}
}
