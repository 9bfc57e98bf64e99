package planner

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"remit/config"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
	"remit/state"
)

// A month that is run again has its old values under the new words: the words of the line were recorded since, for the
// months that followed, and say nothing of this one. So the values that variables and files give are looked for in the
// ref_ids of all that is declared no longer. They need not be kept: a ref_id has them.

// values are the parts of a ref_id that its words do not have.
type values struct {
	parts []string
	// pieces are in how many places of another ref_id the parts may stand, each piece in order. A date is then none that has
	// its day for its month.
	pieces int
}

// piecesMin is for an expression that names fewer values: a key may be made of two.
const piecesMin = 2

// valuesOf are those of a ref_id. A written number of more than one digit is a value: a year that is written
// into the words names a period as one in a variable does.
func valuesOf(refID, words string) values {
	v := values{parts: parts(nil, refID), pieces: max(piecesMin, strings.Count(words, "each.")+strings.Count(words, "var."))}
	written, isCut := parts(nil, words), config.IsCutNaming(words)
	v.parts = slices.DeleteFunc(v.parts, func(part string) bool {
		if isNumber(part) && len(part) > 1 {
			return false
		}
		at := slices.IndexFunc(written, func(other string) bool { return strings.EqualFold(part, other) })
		if at >= 0 {
			written = slices.Delete(written, at, at+1)
		}
		return at >= 0 || isCut && !isNumber(part)
	})
	return v
}

// mayBeIn reports whether a ref_id has all the digits, which costs less to see than where it has them.
func (v *values) mayBeIn(refID string) bool {
	for _, part := range v.parts {
		if isNumber(part) && !strings.Contains(refID, strings.TrimLeft(part, "0")) {
			return false
		}
	}
	return len(v.parts) > 0
}

// areIn reports whether a ref_id of these parts has all the values.
func (v *values) areIn(parts []string) bool {
	if len(v.parts) > len(parts) || len(parts) > transfer.TextLengthMax {
		return false
	}
	var used [transfer.TextLengthMax]bool
	for at, pieces := 0, 1; at < len(v.parts); pieces++ {
		from, longest := 0, 0
		for i := range parts {
			n := 0
			for at+n < len(v.parts) && i+n < len(parts) && !used[i+n] && isSamePart(v.parts[at+n], parts[i+n]) {
				n++
			}
			if n > longest {
				from, longest = i, n
			}
		}
		if longest == 0 || pieces > v.pieces {
			return false
		}
		for i := range longest {
			used[from+i] = true
		}
		at += longest
	}
	return true
}

// parts appends the runs of letters and the runs of digits of a text.
func parts(all []string, text string) []string {
	for part, rest := nextPart(text); part != ""; part, rest = nextPart(rest) {
		all = append(all, part)
	}
	return all
}

// kindOf is 1 for a digit, 2 for a letter, a mark of one, or a number in other signs, and 0 for any other sign.
func kindOf(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return 1
	case r < utf8.RuneSelf && (r|0x20 < 'a' || r|0x20 > 'z'), r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.M, unicode.N):
		return 0
	}
	return 2
}

// nextPart cuts the first run of letters, or of digits, off a text; "" where there is none.
func nextPart(text string) (part, rest string) {
	from, kind := 0, 0
	for i, r := range text {
		next := kindOf(r)
		if next == kind {
			continue
		}
		if kind != 0 {
			return text[from:i], text[i:]
		}
		from, kind = i, next
	}
	if kind == 0 {
		return "", ""
	}
	return text[from:], ""
}

// isRespelled reports whether two ref_ids that differ have the same parts in the same order: a program that wrote the file anew dropped
// zeros in front of a number, for example, or wrote capitals, or another sign that joins the parts. Any other sign means something.
func isRespelled(x, y string) bool {
	return x != y && string(appendSpelling(nil, x)) == string(appendSpelling(nil, y))
}

// joining are the signs that join the parts of a ref_id, and say nothing else.
const joining = "-_./: "

// typed are the plain signs in the place of those that an editor, a spreadsheet or another encoding writes for them.
var typed = strings.NewReplacer(
	"ß", "ss", "ẞ", "SS", "æ", "ae", "Æ", "AE", "œ", "oe", "Œ", "OE", "ø", "o", "Ø", "O", "ł", "l", "Ł", "L", "đ", "d", "Đ", "D",
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "ʼ", "'", "´", "'", "′", "'", "`", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`,
	"−", "-", "⁄", "/", "·", ".", "•", ".",
)

// plainSpelling is a ref_id as somebody types it who has the signs of ASCII alone, as far as they go. Accents go from Latin letters: in other
// scripts they make other letters.
func plainSpelling(refID string) string {
	if transfer.Plain(refID) {
		return strings.ReplaceAll(refID, "`", "'")
	}
	isLatin := false
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x300 && r < 0x370 && isLatin, transfer.Hidden(r):
			return -1
		case unicode.Is(unicode.Pd, r):
			return '-'
		case unicode.IsSpace(r):
			return ' '
		}
		isLatin = unicode.Is(unicode.Latin, r)
		return r
	}, norm.NFKD.String(typed.Replace(refID)))
}

// isFraction reports whether a part is the .0 that a program writes behind a whole number: before is the text in front of it.
func isFraction(before, part, rest string) bool {
	if strings.Trim(part, "0") != "" || len(before) < 2 || before[len(before)-1] != '.' || !isNumber(before[len(before)-2:]) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || kindOf(next) == 0 && next != '.'
}

