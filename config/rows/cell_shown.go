package rows

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"remit/internal/text/lazyregexp"
)

// shownNumber is a number as a cell shows it: digits, and the text before and after them.
type shownNumber struct {
	before, after string
	middle        string // from the first digit to the last; "" where there is none
	wholePart     string // of it, with what groups it
	decimals      string
	grouped       bool // by the program, as its language does it
	odd           bool // other characters are between the digits
	percent       bool
	minus         bool // the program puts a sign before it
	foreign       bool
}

// text is all of it.
func (n shownNumber) text() string {
	sign := ""
	if n.minus {
		sign = "-"
	}
	return strings.TrimSpace(sign + n.before + n.middle + n.after)
}

// shownPiece is a part of the shown text.
type shownPiece struct {
	text string
	kind tokenKind // a literal, a space, a digit, a point or a comma
}

// show makes what a section shows of a number. It is false where programs do not agree.
func (s *cellSection) show(number decimal.Decimal, unsigned bool) (shownNumber, bool) {
	n := shownNumber{minus: number.IsNegative() && !unsigned, foreign: s.foreign}
	number = number.Abs()
	var pieces []shownPiece
	switch {
	case s.has(tokenGeneral):
		for _, t := range s.tokens {
			if t.kind == tokenGeneral {
				pieces = append(pieces, digitsOf(number.String())...)
			} else {
				pieces = append(pieces, shownPiece{t.text, t.kind})
			}
		}
	case s.has(tokenExponent):
		return n, false
	default:
		tokens, ok := s.tokens, true
		if s.has(tokenSlash) {
			if tokens, ok = s.withoutFraction(); !number.IsInteger() {
				ok = false
			}
		}
		if !ok {
			return n, false
		}
		if n.percent = s.has(tokenPercent); n.percent {
			number = number.Shift(2)
		}
		if pieces, n.grouped, ok = place(tokens, number); !ok {
			return n, false
		}
	}
	n.split(pieces)
	return n, true
}

func (s *cellSection) has(kind tokenKind) bool {
	return slices.ContainsFunc(s.tokens, func(t formatToken) bool { return t.kind == kind })
}

// digitsOf are the pieces of a plain decimal.
func digitsOf(plain string) []shownPiece {
	pieces := make([]shownPiece, 0, len(plain))
	for _, c := range plain {
		kind := tokenDigit
		if c == '.' {
			kind = tokenPoint
		}
		pieces = append(pieces, shownPiece{string(c), kind})
	}
	return pieces
}

// withoutFraction are the tokens of a section "# ?/?", which shows a whole number and spaces
// where there is no fraction. It is false where a whole number is shown as a fraction.
func (s *cellSection) withoutFraction() ([]formatToken, bool) {
	slash := slices.IndexFunc(s.tokens, func(t formatToken) bool { return t.kind == tokenSlash })
	from := slash
	for from > 0 && s.tokens[from-1].kind == tokenDigit {
		from--
	}
	to := slash + 1
	for to < len(s.tokens) && (s.tokens[to].kind == tokenDigit || areDigits(s.tokens[to].text)) {
		to++
	}
	isDigit := func(t formatToken) bool { return t.kind == tokenDigit }
	ok := from < slash && to > slash+1 && slices.ContainsFunc(s.tokens[:from], isDigit) && from > 0 && s.tokens[from-1].kind != tokenDigit
	return slices.Concat(s.tokens[:from], s.tokens[to:]), ok
}

