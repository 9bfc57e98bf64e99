package transfer

import (
	"cmp"
	"slices"
	"time"
)

// Version tells which of two copies of one record is the newer one. The zero Version is of a copy without a time
// whose status is not final.
type Version struct {
	updated int64 // milliseconds since 1970; 0 where the copy has no time
	status  ending
}

// ending is a final status of the service's, or none.
type ending uint8

const (
	unended  ending = iota
	isFailed        // of two copies without a time this one counts last: it would have a transfer paid anew
	completed
)

// NewVersion is that of a copy that was updated at a time, zero where it does not say, and has a status.
func NewVersion(updated time.Time, status RecordStatus) Version {
	var v Version
	if !updated.IsZero() {
		v.updated = updated.UnixMilli()
	}
	switch status {
	case Completed:
		v.status = completed
	case Failed:
		v.status = isFailed
	case Pending, NoStatus:
	}
	return v
}

// Compare is positive where v is newer than w, and negative where it is older: by their times where both have
// one, else by their statuses: a record is PENDING before it is COMPLETED or FAILED.
func (v Version) Compare(w Version) int {
	if v.isDated(w) && v.updated != w.updated {
		return cmp.Compare(v.updated, w.updated)
	}
	return cmp.Compare(v.status, w.status)
}

// Contradicts reports whether one copy is COMPLETED and the other FAILED, and no time tells which is newer.
func (v Version) Contradicts(w Version) bool {
	isTold := v.isDated(w) && v.updated != w.updated
	return !isTold && v.status != unended && w.status != unended && v.status != w.status
}

func (v Version) isDated(w Version) bool { return v.updated != 0 && w.updated != 0 }

// Version is that of a record.
func (r *Record) Version() Version { return NewVersion(r.UpdatedAt, r.Status) }

// Newest returns the newest copy of the first record of which is is true; nil where there is none.
func Newest(records []Record, is func(Record) bool) *Record {
	i := slices.IndexFunc(records, is)
	if i < 0 {
		return nil
	}
	newest := &records[i]
	for j := range records[i+1:] {
		r := &records[i+1+j]
		if r.ID == newest.ID && is(*r) && r.Version().Compare(newest.Version()) > 0 {
			newest = r
		}
	}
	return newest
}
