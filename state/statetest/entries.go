package statetest

import (
	"encoding/json"
	"fmt"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// Customer is the customer of the records that Record makes.
const Customer = "c0ffee00-0000-4000-8000-000000000001"

// Created is the first event of the states that the suite makes.
func Created() state.Created {
	return state.Created{
		Lineage:     "5a1e0000-0000-4000-8000-000000000001",
		Environment: "test",
		Service:     state.Identity{BaseURL: "https://service.example", Operator: "platform", ClientID: "client", TokenURL: "https://login.example:8443"},
		By:          Holder("init"),
	}
}

// Holder is someone who runs a command.
func Holder(command string) state.Holder {
	return state.Holder{
		Command: command, User: "ada", Host: "ledger", PID: 4711,
		Since: time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC), Version: "0.1.0",
	}
}

// Request is a transfer of an amount of USD under a ref_id.
func Request(refID, amount string) transfer.Request {
	return transfer.Request{
		Operation: transfer.Internal, RefID: refID,
		FromProfileID: "p-from", ToProfileID: "p-to",
		Amount: transfer.MustAmount(amount), Asset: "USD",
	}
}

// Intent is the intent of Request in a run.
func Intent(refID, runID, amount string) state.Intent {
	r := Request(refID, amount)
	return state.Intent{
		RefID: refID, RunID: runID, Operation: r.Operation,
		Path: transfer.DefaultOperator.Path(r.Operation), Body: string(r.Body()),
		Fingerprint: r.Fingerprint().String(),
		Address:     "transfer.internal.test", Place: "test.hcl:1", FromLabel: true,
	}
}

// Record is the service's record of a transfer of Request, as JSON.
func Record(refID, recordID, customerID, amount string, status transfer.RecordStatus) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"id":%q,"customer_id":%q,"profile_id":"p-from","amount":%q,"total":%q,`+
		`"fee":"0","asset":"USD","direction":"DEBIT","type":"INTERNAL_TRANSFER_DEBIT","status":%q,`+
		`"created_at":"2026-11-27T09:00:00Z","updated_at":"2026-11-27T09:00:00Z","ref_id":%q,"group_id":%q}`,
		recordID, customerID, amount, amount, status, refID, "g-"+recordID))
}

// Listed says of a ref_id what a list says, in place of a record: with the group_id that Record
// would have, and with an amount.
func Listed(refID, runID string, source state.Source, says state.Status) state.Outcome {
	o := Outcome(refID, runID, source, says)
	o.Records, o.Listed = nil, &state.Listed{GroupID: "g-r-" + refID, Amount: "10.00", Asset: "USD"}
	return o
}

// Outcome says something of a ref_id: with a record of its own where that is made, and with
// a name and a reason where a person says it.
func Outcome(refID, runID string, source state.Source, says state.Status) state.Outcome {
	o := state.Outcome{RefID: refID, RunID: runID, Status: says, Source: source}
	if says.Made() {
		o.Records = []json.RawMessage{Record(refID, "r-"+refID, Customer, "10.00", transfer.Completed)}
	}
	if source == state.SourcePerson {
		by := Holder("resolve")
		o.By, o.Reason = &by, "the bank said so"
	}
	return o
}
