package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"remit/internal/text/shell"
)

// Renaming is what an obstacle says of transfers that were renamed.
type Renaming struct {
	// Was and Is are how the ref_ids were made and are, of the first of them; the same where the amounts in them differ, or the spelling.
	Was string `json:"was"`
	Is  string `json:"is"`
	// Oldest and Newest are when what they were was intended; zero where that is not known.
	Oldest time.Time `json:"oldest,omitzero"`
	Newest time.Time `json:"newest,omitzero"`
}

// addRenameObstacles adds one for each block of which transfers were renamed, in declaration
// order.
func (j *judge) addRenameObstacles() {
	blocks := slices.Collect(maps.Keys(j.renames))
	for _, some := range j.renames {
		slices.SortFunc(some, func(x, y judgedLine) int { return cmp.Compare(x.line.number, y.line.number) })
	}
	slices.SortFunc(blocks, func(x, y string) int {
		return cmp.Compare(j.renames[x][0].line.number, j.renames[y][0].line.number)
	})
	for n, block := range blocks {
		if n == refIDsMax {
			j.plan.Obstacles = append(j.plan.Obstacles, Obstacle{
				Kind: ObstacleRename, Count: len(blocks) - n,
				Detail: fmt.Sprintf("%d more blocks have transfers that look like renamed ones.", len(blocks)-n),
			})
			break
		}
		j.plan.Obstacles = append(j.plan.Obstacles, j.renameObstacle(block, j.renames[block]))
	}
}

// renameObstacle is about the renames and the corrections of one block, with the edit that keeps the identities and the
// flag that accepts the new ones.
func (j *judge) renameObstacle(block string, some []judgedLine) Obstacle {
	o := Obstacle{Kind: ObstacleRename, Address: block}
	var renames, corrections []judgedLine
	for _, v := range some {
		o.add(v.line.RefID)
		if v.rename != nil {
			renames = append(renames, v)
		} else {
			corrections = append(corrections, v)
		}
	}
	o.Remedy = "--accept-renames=" + shell.Word(fmt.Sprintf("%s:%d", block, o.Count))
	if len(renames) > 0 {
		j.describeRenames(&o, renames)
	}
	if len(corrections) > 0 {
		j.describeCorrections(&o, corrections)
	}
	if given, ok := j.controls.AcceptRenames[block]; ok {
		o.Detail += fmt.Sprintf(" --accept-renames=%s:%d does not count: the plan has %d.", block, given, o.Count)
	}
	return o
}

func (j *judge) describeRenames(o *Obstacle, some []judgedLine) {
	first := some[0]
	was, is := first.rename, namedBy(first.line.Change).words()
	o.Rename = &Renaming{Was: was.words, Is: is}
	areMixed := false
	for _, v := range some {
		areMixed = areMixed || v.rename.words != was.words
		o.Rename.add(j.madeAt(v.rename.row))
	}
	old := j.rows.refID(was.row)
	next, isPeriod := periodBetween(was.words, is)
	if o.Count == 1 && first.line.Address == o.Address {
		both := "accept it"
		if isPeriod {
			both = "as where this is the payment of the next period, leave the block of the old one in the files beside it, or accept it"
		}
		made := fmt.Sprintf("was made by %s, and is by %s", was.words, is)
		if was.words == is {
			made = "is made by the same words, and a value in it is written otherwise"
		}
		o.Detail = fmt.Sprintf("%q at %s makes the same movement as %q, which is %s%s and is no longer declared. Its name %s. If the transfer was only renamed, keep its identity by writing its ref_id out in the block. If both are meant, %s.",
			first.line.RefID, first.line.Place, old, j.recordedFrom(old), o.Rename.when(), made, both)
		o.Remedy = "ref_id = " + string(hclwrite.TokensForValue(cty.StringVal(old)).Bytes()) + "\n" + o.Remedy
		return
	}
	again, made := "write the old words again", fmt.Sprintf("were made by %s%s, and are by %s", was.words, orOthers(areMixed), is)
	switch {
	case was.words == unknownWords:
		again = "make the old ref_ids again"
	case was.words == is && !areMixed:
		made = "are made by the same words, and a value in them is written otherwise: a spreadsheet drops zeros in front of a number, for example"
		again = "write the values as they were"
	}
	help := fmt.Sprintf(" If they were only renamed, they are paid already: %s, which keeps their identities. If they are to be paid once more, accept exactly so many.", again)
	if isPeriod && !areMixed {
		help = next.help()
		o.Remedy = next.remedy() + o.Remedy
	}
	if len(some) == 1 { // of several with corrections
		o.Detail = fmt.Sprintf("1 transfer of %s makes the same movement as a recorded one%s that is no longer declared: %q at %s as %q, %s. Such ref_ids %s.%s",
			o.Address, o.Rename.when(), first.line.RefID, first.line.Place, old, j.recordedFrom(old), made, help)
		return
	}
	o.Detail = fmt.Sprintf("%d transfers of %s make the same movements as recorded ones%s that are no longer declared, the first %q at %s as %q, %s. Their ref_ids %s.%s",
		len(some), o.Address, o.Rename.when(), first.line.RefID, first.line.Place, old, j.recordedFrom(old), made, help)
}

