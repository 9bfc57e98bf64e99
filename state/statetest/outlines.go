package statetest

import (
	"bytes"
	"fmt"
	"testing"

	"remit/internal/transfer"
	"remit/state"
)

// sameOutlines holds the outlines of a snapshot against its rows.
func (b *bench) sameOutlines(snap state.Snapshot, rows []state.Transfer) {
	b.t.Helper()
	var want, got []state.Outline
	for _, row := range rows {
		want = append(want, row.Outline())
	}
	for outline, err := range snap.Outlines(b.t.Context()) {
		if err != nil {
			b.t.Fatalf("outlines: %v", err)
		}
		got = append(got, outline)
	}
	b.same("the outlines", want, got)
}

// outlines reads rows of every kind that there is from where they rest, from where they are
// new, and from both. It compares texts as they are shown.
func outlines(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, everyKind("old")...)
	b.look(j)
	b.unlock(j)
	v := b.look(s)
	seen := make(map[state.Status]bool)
	for _, row := range v.Rows {
		seen[row.Status] = true
	}
	for _, status := range state.Statuses() {
		if !seen[status] {
			t.Errorf("no row is %s", status)
		}
	}
	j = b.lock(b.open())
	b.append(j, everyKind("new")...)
	b.append(j, everyKind("older")...)
	b.append(j, Outcome("old-open", "", state.SourceLookup, state.Recorded))
	b.look(j)
	b.unlock(j)
	if got, want := len(b.look(s).Rows), 3*len(v.Rows); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
}

// everyKind makes a row of each status, and of what else an outline tells apart.
func everyKind(prefix string) []state.Entry {
	var entries []state.Entry
	of := func(name, amount string) string {
		refID := prefix + "-" + name
		entries = append(entries, Intent(refID, "run", amount))
		return refID
	}
	for _, says := range []state.Status{state.Unsent, state.InDoubt, state.Recorded, state.Adopted, state.Unverified, state.Refused, state.Conflict} {
		entries = append(entries, Outcome(of(fmt.Sprint(says), "10.00"), "run", state.SourceAnswer, says))
	}
	for _, status := range []transfer.RecordStatus{transfer.Pending, transfer.Failed} {
		refID := of("record "+string(status), "0.00000001")
		o := Outcome(refID, "run", state.SourceAnswer, state.Recorded)
		o.Records[0] = Record(refID, "r-"+refID, Customer, "0.00000001", status)
		entries = append(entries, o)
	}
	of("open", "123456789.99")
	entries = append(entries, Intent(prefix+"-in doubt", "run\x1f2", "10.00")) // once more, and open
	forgotten := of("forgotten", "10.00")
	entries = append(entries,
		Outcome(forgotten, "run", state.SourceAnswer, state.Recorded), Outcome(forgotten, "", state.SourcePerson, state.Tombstone),
		Outcome(of("not made", "10.00"), "", state.SourcePerson, state.Tombstone))
	for _, says := range []state.Status{state.Unverified, state.Conflict} {
		for _, then := range []state.Status{says, state.Adopted, state.Tombstone} {
			refID := of(fmt.Sprintf("listed, %v, %v", says, then), "10.00")
			entries = append(entries, Listed(refID, "run", state.SourceImport, says))
			switch then {
			case state.Adopted:
				entries = append(entries, Listed(refID, "", state.SourcePerson, then))
			case state.Tombstone:
				entries = append(entries, Outcome(refID, "", state.SourcePerson, then))
			case state.Unverified, state.Conflict, state.Unsent, state.InDoubt, state.Recorded, state.Refused:
			}
		}
	}
	entries = append(entries, Listed(prefix+"-listed alone", "", state.SourceImport, state.Unverified))
	for _, then := range []state.Status{state.Conflict, state.Tombstone} {
		refID := prefix + "-listed alone, " + then.String()
		entries = append(entries, Listed(refID, "", state.SourceImport, state.Unverified), Outcome(refID, "", state.SourceLookup, state.Conflict))
		if then == state.Tombstone {
			entries = append(entries, Outcome(refID, "", state.SourcePerson, then))
		}
	}
	imported := Outcome(prefix+"-imported", "", state.SourceImport, state.Adopted)
	strange := Outcome(prefix+"-strange", "", state.SourceImport, state.Unverified)
	// Words of the service's own, in which a store must not lose its way.
	strange.Records[0] = bytes.ReplaceAll(strange.Records[0], []byte(`"USD"`), []byte(`"U\u001fS \u001e\n\u0000D"`))
	strange.Records[0] = bytes.ReplaceAll(strange.Records[0], []byte(`"COMPLETED"`), []byte(`"\u001f\u001f"`))
	return append(entries, imported, strange)
}
