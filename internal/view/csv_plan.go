package view

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/planner"
)

// PlanCSV writes a plan as a payment register: a line of column names, then one for each
// transfer in declaration order, and the undeclared ones after them where o.ShowAll asks for
// them. It is RFC 4180: UTF-8, each line ending in CR LF. A spreadsheet may open it: see
// [cellText]. Amounts are plain decimals. It returns only errors of w.
func PlanCSV(w io.Writer, p *planner.Plan, o PlanOptions) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	err := out.Write(slices.Concat([]string{"action", "ref_id", "batch"}, requestColumns(true),
		[]string{"due", "expires", "signals", "place", "fingerprint", "hash_weight", "display_name"}))
	for _, c := range p.Changes.All() {
		if err == nil {
			err = out.Write(csvCells(c))
		}
	}
	if o.ShowAll {
		for i := range p.Undeclared {
			if err == nil {
				err = out.Write(csvCells(&p.Undeclared[i]))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("write the register: %w", err)
	}
	out.Flush()
	return out.Error()
}

// requestColumns are the names of a request's fields as columns, its ref_id apart, with those
// that have pairs where they are wanted.
func requestColumns(pairs bool) []string {
	var names []string
	for _, f := range transfer.ReadingOrder() {
		if f.Name() != "ref_id" && (pairs || !f.HasPairs()) {
			names = append(names, f.Name())
		}
	}
	return names
}

// requestCells are what a request has in these columns.
func requestCells(r *transfer.Request, pairs bool) []string {
	var cells []string
	for _, f := range transfer.ReadingOrder() {
		switch {
		case f.Name() == "ref_id":
		case !f.HasPairs():
			cells = append(cells, r.Text(f))
		case pairs:
			cells = append(cells, pairsCell(r.Pairs(f)))
		}
	}
	return cells
}

func csvCells(c *planner.Change) []string {
	r := moved(c)
	cells := slices.Concat([]string{string(c.Action), c.RefID, c.Batch}, requestCells(&r, true), []string{
		momentOrNone(c.Until), momentOrNone(c.Expires), signalsText(c), c.Place, r.Fingerprint().String(),
		strconv.FormatInt(r.HashWeight(), 10), payee(c, r).name,
	})
	for i := range cells {
		cells[i] = cellText(cells[i])
	}
	return cells
}

// cellText is visible text that a spreadsheet takes for text: an apostrophe precedes each = + - @
// with which a cell begins, or would begin if what precedes it were taken for a separator or a
// quote. Other text stays as it is.
func cellText(text string) string {
	text = cutEnd(Visible(text), spanWidthMax)
	if !strings.ContainsAny(text, formulaStarts) {
		return text
	}
	var b strings.Builder
	isStart := true
	for _, r := range text {
		if isStart && strings.ContainsRune(formulaStarts, r) {
			b.WriteByte('\'')
		}
		b.WriteRune(r)
		isStart = isStart && r == ' ' || strings.ContainsRune(separators, r)
	}
	return b.String()
}

const (
	formulaStarts = "=+-@＝＋－＠" // and those of twice the width, which some take for them
	separators    = ",;|\"'"
)

// signalsText are the marks of a change in words.
func signalsText(c *planner.Change) string {
	var parts []string
	for _, s := range c.Signals {
		text := string(s.Kind)
		if s.RefID != "" {
			text += " of " + s.RefID
		}
		if s.Accepted != "" {
			text += " (accepted by " + s.Accepted + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

func momentOrNone(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return moment(t)
}