// appendSpelling appends that of a ref_id which every spelling of it shares: its parts, without capitals, accents, zeros in front and a .0
// behind, and its signs but for those that join parts.
func appendSpelling(to []byte, refID string) []byte {
	refID = plainSpelling(refID)
	for part, rest := nextPart(refID); part != ""; part, rest = nextPart(rest) {
		if isNumber(part) {
			if isFraction(refID[:len(refID)-len(rest)-len(part)], part, rest) {
				continue
			}
			part = strings.TrimLeft(part, "0")
		}
		for _, r := range part {
			to = utf8.AppendRune(to, unicode.ToLower(unicode.ToUpper(r)))
		}
		to = append(to, 0)
	}
	for _, r := range refID {
		if kindOf(r) == 0 && !strings.ContainsRune(joining, r) {
			to = utf8.AppendRune(to, r)
		}
	}
	return to
}

// spelled is a row by its ref_id in any spelling.
type spelled struct {
	hash uint64
	row  *row
}

var spellingSeed = maphash.MakeSeed()

// spellingsOf are rows in order of the hash of their spelling, and of those with one hash in their own order. It uses what room has.
func (b *builder) spellingsOf(room []spelled, rows []*row, buffer []byte) ([]spelled, []byte) {
	room = room[:0]
	for _, r := range rows {
		buffer = appendSpelling(buffer[:0], b.rows.refID(r))
		room = append(room, spelled{maphash.Bytes(spellingSeed, buffer), r})
	}
	slices.SortStableFunc(room, func(x, y spelled) int { return cmp.Compare(x.hash, y.hash) })
	return room, buffer
}

func isNumber(part string) bool { return part[0] >= '0' && part[0] <= '9' }

// isSamePart reports whether two parts are one number, or one text.
func isSamePart(x, y string) bool {
	if !isNumber(x) || !isNumber(y) {
		return strings.EqualFold(x, y)
	}
	return strings.TrimLeft(x, "0") == strings.TrimLeft(y, "0")
}

// digits are a number.
var digits = lazyregexp.New(`[0-9]+`)

// hasShapeOf reports whether two ref_ids are the same but for their numbers.
func hasShapeOf(x, y string) bool {
	shape := func(refID string) string { return digits.ReplaceAllString(refID, "0") }
	return shape(x) == shape(y)
}

// sameValues is a recorded transfer that has the values of a line.
type sameValues struct {
	line twinned
	row  *row
	of   *values // nil of one whose ref_id is that of the line in another spelling, whatever its words
}

// findSameValues looks among the transfers of each movement that are declared no longer for those that have the values
// of a line by other words, or its ref_id in another spelling. It reads none of which the ref_id says that they have not.
func (b *builder) findSameValues(ctx context.Context, all []*renameGroup) error {
	var found []sameValues
	var buffer []string
	var spellings []spelled
	var spelling []byte
	for _, g := range all {
		spellings, spelling = b.spellingsOf(spellings, g.gone, spelling)
		for _, line := range g.lines {
			c := b.plan.Changes.At(int(line.number))
			words := namedBy(&c).words()
			if b.renamed[line.number] != nil || words == "" {
				continue
			}
			spelling = appendSpelling(spelling[:0], c.RefID)
			hash := maphash.Bytes(spellingSeed, spelling)
			at, _ := slices.BinarySearchFunc(spellings, hash, func(s spelled, hash uint64) int { return cmp.Compare(s.hash, hash) })
			for ; at < len(spellings) && spellings[at].hash == hash; at++ {
				if r := spellings[at].row; isRespelled(b.rows.refID(r), c.RefID) {
					found = append(found, sameValues{line, r, nil})
				}
			}
			v := valuesOf(c.RefID, words)
			for _, r := range g.gone {
				refID := b.rows.refID(r)
				if !v.mayBeIn(refID) {
					continue
				}
				if buffer = parts(buffer[:0], refID); v.areIn(buffer) {
					found = append(found, sameValues{line, r, &v})
				}
			}
		}
	}
	refIDs := make([]string, len(found))
	for i, f := range found {
		refIDs[i] = b.rows.refID(f.row)
	}
	return eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		f := found[0]
		found = found[1:]
		return b.noteSameValues(&f, d)
	})
}

// noteSameValues notes what a line was, where the recorded transfer has other words. The newest counts.
func (b *builder) noteSameValues(f *sameValues, d *state.Detail) error {
	request, err := newRecorded(d).Request()
	if err != nil {
		return fmt.Errorf("read the recorded request of %q: %w", d.RefID, err)
	}
	c := b.plan.Changes.At(int(f.line.number))
	words := named{d.RefID, d.Intent.Naming, d.Intent.FromLabel}.words()
	hasValues := f.of == nil || words != namedBy(&c).words() && f.of.areIn(unwritten(d.RefID, words))
	if b.renamed[f.line.number] != nil || !request.IsTwin(&c.Request) || !hasValues {
		return nil
	}
	if words == "" {
		words = unknownWords
	}
	b.renamed[f.line.number] = &renaming{row: f.row, words: words, isAlone: true}
	return nil
}

// unwritten are the parts of a ref_id without the numbers of one digit that its words have.
func unwritten(refID, words string) []string {
	written := parts(nil, words)
	return slices.DeleteFunc(parts(nil, refID), func(part string) bool {
		at := slices.Index(written, part)
		if !isNumber(part) || len(part) > 1 || at < 0 {
			return false
		}
		written = slices.Delete(written, at, at+1)
		return true
	})
}
