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

// savedFooter is the last line of a saved plan without its last member, "sha256".
type savedFooter struct {
	Totals     []savedTotals `json:"totals"`
	Applicable bool          `json:"applicable"`
	Obstacles  []Obstacle    `json:"obstacles,omitempty"`
	Digest     string        `json:"digest"`
}

// savedTotals are the control totals of one action.
type savedTotals struct {
	Action Action       `json:"action"`
	Count  int          `json:"count"`
	Assets []savedTotal `json:"assets"`
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
	lines.encoder = json.NewEncoder(&lines.buffer)
	lines.encoder.SetEscapeHTML(false)
	if err := lines.write(p.Header); err != nil {
		return err
	}
	type list struct {
		first *string
		count int
	}
	written := make(map[list]string) // lists of After, by the line that has them
	for _, c := range p.Changes.All() {
		line := savedChange{Change: *c}
		if after := line.After; len(after) > 1 {
			key := list{&after[0], len(after)}
			if earlier, ok := written[key]; ok {
				line.After, line.AfterAs = nil, earlier
			} else {
				written[key] = line.RefID
			}
		}
		if err := lines.write(line); err != nil {
			return fmt.Errorf("line of %q: %w", line.RefID, err)
		}
	}
	footer := savedFooter{Applicable: p.Applicable(), Obstacles: p.Obstacles, Digest: p.Digest}
	for _, action := range Actions() {
		if t := p.Totals[action]; t != nil {
			footer.Totals = append(footer.Totals, saveTotals(action, t))
		}
	}
	lines.tail = func(line []byte) []byte {
		return append(bytes.TrimSuffix(line, []byte("}\n")), sumStart...)
	}
	return lines.write(footer)
}

// lineWriter encodes one value a line, in a buffer that it keeps.
type lineWriter struct {
	out     io.Writer
	buffer  bytes.Buffer
	encoder *json.Encoder
	tail    func([]byte) []byte // changes a line before it is written; nil for not at all
}

func (l *lineWriter) write(v any) error {
	l.buffer.Reset()
	if err := l.encoder.Encode(v); err != nil {
		return err
	}
	line := l.buffer.Bytes()
	if l.tail != nil {
		line = l.tail(line)
	}
	if len(line) > lineMax-sumDigits-len(sumEnd) {
		return fmt.Errorf("it has %d bytes, more than can be read again", len(line))
	}
	_, err := l.out.Write(line)
	return err
}

func saveTotals(action Action, t *transfer.Totals) savedTotals {
	saved := savedTotals{Action: action, Count: t.Count(), Assets: []savedTotal{}}
	for total := range t.All() {
		scale := max(0, -total.Sum.Exponent())
		saved.Assets = append(saved.Assets, savedTotal{total.Asset, total.Count, total.Sum.StringFixed(scale)})
	}
	return saved
}
