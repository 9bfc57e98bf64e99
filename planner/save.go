package planner

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"remit/internal/transfer"
)

// lineMax bounds a line of a saved plan, its line feed included: enough for a transfer that
// waits for a million others.
const lineMax = 64 << 20

// savedChange is a line of a saved plan.
type savedChange struct {
	Change
	// AfterAs names an earlier line that waits for the same transfers, so that a batch that
	// waits for a batch is not written as their product.
	AfterAs string `json:"after_as,omitempty"`
}

// namingAsBefore is written in a line in place of the naming of the line before, which those of a
// block have.
const namingAsBefore = "="

// savedFooter is the last line of a saved plan without its last member, "sha256".
type savedFooter struct {
	Totals     []savedTotals `json:"totals"`
	Batches    []savedBatch  `json:"batches,omitempty"`
	Namings    []string      `json:"namings,omitempty"`
	Applicable bool          `json:"applicable"`
	Obstacles  []Obstacle    `json:"obstacles,omitempty"`
	Digest     string        `json:"digest"`
}

// savedTotals are the control totals of one action.
type savedTotals struct {
	Action Action       `json:"action"`
	Count  int          `json:"count"`
	Assets []savedTotal `json:"assets"`
	// HashTotal is that of [transfer.Totals], in plain notation; "" where there is none.
	HashTotal string `json:"hash_total,omitempty"`
}

// savedBatch are the control totals of one batch as it is declared.
type savedBatch struct {
	Name       string       `json:"name"`
	Count      int          `json:"count"`
	Assets     []savedTotal `json:"assets"`
	HashTotal  string       `json:"hash_total"`
	Controlled bool         `json:"controlled,omitempty"`
	// Control is what its control block says.
	Control *savedControl `json:"control,omitempty"`
}

// savedKept is a line of a saved plan, after those of its changes.
type savedKept struct {
	Kept *Kept `json:"kept"`
}

type savedTotal struct {
	Asset string `json:"asset"`
	Count int    `json:"count"`
	Sum   string `json:"sum"` // exact, in plain notation
}

// The footer's end: a JSON member that holds the SHA-256, in hexadecimal, of every byte of
// the file up to its own first digit.
const (
	footerStart = `{"totals":`
	keptStart   = `{"kept":`
	sumStart    = `,"sha256":"`
	sumEnd      = "\"}\n"
	sumDigits   = 2 * sha256.Size
)

// Save writes the plan as JSON Lines: the header, each of Changes with its whole request,
// and a footer with totals, obstacles, the digest and a SHA-256 of all bytes before it,
// which is what `head -c -67 FILE | sha256sum` prints. Undeclared and Unused are not saved.
// It is an error to save a plan without a plan_id.
func (p *Plan) Save(w io.Writer) error {
	if p.Header.PlanID == "" {
		return errors.New("save the plan: it has no plan_id")
	}
	h := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(w, h), 64<<10)
	if err := p.saveLines(out); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	if _, err := io.WriteString(w, hex.EncodeToString(h.Sum(nil))+sumEnd); err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	return nil
}

func (p *Plan) saveLines(out io.Writer) error {
	lines := lineWriter{out: out}
	if err := lines.write(p.Header); err != nil {
		return err
	}
	if err := p.saveChanges(&lines); err != nil {
		return err
	}
	for i := range p.Kept {
		if err := lines.write(savedKept{&p.Kept[i]}); err != nil {
			return fmt.Errorf("line of %q: %w", p.Kept[i].RefID, err)
		}
	}
	last, err := lines.encode(p.footer())
	if err != nil {
		return err
	}
	return lines.put(append(bytes.TrimSuffix(last, []byte("}\n")), sumStart...))
}

// saveChanges writes the lines. A list of After and a naming that several lines share are written once.
func (p *Plan) saveChanges(lines *lineWriter) error {
	type list struct {
		first *string
		count int
	}
	written := make(map[list]string) // lists of After, by the line that has them
	naming := ""
	for _, c := range p.Changes.All() {
		afterAs := ""
		if len(c.After) > 1 {
			key := list{&c.After[0], len(c.After)}
			if earlier, ok := written[key]; ok {
				c.After, afterAs = nil, earlier
			} else {
				written[key] = c.RefID
			}
		}
		if c.Naming != "" && c.Naming == naming {
			c.Naming = namingAsBefore
		} else {
			naming = c.Naming
		}
		if err := lines.writeChange(c, afterAs); err != nil {
			return fmt.Errorf("line of %q: %w", c.RefID, err)
		}
	}
	return nil
}

func (p *Plan) footer() savedFooter {
	footer := savedFooter{Namings: p.Namings, Applicable: p.Applicable(), Obstacles: p.Obstacles, Digest: p.Digest}
	for _, action := range Actions() {
		if t := p.Totals[action]; t != nil {
			footer.Totals = append(footer.Totals, saveTotals(action, t))
		}
	}
	for i := range p.Batches {
		b := &p.Batches[i]
		saved := saveTotals("", &b.Totals)
		footer.Batches = append(footer.Batches, savedBatch{b.Name, saved.Count, saved.Assets, saved.HashTotal, b.Controlled, saveControl(b.Control)})
	}
	return footer
}

// lineWriter encodes one value a line, in buffers that it keeps.
type lineWriter struct {
	out     io.Writer
	buffer  bytes.Buffer
	encoder *json.Encoder
	plain   []byte // a line that needed no encoder
	body    []byte // of its request
}

// encode returns a value as a line, valid until the next.
func (l *lineWriter) encode(v any) ([]byte, error) {
	if l.encoder == nil {
		l.encoder = json.NewEncoder(&l.buffer)
		l.encoder.SetEscapeHTML(false)
	}
	l.buffer.Reset()
	err := l.encoder.Encode(v)
	return l.buffer.Bytes(), err
}

func (l *lineWriter) write(v any) error {
	line, err := l.encode(v)
	if err != nil {
		return err
	}
	return l.put(line)
}

func (l *lineWriter) writeChange(c *Change, afterAs string) error {
	var ok bool
	if l.plain, ok = appendPlain(l.plain[:0], c, afterAs, &l.body); ok {
		return l.put(l.plain)
	}
	return l.write(savedChange{*c, afterAs})
}

func (l *lineWriter) put(line []byte) error {
	if len(line) > lineMax-sumDigits-len(sumEnd) {
		return fmt.Errorf("it has %d bytes, more than can be read again", len(line))
	}
	_, err := l.out.Write(line)
	return err
}

func saveTotals(action Action, t *transfer.Totals) savedTotals {
	saved := savedTotals{Action: action, Count: t.Count(), Assets: []savedTotal{}}
	for total := range t.All() {
		saved.Assets = append(saved.Assets, savedTotal{total.Asset, total.Count, transfer.Digits(total.Sum)})
	}
	if hash, ok := t.HashTotal(); ok {
		saved.HashTotal = transfer.Digits(hash)
	}
	return saved
}
