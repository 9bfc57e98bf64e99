package rows

import (
	"slices"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"remit/internal/text/lazyregexp"
)

// cellFormat is a number format of a workbook (ECMA-376, part 1, 18.8.31), as far as spreadsheet
// programs show it alike.
type cellFormat struct {
	code     string
	unknown  bool // programs do not show it alike, or it is none
	sections []cellSection
	text     []formatToken // what text shows as; nil for the text itself
	ofReader bool          // its currency is that of the reader's language
}

// unknownFormat is a code that every program refuses: that of a format which could not be found out.
const unknownFormat = "[?]"

// cellSection is the part of a format that is for some numbers.
type cellSection struct {
	condition string // an operator; "" for that of its place
	limit     decimal.Decimal
	tokens    []formatToken
	foreign   bool   // a language that may have other separators is said
	date      bool   // it shows a part of a date or a time
	beside    string // the text that it writes beside a number, such as €
}

// formatToken is one piece of a format.
type formatToken struct {
	kind tokenKind
	text string // as it shows; for a date the letters
}

type tokenKind int

const (
	tokenLiteral tokenKind = iota
	tokenSpace             // as wide as some character
	tokenDigit             // one of 0 # ?
	tokenPoint
	tokenComma
	tokenPercent
	tokenSlash
	tokenExponent
	tokenGeneral
	tokenText    // @
	tokenDate    // y m d h s, repeated, or AM/PM
	tokenElapsed // h, m or s beyond their limits
)

var (
	formatCondition = lazyregexp.New(`^(<=|>=|<>|<|>|=) ?(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)$`)
	formatColor     = lazyregexp.New(`^(?i:black|blue|cyan|green|magenta|red|white|yellow|color ?[1-9][0-9]?)$`)
	// A locale of more digits says other numerals or another calendar.
	formatLocale  = lazyregexp.New(`^(?:|[0-9A-Fa-f]{1,4}|x-euro[12]|x-sysdate|x-systime|[a-z]{2}-[A-Z]{2})$`)
	formatElapsed = lazyregexp.New(`^(?i:h+|m+|s+)$`)
	formatDate    = lazyregexp.New(`^(?i:yyyy|yy|m{1,4}|d{1,4}|h{1,2}|s{1,2}|AM/PM|A/P)$`)
)

const (
	formatLengthMax   = 1024 // Excel allows 255 characters
	formatSectionsMax = 4
)

// parseCellFormat reads a number format of a workbook; "" is General.
func parseCellFormat(code string) *cellFormat {
	f := &cellFormat{code: code, ofReader: isOfReader(code)}
	if code == "" || strings.EqualFold(code, "General") {
		return f
	}
	if len(code) > formatLengthMax {
		f.unknown = true
		return f
	}
	p := formatParser{rest: []rune(code)}
	for {
		s, ok := p.section()
		if !ok {
			f.unknown = true
			return f
		}
		f.sections = append(f.sections, s)
		if len(p.rest) == 0 {
			break
		}
		p.rest = p.rest[1:] // the semicolon
	}
	last := len(f.sections) - 1
	isText := func(t formatToken) bool { return t.kind == tokenText }
	for i, s := range f.sections {
		f.unknown = f.unknown || i < last && slices.ContainsFunc(s.tokens, isText)
	}
	if last+1 == formatSectionsMax || slices.ContainsFunc(f.sections[last].tokens, isText) {
		f.text = append([]formatToken{}, f.sections[last].tokens...)
		f.sections = f.sections[:last]
	}
	f.unknown = f.unknown || last >= formatSectionsMax || slices.ContainsFunc(f.text, func(t formatToken) bool {
		return t.kind != tokenText && t.kind != tokenLiteral && t.kind != tokenSpace
	})
	return f
}

// formatParser reads a code from its beginning.
type formatParser struct{ rest []rune }

// section reads up to a semicolon or the end.
func (p *formatParser) section() (cellSection, bool) {
	var s cellSection
	for len(p.rest) > 0 && p.rest[0] != ';' {
		if !p.token(&s) {
			return s, false
		}
	}
	s.settle()
	s.beside = s.literals()
	return s, s.isSound()
}

// token reads one piece. It is false where no program, or not every one, knows it.
func (p *formatParser) token(s *cellSection) bool {
	add := func(kind tokenKind, length int) {
		s.tokens = append(s.tokens, formatToken{kind, string(p.rest[:length])})
		p.rest = p.rest[length:]
	}
	has := func(text string) bool {
		return len(p.rest) >= len(text) && strings.EqualFold(string(p.rest[:len(text)]), text)
	}
	switch c := p.rest[0]; {
	case c == '"':
		end := slices.Index(p.rest[1:], '"')
		if end < 0 {
			return false
		}
		s.tokens = append(s.tokens, formatToken{tokenLiteral, string(p.rest[1 : end+1])})
		p.rest = p.rest[end+2:]
	case c == '\\' || c == '_' || c == '*':
		if len(p.rest) < 2 {
			return false
		}
		text, kind := string(p.rest[1]), tokenLiteral
		if c == '_' || c == '*' && text == " " {
			text, kind = " ", tokenSpace
		}
		s.tokens = append(s.tokens, formatToken{kind, text})
		p.rest = p.rest[2:]
	case c == '[':
		return p.bracket(s)
	case c == '0' || c == '#' || c == '?':
		add(tokenDigit, 1)
	case c == '.':
		add(tokenPoint, 1)
	case c == ',':
		add(tokenComma, 1)
	case c == '%':
		add(tokenPercent, 1)
	case c == '/':
		add(tokenSlash, 1)
	case c == '@':
		add(tokenText, 1)
	case has("E+") || has("E-"):
		add(tokenExponent, 2)
	case has("General"):
		add(tokenGeneral, len("General"))
	case has("AM/PM"):
		add(tokenDate, len("AM/PM"))
	case has("A/P"):
		add(tokenDate, len("A/P"))
	case strings.ContainsRune("yYmMdDhHsS", c):
		length := 1
		for length < len(p.rest) && unicode.ToLower(p.rest[length]) == unicode.ToLower(c) {
			length++
		}
		add(tokenDate, length)
		return formatDate.MatchString(s.tokens[len(s.tokens)-1].text)
	case c >= '1' && c <= '9', c > unicode.MaxASCII, strings.ContainsRune(" $-+():!^&'~{}<>=", c):
		add(tokenLiteral, 1)
	default:
		return false
	}
	return true
}