// place puts the digits of a number into the places that tokens have for them, rounded and scaled
// as they say. It is false where programs do not agree.
func place(tokens []formatToken, number decimal.Decimal) (pieces []shownPiece, grouped, ok bool) {
	isDigit := func(t formatToken) bool { return t.kind == tokenDigit }
	point := slices.IndexFunc(tokens, func(t formatToken) bool { return t.kind == tokenPoint })
	whole, after := tokens, []formatToken(nil)
	if point >= 0 {
		whole, after = tokens[:point], tokens[point+1:]
	}
	first := slices.IndexFunc(whole, isDigit)
	last := lastIndex(whole, isDigit)
	thousands := 0
	for i, t := range whole {
		switch {
		case t.kind != tokenComma:
		case first < 0 || i < first:
			return nil, false, false
		case i < last:
			grouped = true
		default:
			thousands++
		}
	}
	lastDecimal := lastIndex(after, isDigit)
	scale := 0
	for i, t := range after {
		switch {
		case t.kind == tokenDigit:
			scale++
		case t.kind == tokenComma && i > lastDecimal && lastDecimal >= 0:
			thousands++
		case t.kind == tokenComma:
			return nil, false, false
		}
	}
	if thousands > 0 && point >= 0 && lastDecimal < 0 || thousands > 0 && point > 0 && tokens[point-1].kind == tokenComma {
		return nil, false, false
	}
	wholeDigits, decimals, _ := strings.Cut(number.Shift(int32(-3*thousands)).StringFixed(int32(scale)), ".")
	pieces = placeWhole(whole, strings.TrimLeft(wholeDigits, "0"), grouped)
	if point >= 0 {
		pieces = append(pieces, shownPiece{".", tokenPoint})
		pieces = append(pieces, placeDecimals(after, decimals)...)
	}
	return pieces, grouped, true
}

func lastIndex(tokens []formatToken, is func(formatToken) bool) int {
	for i := len(tokens) - 1; i >= 0; i-- {
		if is(tokens[i]) {
			return i
		}
	}
	return -1
}

// placeWhole puts digits into places from the last one on; the first place takes the rest.
func placeWhole(tokens []formatToken, digits string, grouped bool) []shownPiece {
	first := slices.IndexFunc(tokens, func(t formatToken) bool { return t.kind == tokenDigit })
	var reversed []shownPiece
	count := 0
	add := func(digit string, kind tokenKind) {
		if grouped && count > 0 && count%3 == 0 && kind == tokenDigit {
			reversed = append(reversed, shownPiece{",", tokenComma})
		}
		reversed = append(reversed, shownPiece{digit, kind})
		count++
	}
	for i := len(tokens) - 1; i >= 0; i-- {
		t := tokens[i]
		switch {
		case t.kind == tokenComma:
		case t.kind != tokenDigit:
			reversed = append(reversed, shownPiece{t.text, t.kind})
		case digits != "":
			for more := true; more; more = i == first && digits != "" {
				add(digits[len(digits)-1:], tokenDigit)
				digits = digits[:len(digits)-1]
			}
		case t.text == "0":
			add("0", tokenDigit)
		case t.text == "?":
			add(" ", tokenSpace)
		}
	}
	slices.Reverse(reversed)
	return reversed
}

// placeDecimals puts decimals into places; zeros at their end show as the places say.
func placeDecimals(tokens []formatToken, decimals string) []shownPiece {
	kept := len(strings.TrimRight(decimals, "0"))
	var pieces []shownPiece
	n := 0
	for _, t := range tokens {
		if t.kind == tokenComma {
			continue
		}
		if t.kind != tokenDigit {
			pieces = append(pieces, shownPiece{t.text, t.kind})
			continue
		}
		n++
		if n <= kept || t.text == "0" {
			pieces = append(pieces, shownPiece{decimals[n-1 : n], tokenDigit})
		} else if t.text == "?" {
			pieces = append(pieces, shownPiece{" ", tokenSpace})
		}
	}
	return pieces
}

// split finds the digits among the pieces.
func (n *shownNumber) split(pieces []shownPiece) {
	isNumber := func(p shownPiece) bool { return p.kind == tokenDigit || p.kind == tokenPoint }
	hasDigit := slices.ContainsFunc(pieces, func(p shownPiece) bool { return p.kind == tokenDigit })
	first := slices.IndexFunc(pieces, isNumber)
	last := len(pieces) - 1
	for last >= 0 && !isNumber(pieces[last]) {
		last--
	}
	for i, p := range pieces {
		switch {
		case !hasDigit || i < first:
			n.before += p.text
		case i > last:
			n.after += p.text
		default:
			n.middle += p.text
			n.take(p)
		}
	}
}

