package planner

import "remit/config"

// SignalKind names a signal.
type SignalKind string

// The signals. The first three come from the state's history: recorded or adopted transfers, and
// did not fail.
const (
	FirstDestination SignalKind = "first-time destination"
	AmountOutOfLine  SignalKind = "amount out of line" // over ten times the largest so far to its destination

	// OtherName marks a transfer to a destination that was paid before, and never under its display name.
	OtherName SignalKind = "another name"

	// MixedScripts marks a text that mixes letters of several scripts, or has letters that look like
	// those of another (Unicode's Technical Standard 39).
	MixedScripts SignalKind = "mixed scripts"

	LookAlike  SignalKind = "look-alike" // same sender, destination, asset and amount under another ref_id
	Rename     SignalKind = "rename"     // the same movement as one that was recorded under other words
	Unverified SignalKind = "unverified" // recorded, but its record falls short, or its destination could not be proven

	Late SignalKind = "late" // an occurrence of a schedule that should have been made long ago
)

// Noun returns the words for a number of marks of the kind, such as "first-time destinations". A kind that no case
// names has one form for all numbers.
func (k SignalKind) Noun(count int) string {
	many := map[SignalKind]string{
		FirstDestination: "first-time destinations", AmountOutOfLine: "amounts out of line", LookAlike: "look-alikes", Rename: "renames",
	}[k]
	switch {
	case k == OtherName:
		return "under another name"
	case count != 1 && many != "":
		return many
	}
	return string(k)
}

// signalsOf are the marks that a transfer has by itself, without regard to earlier payments. A new one is a name
// above and a line here.
func signalsOf(t *config.Transfer) []Signal {
	return mixedScripts(t)
}

// SignalCount is how many marks of a kind a plan has, and how many of them are accepted.
type SignalCount struct {
	Kind     SignalKind
	Count    int
	Accepted int
}

// Signals counts the marks of a plan by kind, in the order in which the kinds occur.
func (p *Plan) Signals() []SignalCount {
	var counts []SignalCount
	at := make(map[SignalKind]int)
	for c, count := range p.Changes.Kinds() {
		for _, s := range c.Signals {
			i, isKnown := at[s.Kind]
			if !isKnown {
				i = len(counts)
				at[s.Kind] = i
				counts = append(counts, SignalCount{Kind: s.Kind})
			}
			counts[i].Count += count
			if s.Accepted != "" {
				counts[i].Accepted += count
			}
		}
	}
	return counts
}
