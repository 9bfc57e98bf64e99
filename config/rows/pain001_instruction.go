package rows

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

// instruction is one instruction. It is a spot.
type instruction struct {
	file   *pain001File
	fields []string
	places []textPlace
	place  textPlace
	wrong  hcl.Diagnostics
}

func (r *instruction) refuse(at span, summary, detail string) {
	r.wrong = append(r.wrong, r.file.wrongRecord(at, summary, "%s", detail)...)
}

// finish counts an instruction and checks what it must have.
func (r *instruction) finish() {
	f := r.file
	amount := r.fields[slices.Index(f.names, "amount")]
	currency := r.fields[slices.Index(f.names, "currency")]
	if xmlDecimal.MatchString(amount) {
		r.fields[slices.Index(f.names, "amount")] = plainDecimal(amount, currency)
	}
	f.group.add(amount)
	f.info.add(amount)
	here := span{r.place.from - int64(f.lines.skipped), r.place.length}
	switch key := r.fields[slices.Index(f.names, "end_to_end_id")]; {
	case r.wrong.HasErrors():
	case amount == "":
		r.refuse(here, "Amount is missing", "The instruction has no InstdAmt.")
	case !xmlDecimal.MatchString(amount):
		r.wrong = append(r.wrong, mistake.New(r.at(slices.Index(f.names, "amount")), "Invalid amount", "InstdAmt %q is not a decimal such as 1200.50.", amount))
	case currency == "":
		r.wrong = append(r.wrong, mistake.New(r.at(slices.Index(f.names, "amount")), "Currency is missing", "InstdAmt has no attribute Ccy, such as Ccy=\"EUR\"."))
	case f.key == "end_to_end_id" && key == painUnused:
		r.wrong = append(r.wrong, mistake.New(r.at(slices.Index(f.names, "end_to_end_id")), "Instruction without an ID",
			"EndToEndId says that there is none. An instruction must be known by an ID of its own; if it has another one, say so:\n\n  key = \"instruction_id\""))
	}
}

// beside is the currency of the amount, for its column.
func (r *instruction) beside(i int) string {
	if names := r.file.names; names[i] == "amount" {
		return r.fields[slices.Index(names, "currency")]
	}
	return ""
}

// whole is the first line of the instruction.
func (r *instruction) whole() hcl.Range { return r.file.rangeOf(r.place) }

// at is the place of a column's text, or the instruction where it has none.
func (r *instruction) at(i int) hcl.Range {
	if r.places[i].length == 0 {
		return r.whole()
	}
	return r.file.rangeOf(r.places[i])
}
