package records

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"remit/internal/transfer"
)

// Spool keeps the records of exports in a file without a name, and of each what it takes to find
// it there by ref_id: some 100 bytes and its ref_id, whatever its size. It is not for use by
// several goroutines at once.
type Spool struct {
	file    *os.File
	out     *bufio.Writer // nil once it is sealed
	end     int64
	seed    maphash.Seed
	entries []entry
	names   []string // of the files
	refIDs  []string // sorted, each once; nil before Seal
	outside []outside
	folds   []fold // sorted; nil before Seal

	without  int
	rails    int // records of deposits and withdrawals
	repeated int
	twice    int // entries of records that have another entry, or were left out
}

// entry is where one record is, and what it is.
type entry struct {
	refID, id uint64 // hashes
	content   uint64 // hash of the fields of a record that never change
	group     uint64 // hash of the group_id; 0 where there is none, or of no transfer
	version   transfer.Version
	offset    int64
	length    int32
	line      int32
	file      int32
	kind      kind
	isCredit  bool
}

// NewSpool returns an empty spool, whose file is in the directory for temporary files. The
// caller closes it.
func NewSpool() (*Spool, error) {
	file, err := os.CreateTemp("", "remit-records-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(file.Name()) // where an open file can't be removed, Close does it
	return &Spool{file: file, out: bufio.NewWriterSize(file, 1<<20), seed: maphash.MakeSeed()}, nil
}

// Close lets the records go.
func (s *Spool) Close() error {
	err := s.file.Close()
	if removed := os.Remove(s.file.Name()); !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// Add keeps a record of the file with the given name. One without a ref_id that can be declared is
// counted, and not kept: of it, only Twins knows. A credit side is kept until Seal knows the debit sides.
func (s *Spool) Add(name string, r Record) error {
	if len(s.names) == 0 || s.names[len(s.names)-1] != name {
		s.names = append(s.names, name)
	}
	e := entry{
		refID: maphash.String(s.seed, r.RefID), id: maphash.String(s.seed, r.ID),
		content: s.content(&r.Record), version: r.Version(), isCredit: r.Direction == transfer.Credit,
		offset: s.end, length: int32(len(r.Raw)), line: int32(r.Line), file: int32(len(s.names) - 1),
	}
	if r.GroupID != "" && !r.Type.IsRail() {
		e.group = maphash.String(s.seed, r.GroupID)
	}
	if r.Type.IsRail() {
		s.rails++
	}
	if transfer.CheckRefID(r.RefID) != nil { // another system made it, or the service wrote another ref_id than it was given
		s.without++
		s.leaveOut(r)
		if e.kind = otherwise; r.RefID == "" {
			e.kind = nameless
		}
		if !e.isCredit || e.group == 0 {
			return nil
		}
	}
	if _, err := s.out.Write(r.Raw); err != nil {
		return fmt.Errorf("keep the records aside: %w", err)
	}
	s.entries = append(s.entries, e)
	s.end += int64(len(r.Raw))
	if e.kind == own && (len(s.refIDs) == 0 || s.refIDs[len(s.refIDs)-1] != r.RefID) { // the two sides are mostly neighbours
		s.refIDs = append(s.refIDs, strings.Clone(r.RefID))
	}
	return nil
}

// content is a hash of the fields of a record that never change, however its amount is written.
func (s *Spool) content(r *transfer.Record) uint64 {
	amount := r.Amount
	if number, err := transfer.ParseRecorded(amount); err == nil {
		amount = number.Decimal().String()
	}
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, text := range []string{
		r.ID, r.CustomerID, r.ProfileID, r.IdentityID, r.AccountID, amount, r.Asset,
		string(r.Direction), string(r.Type), r.RefID, r.GroupID, r.CreatedAt.UTC().String(),
	} {
		_, _ = h.WriteString(text)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// ContradictionError says that two records of one id are not the same.
type ContradictionError struct {
	ID           string
	First, Again string // file:line
}

// Error names both places.
func (e *ContradictionError) Error() string {
	return fmt.Sprintf("the records at %s and %s have one id, %q, and are not the same", e.First, e.Again, e.ID)
}

// Seal ends adding. Of a record that was added more than once the newest copy is kept; the error
// is a *[ContradictionError] where the copies differ in more than their status, or where one is COMPLETED and another
// FAILED and no time tells which is newer.
func (s *Spool) Seal() error {
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("keep the records aside: %w", err)
	}
	s.out = nil
	s.join()
	slices.SortFunc(s.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.kind, b.kind), b.version.Compare(a.version), cmp.Compare(a.offset, b.offset))
	})
	kept := s.entries[:0]
	for i, e := range s.entries {
		if i > 0 && len(kept) > 0 && kept[len(kept)-1].id == e.id && kept[len(kept)-1].kind == e.kind {
			if before := kept[len(kept)-1]; before.content != e.content || before.version.Contradicts(e.version) {
				return s.contradiction(before, e)
			}
			if e.kind != otherwise { // such a record has another entry, or is left out
				s.repeated++
			}
			continue
		}
		if kept = append(kept, e); e.kind == otherwise {
			s.twice++
		}
	}
	s.entries = kept
	slices.SortFunc(s.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.refID, b.refID), cmp.Compare(a.kind, b.kind), cmp.Compare(a.offset, b.offset))
	})
	slices.Sort(s.refIDs)
	s.refIDs = slices.Compact(s.refIDs)
	s.fold()
	return nil
}

