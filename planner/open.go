package planner

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"remit/config"
	"remit/internal/transfer"
	"remit/state"
)

// ChangedError says that a file is not a plan as it was saved: it was changed, cut off, or
// is of another version of the format. Nothing of it may be used; the plan is to be made
// anew.
type ChangedError struct {
	Line   int // counted from 1
	Reason string
}

// Error names the line and says what to do.
func (e *ChangedError) Error() string {
	return fmt.Sprintf("line %d of the plan file: %s; the file is not as it was saved, make the plan anew with remit plan --out=FILE", e.Line, e.Reason)
}

// Open reads a plan that Save wrote, and verifies it: the format, the SHA-256 of its bytes,
// the digest, the totals, and that each line is whole. The error is a *[ChangedError], or
// what r returned.
func Open(r io.Reader) (*Plan, error) {
	o := opener{
		in: bufio.NewReaderSize(r, 64<<10), sum: sha256.New(),
		plan:  &Plan{Totals: make(map[Action]*transfer.Totals)},
		lines: newIndex(0),
	}
	err := o.read()
	if changed := (*ChangedError)(nil); err != nil && !errors.As(err, &changed) {
		return nil, fmt.Errorf("read the plan file: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return o.plan, nil
}

type opener struct {
	in    *bufio.Reader
	line  int
	bytes []byte // of the line
	sum   hash.Hash
	plan  *Plan
	lines *index // numbers of changes by ref_id

	buffers [2][]byte // of parsePlainLine
	windows []string  // of the last line that had some, which most lines share
	naming  string    // of the last line
}

// find returns the number of the change with a ref_id.
func (o *opener) find(refID string) (int, bool) {
	return o.lines.find(refID, func(n int) bool { return o.plan.Changes.At(n).RefID == refID })
}

func (o *opener) changed(format string, args ...any) error {
	return &ChangedError{o.line, fmt.Sprintf(format, args...)}
}

func (o *opener) read() error {
	if err := o.next(); err != nil {
		return err
	}
	if err := o.readHeader(); err != nil {
		return err
	}
	for {
		if err := o.next(); err != nil {
			return err
		}
		if bytes.HasPrefix(o.bytes, []byte(footerStart)) {
			break
		}
		o.sum.Write(o.bytes)
		read := o.readChange
		if bytes.HasPrefix(o.bytes, []byte(keptStart)) {
			read = o.readKept
		}
		if err := read(); err != nil {
			return err
		}
	}
	if err := o.readFooter(); err != nil {
		return err
	}
	switch _, err := o.in.ReadByte(); {
	case err == nil:
		o.line++
		return o.changed("something follows the footer")
	case !errors.Is(err, io.EOF):
		return err
	}
	return nil
}

// next reads the next line, its line feed included.
func (o *opener) next() error {
	o.line++
	o.bytes = o.bytes[:0]
	for {
		part, err := o.in.ReadSlice('\n')
		if len(o.bytes)+len(part) > lineMax {
			return o.changed("it is longer than %d bytes", lineMax)
		}
		o.bytes = append(o.bytes, part...)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return o.changed("the file ends before its footer")
		default:
			return err
		}
	}
}

// decode is strict: a field that this version does not know may change what the line means, and so
// may a repeated one, or one in other letters, of which another reader takes another value.
func (o *opener) decode(text []byte, into any) error {
	if name := oddName(json.NewDecoder(bytes.NewReader(text))); name != "" {
		return o.changed("its field %q stands twice, or is not written in small letters", name)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return o.changed("%v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return o.changed("it is more than one JSON value")
	}
	return nil
}

// oddName is the name of a field, of the next value and of its fields, that no plan as it was
// saved has: one that its object has twice, or has other characters than names have. It is "" where
// there is none, and where the value is no JSON, which the decoder reports.
func oddName(d *json.Decoder) string {
	var open []map[string]bool // the fields of each object so far; nil of an array
	isName := false
	for {
		token, err := d.Token()
		if err != nil {
			return ""
		}
		inObject := len(open) > 0 && open[len(open)-1] != nil
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				open = append(open, map[string]bool{})
				isName = true
				continue
			case '[':
				open = append(open, nil)
				continue
			}
			open, isName = open[:len(open)-1], true
		case string:
			if !inObject || !isName {
				isName = true
				break
			}
			names := open[len(open)-1]
			if names[t] || strings.Trim(t, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				return t
			}
			names[t], isName = true, false
		default:
			isName = true
		}
		if len(open) == 0 {
			return ""
		}
	}
}

