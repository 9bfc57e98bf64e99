package executor

import "remit/internal/transfer"

// unknownMax bounds the words of an [Unknown]; further ones are counted together.
const (
	unknownMax                          = 20
	unknownOthers transfer.RecordStatus = "further statuses"
)

// Unknown counts recorded transfers by the service's own word for their status, where its document
// does not list that: nobody but a person can say what it means.
type Unknown map[transfer.RecordStatus]int

// add counts n more of a status, or fewer; what the document lists is not counted.
func (u *Unknown) add(status transfer.RecordStatus, n int) {
	if status == "" || status.Known() {
		return
	}
	if *u == nil {
		*u = make(Unknown)
	}
	if _, ok := (*u)[status]; !ok && (n < 0 || len(*u) >= unknownMax) {
		status = unknownOthers
	}
	if (*u)[status] += n; (*u)[status] <= 0 {
		delete(*u, status)
	}
}

func (u *Unknown) merge(other Unknown) {
	for status, n := range other {
		u.add(status, n)
	}
}

// Count returns how many there are.
func (u Unknown) Count() int {
	n := 0
	for _, each := range u {
		n += each
	}
	return n
}
