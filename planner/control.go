package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"remit/config"
	"remit/internal/transfer"
)

// ControlBlockError says that control blocks of a saved plan are not those of the configuration: somebody edited them
// since, or the file of the plan.
type ControlBlockError struct{ Blocks []ControlBlock }

// ControlBlock is the control block of one batch, in words.
type ControlBlock struct {
	Batch string
	Said  string // by the plan
	Here  string // in the configuration
}

// Error names each of them and says what to do.
func (e *ControlBlockError) Error() string {
	var texts []string
	for _, b := range e.Blocks {
		texts = append(texts, fmt.Sprintf("the control block of batch %q has %s in the plan file, and %s in the configuration here", b.Batch, b.Said, b.Here))
	}
	return strings.Join(texts, "; ") + ". The configuration was changed since, or the plan file was: make a new plan, and review that"
}

// controlOf is the control block of a declared batch; nil where it has none.
func controlOf(declared []config.Batch, name string) (block *config.BatchControl, isDeclared bool) {
	at := slices.IndexFunc(declared, func(b config.Batch) bool { return b.Name == name })
	if at < 0 {
		return nil, false
	}
	return declared[at].Control, true
}

// markBlocks notes the control blocks of the configuration that are not those of a plan which was computed again by its own.
func (p *Plan) markBlocks(under Controls) {
	if !under.OwnBlocks {
		return
	}
	for i := range p.Batches {
		batch := &p.Batches[i]
		if here, isDeclared := controlOf(under.Batches, batch.Name); isDeclared && !sameControl(here, batch.Control) {
			batch.Changed = &ControlBlock{batch.Name, controlText(batch.Control), controlText(here)}
		}
	}
}

// controlText is the control block in words; "" for none.
func (b *Batch) controlText() string {
	if b.Control == nil {
		return ""
	}
	return controlText(b.Control)
}

// OtherBlocks are the control blocks of the plan that are not those of the configuration; see [Controls].
func (p *Plan) OtherBlocks() []ControlBlock {
	var blocks []ControlBlock
	for i := range p.Batches {
		if changed := p.Batches[i].Changed; changed != nil {
			blocks = append(blocks, *changed)
		}
	}
	return blocks
}

// sameControl reports whether two blocks, which may be nil, control the same numbers, wherever they stand and however
// these are written.
func sameControl(a, b *config.BatchControl) bool {
	if a == nil || b == nil {
		return a == b
	}
	sameHash := a.HashTotal == b.HashTotal || a.HashTotal != nil && b.HashTotal != nil && a.HashTotal.Equal(*b.HashTotal)
	return max(a.Count, -1) == max(b.Count, -1) && sameHash && (a.Totals == nil) == (b.Totals == nil) &&
		maps.EqualFunc(a.Totals, b.Totals, decimal.Decimal.Equal)
}

// controlText is a control block in words.
func controlText(c *config.BatchControl) string {
	if c == nil {
		return "none"
	}
	saved := saveControl(c)
	var texts []string
	if saved.Count != nil {
		texts = append(texts, fmt.Sprintf("count %d", *saved.Count))
	}
	for _, total := range saved.Totals {
		texts = append(texts, total.Asset+" "+transfer.Scales(nil).Shown(total.Sum, total.Asset))
	}
	if saved.SaysTotals {
		texts = append(texts, "no other asset")
	}
	if saved.HashTotal != "" {
		texts = append(texts, "hash total "+transfer.Scales(nil).Shown(saved.HashTotal, ""))
	}
	return strings.Join(texts, ", ")
}

// savedControl is a control block in a saved plan.
type savedControl struct {
	Place string `json:"place"`
	Count *int   `json:"count,omitempty"`
	// SaysTotals tells a block without totals from one whose totals are none.
	SaysTotals bool         `json:"says_totals,omitempty"`
	Totals     []savedTotal `json:"totals,omitempty"`
	HashTotal  string       `json:"hash_total,omitempty"`
}

func saveControl(c *config.BatchControl) *savedControl {
	if c == nil {
		return nil
	}
	saved := &savedControl{Place: c.Place.String()}
	if c.Count >= 0 {
		saved.Count = &c.Count
	}
	for _, asset := range slices.Sorted(maps.Keys(c.Totals)) {
		saved.Totals = append(saved.Totals, savedTotal{Asset: asset, Sum: transfer.Digits(c.Totals[asset])})
	}
	saved.SaysTotals = c.Totals != nil
	if c.HashTotal != nil {
		saved.HashTotal = transfer.Digits(*c.HashTotal)
	}
	return saved
}

// restored is the control block that was saved.
func (s *savedControl) restored() (*config.BatchControl, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // a batch without one
	}
	c := &config.BatchControl{Place: config.PlaceOf(s.Place), Count: -1}
	if s.Count != nil {
		c.Count = *s.Count
	}
	if s.SaysTotals {
		c.Totals = make(map[string]decimal.Decimal)
	}
	for _, total := range s.Totals {
		sum, ok := savedNumber(total.Sum)
		if !ok || c.Totals == nil {
			return nil, fmt.Errorf("a total of %q", total.Sum)
		}
		c.Totals[total.Asset] = sum
	}
	if s.HashTotal != "" {
		hash, ok := savedNumber(s.HashTotal)
		if !ok {
			return nil, fmt.Errorf("a hash total of %q", s.HashTotal)
		}
		c.HashTotal = &hash
	}
	return c, nil
}