func (s *Spool) contradiction(a, b entry) error {
	if b.offset < a.offset {
		a, b = b, a
	}
	record, err := s.read(a)
	if err != nil {
		return err
	}
	return &ContradictionError{ID: record.ID, First: s.place(a), Again: s.place(b)}
}

func (s *Spool) place(e entry) string { return fmt.Sprintf("%s:%d", s.names[e.file], e.line) }

func (s *Spool) read(e entry) (Record, error) {
	raw := make([]byte, e.length)
	if _, err := s.file.ReadAt(raw, e.offset); err != nil && !errors.Is(err, io.EOF) {
		return Record{}, fmt.Errorf("read the records that were kept aside: %w", err)
	}
	record, err := transfer.ParseRecord(raw)
	return Record{record, int(e.line)}, err
}

// RefIDs yields each ref_id of a sealed spool once, in byte order.
func (s *Spool) RefIDs() iter.Seq[string] { return slices.Values(s.refIDs) }

// Has reports whether a sealed spool has a record of a ref_id.
func (s *Spool) Has(refID string) bool {
	_, has := slices.BinarySearch(s.refIDs, refID)
	return has
}

// Of returns the records of a ref_id, in the order in which they were added, and behind them the credit sides
// that are of it by their group_id alone.
func (s *Spool) Of(refID string) ([]transfer.Record, error) {
	var found []transfer.Record
	for _, e := range s.under(refID) {
		record, err := s.read(e)
		switch {
		case err != nil:
			return nil, err
		case e.kind != own && !s.isSide(found, &record.Record, e.kind):
			continue
		case e.kind != own:
			record.RefID = refID
		}
		if record.RefID == refID { // else two ref_ids have one hash
			found = append(found, record.Record)
		}
	}
	return found, nil
}

// IsOther reports whether all records of a ref_id are of deposits and withdrawals, which no operation of remit makes; a sealed spool knows.
func (s *Spool) IsOther(refID string) (bool, error) {
	if s.rails == 0 {
		return false, nil
	}
	records, err := s.Of(refID)
	if err != nil {
		return false, err
	}
	isOwn := func(r transfer.Record) bool { return !r.Type.IsRail() }
	return len(records) > 0 && !slices.ContainsFunc(records, isOwn), nil
}

// under are the entries of a sealed spool that are kept under a ref_id, its own ones first.
func (s *Spool) under(refID string) []entry {
	hash := maphash.String(s.seed, refID)
	first, _ := slices.BinarySearchFunc(s.entries, hash, func(e entry, hash uint64) int { return cmp.Compare(e.refID, hash) })
	last := first
	for last < len(s.entries) && s.entries[last].refID == hash {
		last++
	}
	return s.entries[first:last]
}

// Counts are how many records and ref_ids a sealed spool has, how many copies of a record it
// left out, and how many records had no ref_id.
func (s *Spool) Counts() (records, refIDs, repeated, without int) {
	return len(s.entries) - s.twice, len(s.refIDs), s.repeated, s.without
}
