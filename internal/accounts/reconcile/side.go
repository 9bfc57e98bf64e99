package reconcile

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"

	"remit/internal/transfer"
)

// Side is a record at the service, of one side of a transfer, with the compared fields.
type Side struct {
	transfer.Record        // of which Raw and the fields of other kinds of transfers are left out
	Place           string // file:line; "" where it was looked up

	unreadable string // why the service's answer could not be read; then there is no record
	file, line int    // of Place
}

// fields are the texts of a side that are kept, in the order in which they are written.
func (s *Side) fields() []*string {
	return []*string{
		&s.GroupID, // the first: see groupOf
		&s.ID, &s.CustomerID, &s.ProfileID, &s.Amount, &s.Total, &s.Fee, &s.Asset,
		(*string)(&s.Direction), (*string)(&s.Type), (*string)(&s.Status),
		&s.IdentityID, &s.AccountID, &s.RefID, &s.BalanceAsset, &s.unreadable,
	}
}

// append writes a side as bytes, without the text of its place. Sides that say the same are
// the same bytes up to [placeSize] from the end.
func (s *Side) append(b []byte) []byte {
	for _, field := range s.fields() {
		b = appendText(b, *field)
	}
	for _, t := range []time.Time{s.CreatedAt, s.UpdatedAt} {
		b = binary.BigEndian.AppendUint64(b, uint64(t.Unix()))
		b = binary.BigEndian.AppendUint32(b, uint32(t.Nanosecond()))
	}
	if s.Metadata == nil {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(append(b, 1), uint64(len(s.Metadata)))
		for _, key := range slices.Sorted(maps.Keys(s.Metadata)) {
			b = appendText(appendText(b, key), s.Metadata[key])
		}
	}
	b = binary.BigEndian.AppendUint32(b, uint32(s.file))
	return binary.BigEndian.AppendUint64(b, uint64(s.line))
}

// placeSize is how many bytes at the end of a written side are its place.
const placeSize = 4 + 8

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// readSide reads what append wrote.
func readSide(raw []byte) Side {
	d := decoder{string(raw)}
	var s Side
	for _, field := range s.fields() {
		*field = d.text()
	}
	for _, t := range []*time.Time{&s.CreatedAt, &s.UpdatedAt} {
		seconds := int64(d.number(8))
		*t = time.Unix(seconds, int64(d.number(4))).UTC()
	}
	if d.number(1) == 1 {
		count := d.size()
		s.Metadata = make(map[string]string, count)
		for range count {
			key := d.text()
			s.Metadata[key] = d.text()
		}
	}
	s.file, s.line = int(d.number(4)), int(d.number(8))
	return s
}

// groupOf is the group_id of a written side, without reading the rest.
func groupOf(raw []byte) []byte {
	size, n := binary.Uvarint(raw)
	return raw[n : n+int(size)]
}

// decoder reads what this package has written itself.
type decoder struct{ rest string }

func (d *decoder) text() string {
	size := d.size()
	text := d.rest[:size]
	d.rest = d.rest[size:]
	return text
}

func (d *decoder) size() int {
	var size, shift int
	for i := range len(d.rest) {
		b := d.rest[i]
		size |= int(b&0x7f) << shift
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			return size
		}
		shift += 7
	}
	panic("reconcile: a written side ends early")
}

// number is an unsigned number of so many bytes, big-endian.
func (d *decoder) number(bytes int) uint64 {
	var n uint64
	for i := range bytes {
		n = n<<8 | uint64(d.rest[i])
	}
	d.rest = d.rest[bytes:]
	return n
}
