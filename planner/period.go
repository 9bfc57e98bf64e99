package planner

import (
	"fmt"
	"regexp"
	"strings"

	"remit/internal/text/lazyregexp"
)

// A month that is written into a ref_id expression is a word of it, so that the next month looks like a rename. Only a
// person can tell which of the two it is. So it stays a question, and the message says how it is asked no more: a
// variable is no word.

// periodChange is the one way in which the words of two namings differ, where that may be a period.
type periodChange struct {
	was string // such as 2026-10
	is  string // such as 2026-11; "" where a variable stands there now
	// variable is the one that stands there now, such as var.period; "" for none.
	variable string
	// written is the ref_id argument with var.period in the place of the text that differs; "" where that can't be said.
	written string
}

// numbers are a number, or some of them with signs between, as the dates in ref_ids are.
var numbers = lazyregexp.New(`[0-9]+(?:[-_./][0-9]+)*`)

// variableHole is a variable in a template.
var variableHole = lazyregexp.New(`\$\{var\.[^{}]+\}`)

// periodBetween finds how words differ; false where they differ in more than a period.
func periodBetween(was, is string) (periodChange, bool) {
	if p, ok := variableBetween(was, is); ok {
		return p, true
	}
	before, after := numbers.FindAllStringSubmatchIndex(was, -1), numbers.FindAllStringSubmatchIndex(is, -1)
	if numbers.ReplaceAllString(was, "0") != numbers.ReplaceAllString(is, "0") {
		return periodChange{}, false
	}
	var p periodChange
	end := strings.Index(is, `", `) // of the expression; the source of each.key follows
	if end < 0 {
		end = len(is)
	}
	written, from, isInTemplate := "", 0, strings.HasPrefix(is, `ref_id = "`)
	for i, at := range after {
		x, y := was[before[i][0]:before[i][1]], is[at[0]:at[1]]
		if x == y {
			continue
		}
		if p.was != "" && (p.was != x || p.is != y) || !isSameShape(x, y) || at[1] > end {
			return periodChange{}, false
		}
		p.was, p.is = x, y
		isInTemplate = isInTemplate && strings.Count(is[:at[0]], "${") == strings.Count(is[:at[0]], "}")
		written += is[from:at[0]] + "${var.period}"
		from = at[1]
	}
	if isInTemplate {
		p.written = strings.TrimSuffix(written+is[from:end], `"`) + `"`
	}
	return p, p.was != ""
}

// variableBetween finds the variable that stands in new words where a number stood.
func variableBetween(was, is string) (periodChange, bool) {
	var holes []string
	pattern, end := "^", 0
	for _, at := range variableHole.FindAllStringSubmatchIndex(is, -1) {
		hole := is[at[0]:at[1]]
		holes = append(holes, hole)
		pattern += regexp.QuoteMeta(is[end:at[0]]) + "(" + regexp.QuoteMeta(hole) + "|" + numbers.String() + ")"
		end = at[1]
	}
	if len(holes) == 0 {
		return periodChange{}, false
	}
	found := regexp.MustCompile(pattern + regexp.QuoteMeta(is[end:]) + "$").FindStringSubmatch(was)
	if found == nil {
		return periodChange{}, false
	}
	var p periodChange
	for i, text := range found[1:] {
		name := strings.Trim(holes[i], "${}")
		if text == holes[i] {
			continue
		}
		if p.was != "" && (p.was != text || p.variable != name) {
			return periodChange{}, false
		}
		p.was, p.variable = text, name
	}
	return p, p.was != ""
}

// help says what to do, of the transfers of a block with for_each.
func (p periodChange) help() string {
	if p.variable != "" {
		return fmt.Sprintf(" The new words have %s in the place of %q. If they were only renamed, they are paid already: give %[1]s that value, which keeps their identities. "+
			"If this is the next period, accept exactly so many, this once: from then on a new value of %[1]s renames nothing.", p.variable, p.was)
	}
	text := fmt.Sprintf(" These differ in %q and %q alone. If they were only renamed, they are paid already: write the old words again, which keeps their identities. "+
		"If this is the next period, ", p.was, p.is)
	if p.written == "" {
		return text + "make it a variable, whose value is no word, and accept exactly so many, this once."
	}
	return text + fmt.Sprintf("make it a variable, whose value is no word, with %q as its value, and accept exactly so many, this once.", p.is)
}

// remedy are the lines to write, each with its line feed; "" where there are none.
func (p periodChange) remedy() string {
	if p.written == "" {
		return ""
	}
	return "variable \"period\" { type = string }\n" + p.written + "\n"
}

// isSameShape reports whether two numbers have as many digits, and the same signs between.
func isSameShape(a, b string) bool {
	digits := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return '0'
			}
			return r
		}, text)
	}
	return digits(a) == digits(b)
}
