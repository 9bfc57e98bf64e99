package planner

import (
	"bytes"
	"time"

	"remit/internal/text/jsontext"
	"remit/internal/transfer"
)

// parsePlainLine reads a line that appendPlain wrote; false of any other, which may be a line of
// a saved plan all the same. buffers are for lines that are written again to be compared.
func parsePlainLine(line []byte, buffers *[2][]byte) (c Change, afterAs string, ok bool) {
	r := jsontext.NewReader(string(line))
	c.Action = Action(r.Must(`{"action":`))
	c.RefID = r.Must(`,"ref_id":`)
	c.Address = r.May(`,"address":`)
	c.Place = r.May(`,"place":`)
	c.Batch = r.May(`,"batch":`)
	operation := transfer.Operation(r.Must(`,"request":{"operation":`))
	fingerprintKey := r.May(`,"fingerprint_key":`)
	body := r.Must(`,"body":`)
	r.Skip("}")
	c.FromLabel = r.Has(`,"from_label":true`)
	c.Naming = r.May(`,"naming":`)
	c.DisplayName = r.May(`,"display_name":`)
	c.FromPlace = r.May(`,"from_place":`)
	c.ToPlace = r.May(`,"to_place":`)
	c.DuplicateWithin = time.Duration(r.Int(`,"duplicate_within":`))
	c.Again = r.Has(`,"again":true`)
	c.Until = r.Time(`,"until":`)
	c.Never = r.Has(`,"never":true`)
	c.Expires = r.Time(`,"expires":`)
	c.Due = r.Time(`,"due":`)
	c.CatchUp = time.Duration(r.Int(`,"catch_up":`))
	c.Occurrence = r.May(`,"occurrence":`)
	c.Windows = r.List(`,"windows":[`)
	c.Reason = r.May(`,"reason":`)
	c.Next = r.May(`,"next":`)
	c.Signals = readSignals(&r)
	afterAs = r.May(`,"after_as":`)
	r.Skip("}\n")
	if !r.Done() {
		return Change{}, "", false
	}
	request, err := transfer.ParseRequest(operation, []byte(body), fingerprintKey)
	if err != nil || request.FingerprintKey != fingerprintKey {
		return Change{}, "", false
	}
	c.Request = request
	if buffers[0], ok = appendPlain(buffers[0][:0], &c, afterAs, &buffers[1]); !ok {
		return Change{}, "", false
	}
	return c, afterAs, bytes.Equal(buffers[0], line)
}

// readSignals reads the list of signals, where the line has one.
func readSignals(r *jsontext.Reader) []Signal {
	var all []Signal
	for next := `,"signals":[{"kind":`; r.Has(next); next = `,{"kind":` {
		all = append(all, Signal{
			Kind: SignalKind(r.Text()), RefID: r.May(`,"ref_id":`), Place: r.May(`,"place":`),
			Detail: r.May(`,"detail":`), Accepted: r.May(`,"accepted":`),
		})
		r.Skip("}")
	}
	if all != nil {
		r.Skip("]")
	}
	return all
}
