package planner

import "slices"

// SignalKind names a signal.
type SignalKind string

// The signals. The first three come from the state's history: recorded or adopted transfers, and
// did not fail.
const (
	FirstDestination SignalKind = "first-time destination"
	AmountOutOfLine  SignalKind = "amount out of line" // at least nine times the largest so far to its destination

	// OtherAsset marks a transfer to a destination that was paid before, and never in this asset.
	OtherAsset SignalKind = "another asset"

	// OtherName marks a transfer to a destination that was paid before, and never under its display name.
	OtherName SignalKind = "another name"

	// OtherAccount marks a transfer to a destination that was never paid, under a display name that was: an invoice with
	// changed bank details looks like this.
	OtherAccount SignalKind = "another account"

	// MixedScripts marks a text that mixes letters of several scripts, or has letters that look like
	// those of another (Unicode's Technical Standard 39).
	MixedScripts SignalKind = "mixed scripts"

	// UnusualForm marks an ID that is a UUID in another form than that in which services show it: without its hyphens, in
	// braces, or as a URN. Nobody but the service knows whether it reads that as the same.
	UnusualForm SignalKind = "unusual form"

	LookAlike  SignalKind = "look-alike" // same sender, destination, asset and amount under another ref_id
	Rename     SignalKind = "rename"     // the same movement as one that was recorded under other words
	Unverified SignalKind = "unverified" // recorded, but its record falls short, or its destination could not be proven

	Late SignalKind = "late" // an occurrence of a schedule that should have been made long ago
)

// Noun returns the words for a number of marks of the kind, such as "amounts out of line". A kind of a plan that
// another version of remit saved is its own noun.
func (k SignalKind) Noun(count int) string {
	one, many := string(k), string(k)
	switch k {
	case FirstDestination:
		one, many = "to a first-time destination", "to first-time destinations" // one may be that of several transfers
	case AmountOutOfLine:
		many = "amounts out of line"
	case LookAlike:
		many = "look-alikes"
	case Rename:
		many = "renames"
	case OtherName:
		one, many = "under another name", "under another name"
	case OtherAccount:
		one, many = "known name with another account", "known names with another account"
	case UnusualForm:
		one, many = "in an unusual form", "in an unusual form"
	case OtherAsset:
		one, many = "in another asset", "in another asset"
	case MixedScripts, Unverified, Late:
	}
	if count == 1 {
		return one
	}
	return many
}

// signalsOf are the marks that a transfer has by itself, without regard to earlier payments. A new one is a name and
// a noun above, and a line here. It looks at the line of the plan, which newChange has just made: an apply computes the
// signals of a saved plan again from its lines, and refuses a plan whose signals differ. What a line says of others, such as
// After, of windows and of the state is not there yet.
func signalsOf(c *Change) []Signal {
	return slices.Concat(
		mixedScripts(c),
		unusualForms(c),
	)
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