// take takes a piece in that is among the digits.
func (n *shownNumber) take(p shownPiece) {
	switch hasPoint := n.decimals != ""; {
	case p.kind == tokenPoint:
		n.decimals = "."
	case hasPoint && p.kind == tokenDigit:
		n.decimals += p.text
	case hasPoint:
		n.odd = true
	default:
		n.wholePart += p.text
	}
}

// wholeGroups match a whole number in groups of three, or in lakhs and crores.
var wholeGroups = lazyregexp.New(`^(?:[0-9]*|[1-9][0-9]{0,2}(?:([,'’ \x{a0}\x{2009}\x{202f}])[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})$`)

// value is the number that a person reads, without a sign. It is false where that is not clear.
func (n shownNumber) value() (decimal.Decimal, bool) {
	group := ""
	for _, c := range n.wholePart {
		if c >= '0' && c <= '9' {
			continue
		}
		if group != "" && group != string(c) {
			return decimal.Zero, false
		}
		group = string(c)
	}
	if n.odd || !wholeGroups.MatchString(n.wholePart) {
		return decimal.Zero, false
	}
	digits := n.wholePart
	if group != "" {
		digits = strings.ReplaceAll(digits, group, "")
	}
	// One comma before three digits is a decimal one for half of the world, where the program does
	// not write it as its language does; so is what a language that is said makes of it.
	isOne := strings.Count(n.wholePart, group) == 1 && group != "" && len(n.decimals) < 2
	if group == "," && isOne && (!n.grouped || n.foreign) || n.foreign && group == "" && len(n.decimals) == len(".000") {
		return decimal.Zero, false
	}
	d, err := decimal.NewFromString("0" + digits + strings.TrimSuffix(n.decimals, "."))
	if n.percent {
		d = d.Shift(-2)
	}
	return d, err == nil
}

// means says whether a person reads the number in the shown text.
func (n shownNumber) means(number decimal.Decimal) bool {
	if n.middle == "" {
		return number.IsZero() && isDash(n.before)
	}
	value, ok := n.value()
	if !ok || !value.Equal(number.Abs()) || n.addsToNumber() {
		return false
	}
	return number.IsZero() || number.IsNegative() == n.isNegative()
}

const (
	minusSigns    = "-−–—‐‑‒―⁃⁻₋﹘﹣－˗➖"
	percentSigns  = "%‰‱٪﹪％"
	decimalPoints = ".,·‚٫٬．，。､·∙⋅・"
	verticalBars  = "|¦ǀ∣｜" // which look like a 1
	digitLetters  = "OoОоΟοՕօIlІӀΙⅠⅼƖ"
	openBrackets  = "([{<（［〈⟨﹙"
	closeBrackets = ")]}>）］〉⟩﹚"
)

// isDash says whether a text is the dash that means nothing, and perhaps a currency.
func isDash(text string) bool {
	letters := 0
	isOther := func(c rune) bool {
		if unicode.IsLetter(c) {
			letters++
		}
		return letters > len("USD") || unicode.IsNumber(c) || isHidden(c)
	}
	return strings.ContainsAny(text, minusSigns) && !strings.ContainsFunc(text, isOther)
}

// isNegative says whether a person reads a sign, or the brackets of accounts.
func (n shownNumber) isNegative() bool {
	afterLetters := n.before[lastLetter(n.before):]
	beforeLetters := n.after
	if i := strings.IndexFunc(n.after, unicode.IsLetter); i >= 0 {
		beforeLetters = n.after[:i]
	}
	// 12.- and 12,- are whole amounts of Switzerland and Scandinavia.
	isWhole := n.decimals == "" && (strings.HasPrefix(beforeLetters, ".") || strings.HasPrefix(beforeLetters, ","))
	open := 0
	for _, c := range n.before {
		switch {
		case strings.ContainsRune(openBrackets, c):
			open++
		case strings.ContainsRune(closeBrackets, c):
			open--
		}
	}
	return n.minus || strings.ContainsAny(afterLetters, minusSigns) || !isWhole && strings.ContainsAny(beforeLetters, minusSigns) || open > 0
}

// lastLetter is where the last letter of a text ends.
func lastLetter(text string) int {
	i := strings.LastIndexFunc(text, unicode.IsLetter)
	if i < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	return i + size
}