// describeCorrections adds what there is to say of lines that differ from recorded transfers by the amount alone.
func (j *judge) describeCorrections(o *Obstacle, some []judgedLine) {
	first := some[0]
	c, was := first.line, first.was
	when := new(Renaming)
	for _, v := range some {
		when.add(j.madeAt(v.was))
	}
	old := j.rows.refID(was)
	amount := fmt.Sprintf("%s %s", j.rows.amount(was), j.rows.assetOf(was))
	if o.Rename == nil {
		words := namedBy(c.Change).words()
		o.Rename = &Renaming{Was: words, Is: words, Oldest: when.Oldest, Newest: when.Newest}
	} else {
		o.Detail += " "
	}
	if len(some) == 1 {
		o.Detail += fmt.Sprintf("%q at %s is the same ref_id as %q but for the amount. That one is %s%s with %s, and is no longer declared.",
			c.RefID, c.Place, old, j.recordedFrom(old), when.when(), amount)
	} else {
		o.Detail += fmt.Sprintf("%d transfers of %s have the same ref_ids as recorded ones%s that are no longer declared, but for the amounts, the first %q at %s as %q, %s with %s.",
			len(some), o.Address, when.when(), c.RefID, c.Place, old, j.recordedFrom(old), amount)
	}
	o.Detail += " If an amount was corrected after the payment, all of it would be paid again: write the old amount, and declare the difference as a transfer of its own. If both are meant, leave the old one declared beside the new one, or accept exactly so many."
}

// recordedFrom says where a recorded twin was declared.
func (j *judge) recordedFrom(refID string) string {
	if place := j.places[refID]; place != "" {
		return "recorded from " + place
	}
	return "recorded without a declaration"
}

func orOthers(are bool) string {
	if are {
		return ", or by others"
	}
	return ""
}

// add adds when a recorded transfer was intended, as a row has it, where that is known.
func (r *Renaming) add(intended int64) {
	if intended == unknownAge {
		return
	}
	at := time.UnixMilli(intended).UTC()
	if r.Oldest.IsZero() || at.Before(r.Oldest) {
		r.Oldest = at
	}
	if at.After(r.Newest) {
		r.Newest = at
	}
}

// when returns the time at which the renamed transfer was intended.
func (r *Renaming) when() string {
	oldest, newest := r.Oldest.Format(time.DateOnly), r.Newest.Format(time.DateOnly)
	switch {
	case r.Oldest.IsZero():
		return ""
	case oldest == newest:
		return " (intended on " + oldest + ")"
	}
	return " (intended from " + oldest + " to " + newest + ")"
}