func (o *opener) readHeader() error {
	var format struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(o.bytes, &format); err != nil || format.Format != Format {
		return o.changed("it is not the header of a plan of the format %q", Format)
	}
	o.sum.Write(o.bytes)
	if err := o.decode(o.bytes, &o.plan.Header); err != nil {
		return err
	}
	if v := o.plan.Header.FormatVersion; v != 0 && v != FormatVersion {
		return o.changed("it is of version %d of the format, and this remit reads %d", v, FormatVersion)
	}
	if o.plan.Header.PlanID == "" {
		return o.changed("it has no plan_id")
	}
	if config.DigestOfControls(o.plan.Header.ControlList) != o.plan.Header.Controls {
		return o.changed("its controls do not have the digest that it says")
	}
	return nil
}

func (o *opener) readChange() error {
	var line savedChange
	var ok bool
	if line.Change, line.AfterAs, ok = parsePlainLine(o.bytes, &o.buffers); !ok {
		line = savedChange{}
		if err := o.decode(o.bytes, &line); err != nil {
			return err
		}
	}
	if line.AfterAs != "" {
		earlier, ok := o.find(line.AfterAs)
		if !ok || len(line.After) > 0 {
			return o.changed("it waits as %q, which is no earlier line", line.AfterAs)
		}
		line.After = o.plan.Changes.At(earlier).After
	}
	if len(o.plan.Kept) > 0 {
		return o.changed("it comes after what has no line")
	}
	if reason := line.broken(); reason != "" {
		return o.changed("%s", reason)
	}
	if _, ok := o.find(line.RefID); ok {
		return o.changed("ref_id %q stands twice", line.RefID)
	}
	if line.Naming == namingAsBefore {
		if line.Naming = o.naming; line.Naming == "" {
			return o.changed("its naming is that of the line before, which has none")
		}
	}
	o.naming = line.Naming
	if slices.Equal(line.Windows, o.windows) {
		line.Windows = o.windows
	}
	o.windows = line.Windows
	o.lines.add(line.RefID, o.plan.Changes.Len())
	o.plan.Changes.Add(&line.Change)
	return nil
}

// readKept reads the transfers without a line. They are in order, each once, and none has a line.
func (o *opener) readKept() error {
	var line savedKept
	if err := o.decode(o.bytes, &line); err != nil {
		return err
	}
	k := line.Kept
	if k == nil || k.Request != nil && k.Request.RefID != k.RefID {
		return o.changed("its ref_id is not that of its request")
	}
	if err := transfer.CheckRefID(k.RefID); err != nil {
		return o.changed("its ref_id %v", err)
	}
	if k.Request != nil {
		if err := k.Request.CheckDeclarable(); err != nil {
			return o.changed("%v", err)
		}
	}
	if n := len(o.plan.Kept); n > 0 && o.plan.Kept[n-1].RefID >= k.RefID {
		return o.changed("ref_id %q is not in order", k.RefID)
	}
	if _, hasLine := o.find(k.RefID); hasLine {
		return o.changed("ref_id %q stands twice", k.RefID)
	}
	o.plan.Kept = append(o.plan.Kept, *k)
	return nil
}

// isPossible reports whether a plan has the change's action for a transfer of a status, 0 for none.
func (c *Change) isPossible(status state.Status) bool {
	switch c.Action {
	case Submit:
		return c.Declared() && (status == 0 || status == state.Unsent || status == state.Refused)
	case Resolve:
		return status == state.InDoubt
	case None:
		return status == state.Unverified
	case Conflict:
		return status.Made() || status == state.Conflict || status == state.Tombstone
	case Failed:
		return status.Made() || status == state.Tombstone
	case Wait, Expired:
		return true
	case Undeclared:
	}
	return false
}

// broken names the part without which New makes no change; "" where none is missing.
func (c *Change) broken() string {
	if c.RefID != c.Request.RefID {
		return "its ref_id is not that of its request"
	}
	if err := transfer.CheckRefID(c.RefID); err != nil {
		return "its ref_id " + err.Error()
	}
	for _, s := range c.Signals {
		if s.RefID == "" {
			continue
		}
		if err := transfer.CheckRefID(s.RefID); err != nil {
			return "the ref_id of a signal " + err.Error()
		}
	}
	if c.DisplayName != "" {
		if err := transfer.CheckDisplayName(c.DisplayName); err != nil {
			return "its display name " + err.Error()
		}
	}
	if !c.Request.Operation.Known() {
		return fmt.Sprintf("no service has the operation %q", c.Request.Operation)
	}
	if c.Declared() {
		if err := c.Request.CheckDeclarable(); err != nil {
			return err.Error()
		}
	}
	status := state.Status(0)
	if c.Recorded != nil {
		if status = c.Recorded.Status; status == 0 {
			return "what is recorded has no status"
		}
	}
	if !c.isPossible(status) {
		return fmt.Sprintf("no plan has the action %q there", c.Action)
	}
	request, err := c.InForce()
	if err != nil {
		return err.Error()
	}
	if request.RefID != c.RefID {
		return "its ref_id is not that of the recorded request"
	}
	return ""
}