// bracket reads a color, a condition, a currency with its language, or a time beyond a day.
func (p *formatParser) bracket(s *cellSection) bool {
	end := slices.Index(p.rest, ']')
	if end < 0 {
		return false
	}
	text := string(p.rest[1:end])
	p.rest = p.rest[end+1:]
	currency, isCurrency := strings.CutPrefix(text, "$")
	m := formatCondition.FindStringSubmatch(text)
	switch {
	case isCurrency:
		symbol, locale, _ := strings.Cut(currency, "-")
		if !formatLocale.MatchString(locale) {
			return false
		}
		if symbol != "" {
			s.tokens = append(s.tokens, formatToken{tokenLiteral, symbol})
		}
		s.foreign = s.foreign || symbol == "" && !isEnglish(locale)
	case m != nil && s.condition == "":
		s.condition, s.limit = m[1], decimal.RequireFromString(m[2])
	case formatElapsed.MatchString(text):
		s.tokens = append(s.tokens, formatToken{tokenElapsed, strings.ToLower(text)})
	default:
		return formatColor.MatchString(text)
	}
	return true
}

// isEnglish says whether a locale is of English: its number ends in 09, as 409 and 1009 do.
func isEnglish(locale string) bool {
	return locale == "" || strings.HasPrefix(locale, "en-") || strings.HasPrefix(locale, "x-") ||
		len(locale) >= 2 && strings.HasSuffix(locale, "09")
}

// settle finds out what pieces are that mean one thing in a date and another in a number.
func (s *cellSection) settle() {
	s.date = slices.ContainsFunc(s.tokens, func(t formatToken) bool { return t.kind == tokenDate || t.kind == tokenElapsed })
	if !s.date {
		return
	}
	for i, t := range s.tokens {
		if t.kind == tokenPoint || t.kind == tokenComma || t.kind == tokenSlash {
			s.tokens[i].kind = tokenLiteral
		}
	}
}

// literals is the text that a section writes beside the digits of a number.
func (s *cellSection) literals() string {
	var all strings.Builder
	for _, t := range s.tokens {
		if t.kind == tokenLiteral {
			all.WriteString(t.text)
		} else {
			all.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(all.String()), " ")
}

// isSound says whether the pieces go together.
func (s *cellSection) isSound() bool {
	count := map[tokenKind]int{}
	for _, t := range s.tokens {
		count[t.kind]++
	}
	numbers := count[tokenDigit] + count[tokenPoint] + count[tokenComma] + count[tokenPercent] + count[tokenExponent] + count[tokenSlash]
	switch {
	case s.date:
		return numbers+count[tokenGeneral]+count[tokenText] == 0
	case count[tokenGeneral] > 0:
		return numbers+count[tokenText] == 0 && count[tokenGeneral] == 1
	case count[tokenText] > 0:
		return numbers == 0
	}
	return count[tokenPoint] <= 1 && count[tokenPercent] <= 1 && count[tokenExponent] <= 1 && count[tokenSlash] <= 1
}

// section is that for a number: the first whose condition holds. It is nil where programs do not
// agree on which that is. Unsigned says that its format shows the number without a sign of its own.
func (f *cellFormat) section(number decimal.Decimal) (s *cellSection, unsigned bool) {
	hasConditions := slices.ContainsFunc(f.sections, func(s cellSection) bool { return s.condition != "" })
	last := len(f.sections) - 1
	if hasConditions {
		if number.IsNegative() {
			return nil, false // some show its sign, and some do not
		}
		for i := range f.sections {
			s := &f.sections[i]
			switch {
			case s.condition == "" && i < last:
				return nil, false
			case s.condition == "" || s.holds(number):
				return s, true
			}
		}
		return nil, false
	}
	switch {
	case last < 0:
		return nil, false
	case number.IsNegative() && last > 0:
		return &f.sections[1], true
	case number.IsZero() && last > 1:
		return &f.sections[2], true
	}
	return &f.sections[0], false
}

// holds says whether the section is for a number.
func (s *cellSection) holds(number decimal.Decimal) bool {
	order := number.Cmp(s.limit)
	switch s.condition {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "=":
		return order == 0
	}
	return order != 0
}

// shownText is what a text shows as.
func (f *cellFormat) shownText(text string) string {
	if f.text == nil {
		return text
	}
	var shown strings.Builder
	for _, t := range f.text {
		if t.kind == tokenText {
			shown.WriteString(text)
		} else {
			shown.WriteString(t.text)
		}
	}
	return shown.String()
}
