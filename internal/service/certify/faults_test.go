package certify_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/internal/sandbox"
	"remit/internal/service/contract"
)

// named is a fault of the sandbox, and what a trial says of it.
type named struct {
	fault   string
	row     string
	verdict contract.Verdict // Holds for a liberty of the contract, which is noted
	says    string
	timeout time.Duration // of a request; 0 for 20 s
}

func namedFaults() []named {
	const differs, holds = contract.Differs, contract.Holds
	return []named{
		{fault: "latency=30s", row: contract.Answer, verdict: differs, says: "no whole answer within 20s"},
		{fault: "token-expired", row: contract.TokenLife, verdict: differs, says: "refused, with 401, a token"},
		{fault: "token-expired=1", row: contract.TokenLife, verdict: differs, says: "refused, with 401, a token"},
		{fault: "reset-before", row: contract.Answer, verdict: differs, says: "No answer was read"},
		{fault: "hang", row: contract.Answer, verdict: differs, says: "no whole answer within 20s. A lookup did not list it"},
		{fault: "error-before", row: contract.Answer, verdict: differs, says: "the transfer may or may not have been made. A lookup did not list it"},
		{fault: "throttled=2s", row: contract.Pace, verdict: differs, says: "429 Too Many Requests"},
		{fault: "too-early", row: contract.Pace, verdict: differs, says: "425 Too Early"},
		{fault: "redirect", row: contract.Redirect, verdict: differs, says: "307 Temporary Redirect"},
		{fault: "refuse", row: contract.Accepted, verdict: differs, says: "422 Unprocessable Entity (This sandbox was told to refuse)"},

		{fault: "lost-answer", row: contract.Answer, verdict: differs, says: "the connection was closed. A lookup says that it was made"},
		{fault: "lost-answer=#3", row: contract.Answer, verdict: differs, says: "the connection was closed. A lookup says that it was made"},
		{fault: "hang-after", row: contract.Answer, verdict: differs, says: "no whole answer within 20s. A lookup says that it was made"},
		{fault: "error-after", row: contract.Answer, verdict: differs, says: "the transfer may or may not have been made. A lookup says that it was made"},
		{fault: "half-answer", row: contract.AnswerRecord, verdict: differs, says: "could not be read whole"},
		{fault: "endless", row: contract.AnswerRecord, verdict: differs, says: "longer than 1048576 bytes"},
		{fault: "garbage", row: contract.AnswerRecord, verdict: differs, says: "no transfer record could be read from it"},
		{fault: "answer=credit", row: contract.Side, verdict: differs, says: "The answer is the credit side"},
		{fault: "answer=none", row: contract.AnswerRecord, verdict: differs, says: "204 No Content"},

		{fault: "fail", row: contract.Completed, verdict: differs, says: "FAILED"},
		{fault: "pending=2m", row: contract.Completed, verdict: differs, says: "still PENDING after 1m"},
		{fault: "pending=10s", row: contract.Completed, verdict: holds, says: "PENDING in the answer, and COMPLETED in a later lookup"},
		{fault: "pending-more=3", row: contract.Completed, verdict: holds, says: "PENDING in the answer, and COMPLETED in a later lookup"},
		{fault: "replay=409", row: contract.ReplayAnswer, verdict: holds, says: "with 409, without the record: a lookup settles it"},
		{fault: "replay=409-existing", row: contract.ReplayAnswer, verdict: holds, says: "with 409, and the first record"},
		{fault: "replay=ignore-body", row: contract.ReplayOther, verdict: holds, says: "the service does not see that the request is another one"},
		{fault: "forget=1", row: contract.Replay, verdict: differs, says: "made a second transfer of the same request after other transfers were made"},
		{fault: "forget=4", row: contract.Replay, verdict: differs, says: "made a second transfer of the same request after other transfers were made"},
		{fault: "lookup=debit", row: contract.LookupSides, verdict: differs, says: "the debit side alone"},
		{fault: "lookup=credit", row: contract.LookupSides, verdict: differs, says: "the credit side alone"},
		{fault: "lookup=none", row: contract.LookupFound, verdict: differs, says: "was not listed"},
		{fault: "lookup=capitals", row: contract.LookupRecord, verdict: differs, says: "differs from"},
		{fault: "late=10s", row: contract.LookupLag, verdict: holds, says: "It was listed 1"},
		{fault: "late=40s", row: contract.LookupLag, verdict: holds, says: "remit waits for 23s in all"},
		{fault: "late=5m", row: contract.LookupLag, verdict: differs, says: "It was not listed 1m after its answer"},
		{fault: "lookup-error", row: contract.Lookup, verdict: differs, says: "503 Service Unavailable"},
		{fault: "token-error", row: contract.Token, verdict: differs, says: "503 Service Unavailable"},

		{fault: "rescaled", row: contract.Amount, verdict: holds, says: "1.05000000 for 1.05"},
		{fault: "wrong-amount", row: contract.Amount, verdict: differs, says: "Answered amount 2.05, asked 1.05"},
		{fault: "wrong-asset", row: contract.Asset, verdict: differs, says: "Answered asset EUR, asked USD"},
		{fault: "wrong-profile", row: contract.Profile, verdict: differs, says: "Answered profile_id"},
		{fault: "wrong-ref-id", row: contract.RefID, verdict: differs, says: "Answered ref_id"},
		{fault: "wrong-customer=#2", row: contract.CustomerID, verdict: differs, says: "2 customer_ids"},
		{fault: "same-id", row: contract.RecordID, verdict: differs, says: "has the id of that of"},
		{fault: "backdated", row: contract.CreatedAt, verdict: differs, says: "created_at is 1h"},
		{fault: "bare", row: contract.GroupID, verdict: differs, says: "no group_id"},
		{fault: "novel", row: contract.Form, verdict: holds, says: `"settlement_layer"`},
		{fault: "novel", row: contract.Form, verdict: holds, says: `NETWORK_OF_TOMORROW`},
		{fault: "novel-status", row: contract.Status, verdict: differs, says: "SETTLING"},
		{fault: "fee=2", row: contract.Total, verdict: holds, says: "takes a fee: 2 USD"},
		{fault: "relinked", row: contract.GroupID, verdict: differs, says: "has the group_id of that of"},
		{fault: "ungrouped", row: contract.GroupID, verdict: differs, says: "no group_id"},
		{fault: "wrong-total", row: contract.Total, verdict: differs, says: "total is 991.05 where amount is 1.05"},
		{fault: "credit-failed", row: contract.LookupCredit, verdict: differs, says: "the credit side is FAILED"},
		{fault: "debit-failed", row: contract.LookupCredit, verdict: differs, says: "The debit side is FAILED, and the credit side is COMPLETED"},
		{fault: "answer=failed", row: contract.Completed, verdict: differs, says: "FAILED in the answer, and COMPLETED in a later lookup"},
		{fault: "versions", row: contract.LookupRecord, verdict: holds, says: "older copies"},
		{fault: "lacking=total", row: contract.AnswerRecord, verdict: differs, says: "total"},
		{fault: "lacking=fee", row: contract.AnswerRecord, verdict: differs, says: "fee"},
		{fault: "lacking=status", row: contract.AnswerRecord, verdict: differs, says: "status"},
		{fault: "lacking=created_at", row: contract.AnswerRecord, verdict: differs, says: "created_at"},
		{fault: "lacking=updated_at", row: contract.AnswerRecord, verdict: differs, says: "updated_at"},
		{fault: "liberties", row: contract.LookupSides, verdict: holds, says: "The credit side has no ref_id"},
		{fault: "liberties", row: contract.Amount, verdict: holds, says: ".1 for 0.10"},
		{fault: "unreadable", row: contract.LookupRecord, verdict: differs, says: "can't be read"},
	}
}