// multiples are words after or before a number that make it another one.
var multiples = lazyregexp.New(`^(?i:k|m|mm|mio|mln|mn|mrd|bn|tsd|t|thousands?|millions?|billions?|hundreds?|lakhs?|lacs?|crores?|cr|dozen|e|x)\.?$`)

// addsToNumber says whether the text beside the digits could be read as a part of the number:
// digits, points, words for thousands, a percent sign.
func (n shownNumber) addsToNumber() bool {
	before, after := strings.TrimSpace(n.before), strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(n.after, " "), percentOf(n.percent)))
	both := before + after
	if strings.ContainsFunc(both, isHidden) || strings.ContainsAny(both, percentSigns+verticalBars) {
		return true
	}
	if c, size := utf8.DecodeLastRuneInString(before); strings.ContainsRune(decimalPoints, c) && c != utf8.RuneError {
		if previous, _ := utf8.DecodeLastRuneInString(before[:len(before)-size]); !unicode.IsLetter(previous) { // as in Rs.
			return true
		}
	}
	if c, _ := utf8.DecodeRuneInString(after); unicode.IsMark(c) {
		return true
	}
	words := strings.FieldsFunc(after, isWordEnd)
	if len(words) > 0 && (multiples.MatchString(words[0]) || isDigitLike(words[0])) {
		return true
	}
	words = strings.FieldsFunc(before, isWordEnd)
	if len(words) > 0 && (multiples.MatchString(words[len(words)-1]) || isDigitLike(words[len(words)-1])) {
		return true
	}
	return touches(n.after) || touches(reversed(n.before))
}

func percentOf(is bool) string {
	if is {
		return "%"
	}
	return ""
}

// isWordEnd says whether a character ends a word: spaces, signs and currencies do.
func isWordEnd(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }

// touches says whether digits of a text could belong to the number beside it: no word of letters is
// between them, and no bracket or colon with a space. One letter alone may be that of an exponent
// or a product.
func touches(text string) bool {
	i := strings.IndexFunc(text, unicode.IsNumber)
	if i < 0 {
		return false
	}
	between := text[:i]
	letters := 0
	for _, c := range between {
		if unicode.IsLetter(c) {
			letters++
		}
	}
	isApart := strings.ContainsAny(between, "()[]{}:") && strings.Contains(between, " ")
	return letters == 0 && !isApart || letters == 1 && strings.ContainsAny(between, "eExX×")
}

func reversed(text string) string {
	all := []rune(text)
	slices.Reverse(all)
	return string(all)
}

// isHidden says whether a character does not show, or turns the text around it. The formats of
// currencies have marks of direction, which turn no digits.
func isHidden(c rune) bool {
	if c == '\u200e' || c == '\u200f' || c == '\u061c' {
		return false
	}
	return unicode.In(c, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs) || c == utf8.RuneError
}

// isDigitLike says whether a word has letters, and all of them look like digits, as O and l do.
func isDigitLike(word string) bool {
	isOther := func(c rune) bool { return !unicode.IsNumber(c) && !strings.ContainsRune(digitLetters, c) }
	return strings.ContainsFunc(word, unicode.IsLetter) && !strings.ContainsFunc(word, isOther)
}

// identifier is what a number shows as that is padded with zeros, and has no decimals: it is no
// number then, and is read as it shows, its letters included. It is false for other formats, and
// where the format writes digits or points of its own.
func (s *cellSection) identifier(number decimal.Decimal, n shownNumber) (string, bool) {
	zeros := 0
	for _, t := range s.tokens {
		switch {
		case t.kind == tokenDigit && t.text == "0":
			zeros++
		case t.kind == tokenLiteral && strings.ContainsFunc(t.text, func(c rune) bool {
			return unicode.IsNumber(c) || isHidden(c) || strings.ContainsRune(decimalPoints, c)
		}), t.kind != tokenLiteral && t.kind != tokenSpace:
			return "", false
		}
	}
	if zeros < 2 || number.IsNegative() || !number.IsInteger() {
		return "", false
	}
	return n.text(), true
}