func (o *opener) readFooter() error {
	head := len(o.bytes) - sumDigits - len(sumEnd)
	if head < len(sumStart) || !bytes.HasSuffix(o.bytes[:head], []byte(sumStart)) || !bytes.HasSuffix(o.bytes, []byte(sumEnd)) {
		return o.changed("the footer does not end with a SHA-256")
	}
	o.sum.Write(o.bytes[:head])
	if hex.EncodeToString(o.sum.Sum(nil)) != string(o.bytes[head:head+sumDigits]) {
		return o.changed("the bytes of the file do not have the SHA-256 that the footer says")
	}
	o.sum.Write(o.bytes[head:])
	o.plan.SHA256 = hex.EncodeToString(o.sum.Sum(nil))
	var footer savedFooter
	body := append(slices.Clone(o.bytes[:head-len(sumStart)]), '}')
	if err := o.decode(body, &footer); err != nil {
		return err
	}
	p := o.plan
	p.Obstacles, p.Digest, p.Namings = footer.Obstacles, footer.Digest, footer.Namings
	if err := p.addTotals(); err != nil {
		return o.changed("%v", err)
	}
	if reason := p.restoreTotals(footer.Totals); reason != "" {
		return o.changed("%s", reason)
	}
	if reason := p.restoreBatches(footer.Batches); reason != "" {
		return o.changed("%s", reason)
	}
	if digest, err := p.digest(); err != nil || digest != p.Digest {
		return o.changed("the lines do not have the digest that the footer says")
	}
	if p.Applicable() != footer.Applicable || p.Applicable() && p.Count(Conflict) > 0 {
		return o.changed("the plan has a conflict, and says that it is applicable")
	}
	return nil
}

// restoreTotals compares the totals of a footer with those of the lines. Those of Undeclared
// and None, which have no lines or few, are taken from the footer.
func (p *Plan) restoreTotals(saved []savedTotals) string {
	seen := make(map[Action]bool)
	for _, s := range saved {
		if !slices.Contains(Actions(), s.Action) || seen[s.Action] {
			return fmt.Sprintf("no plan has such totals of %q", s.Action)
		}
		seen[s.Action] = true
		said, err := s.restored()
		if err != nil {
			return err.Error()
		}
		if !hasLines(s.Action) {
			p.Totals[s.Action] = said
		}
		t := p.Totals[s.Action]
		if t == nil || s.Count != said.Count() || !said.SameAs(*t) || !hasLines(s.Action) && s.HashTotal != "" {
			return fmt.Sprintf("the totals of %q are not those of the lines", s.Action)
		}
	}
	for action := range p.Totals {
		if !seen[action] {
			return fmt.Sprintf("the totals of %q are missing", action)
		}
	}
	return ""
}

// restoreBatches takes the batches of a footer over. Their sums are computed against the state: there
// is no line for a recorded transfer.
func (p *Plan) restoreBatches(saved []savedBatch) string {
	for _, s := range saved {
		totals, err := savedTotals{Action: "batch", Count: s.Count, Assets: s.Assets, HashTotal: s.HashTotal}.restored()
		if err != nil {
			return err.Error()
		}
		if s.HashTotal == "" || totals.Count() != s.Count {
			return fmt.Sprintf("batch %q has no control totals", s.Name)
		}
		control, err := s.Control.restored()
		if err != nil || control != nil && !s.Controlled {
			return fmt.Sprintf("batch %q has no such control block", s.Name)
		}
		p.Batches = append(p.Batches, Batch{Name: s.Name, Totals: *totals, Controlled: s.Controlled, Control: control})
	}
	return ""
}

// restored makes totals that were saved.
func (s savedTotals) restored() (*transfer.Totals, error) {
	all := new(transfer.Totals)
	for _, asset := range s.Assets {
		sum, err := transfer.ParseAmount(asset.Sum)
		if err != nil || asset.Count < 1 {
			return nil, fmt.Errorf("the totals of %q have a sum of %q in %d transfers", s.Action, asset.Sum, asset.Count)
		}
		all.AddTotal(transfer.Total{Asset: asset.Asset, Count: asset.Count, Sum: sum.Decimal()})
	}
	if s.HashTotal != "" {
		hash, ok := savedNumber(s.HashTotal)
		if !ok {
			return nil, fmt.Errorf("the totals of %q have a hash total of %q", s.Action, s.HashTotal)
		}
		all.RestoreHash(hash)
	}
	return all, nil
}

// savedNumber reads a number of a saved plan. One with an exponent, which may stand for more digits than fit into memory,
// is none that was saved.
func savedNumber(text string) (decimal.Decimal, bool) {
	if strings.Trim(text, "-.0123456789") != "" {
		return decimal.Decimal{}, false
	}
	number, err := decimal.NewFromString(text)
	return number, err == nil
}