// TestEachFaultOfTheSandboxIsNamed has a trial find every fault that the sandbox has.
func TestEachFaultOfTheSandboxIsNamed(t *testing.T) {
	suite.Slow(t)
	walked := make(map[string]bool)
	for _, tt := range namedFaults() {
		kind, value, _ := strings.Cut(tt.fault, "=")
		walked[kind] = true
		walked[kind+"="+value] = true
		t.Run(tt.fault+" "+tt.row, func(t *testing.T) {
			t.Parallel()
			inSandbox(t, sandbox.Options{}, func(t *testing.T, w *world) {
				w.timeout = cmp.Or(tt.timeout, w.timeout)
				report, err := w.try(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				found := findings(report)[tt.row]
				if found.Verdict != tt.verdict || !strings.Contains(found.Seen, tt.says) {
					t.Errorf("row %s %s: %q, want %s: %q\n%s", tt.row, found.Verdict, found.Seen, tt.verdict, tt.says, text(report))
				}
				for _, f := range report.Findings {
					if tt.verdict == contract.Holds && f.Verdict == contract.Differs {
						t.Errorf("a liberty of the contract, and row %s differs: %s", f.Row.Name, f.Seen)
					}
				}
			}, tt.fault)
		})
	}
	for _, kind := range sandbox.FaultKinds() {
		if !walked[string(kind)] {
			t.Errorf("no trial of the fault %s: which row names it?", kind)
		}
		for _, mode := range sandbox.FaultModes(kind) {
			if !walked[string(kind)+"="+mode] {
				t.Errorf("no trial of the fault %s=%s: which row names it?", kind, mode)
			}
		}
	}
}
