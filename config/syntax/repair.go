package syntax

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"remit/internal/text/lazyregexp"
)

// repair is a mistake that one line shows, and what to write in its place.
type repair struct {
	summary  string
	why      string // and what to do; without its end
	misleads bool   // what the parser says of later lines follows from it
	// mend returns the line to write, which is the given one where it has no such mistake. The next
	// line with text may say what a line was meant to be.
	mend func(line, next string) string
}

// repairOf finds the repair of a line.
func (t text) repairOf(number int) (repair, string, bool) {
	line, next := t.line(number), ""
	for i := number + 1; i <= len(t.lines) && next == ""; i++ {
		next = strings.TrimSpace(t.line(i))
	}
	if strings.TrimSpace(line) == "" {
		return repair{}, "", false
	}
	for _, r := range repairs {
		if mended := r.mend(line, next); mended != line {
			return r, mended, true
		}
	}
	return repair{}, "", false
}

// replaced is a mend by a regular expression for the whole line.
func replaced(pattern, template string) func(line, next string) string {
	expression := lazyregexp.New(pattern)
	return func(line, _ string) string { return expression.ReplaceAllString(line, template) }
}

var repairs = []repair{
	{"Command in a configuration", "This is a command for a terminal, and no part of a configuration. Delete this line, and type the command", false, replaced(`^\s*(?:\$|PS [^>]*>|>) ?(\w+ .*)$`, "$1")},
	{"Number is not plain", "A number has no currency and no signs between its digits but a point, and an amount stands in quotation marks. Write", false, plainNumber},
	{"Typographic quotation marks", "Text needs straight quotation marks. A word processor has put typographic ones here. Write", true, straightQuotes},
	{"Wrong quotation marks", "Text needs double quotation marks. Write", false, doubleQuotes},
	{"Character is not allowed here", "A character here looks like a plain one and is another, as word processors and pages of the web have them. Write", false, plainCharacters},
	{"Comment begins with #", "A comment begins with #. Write", false, replaced(`^\s*(?:--+|;+|'|%|\\|"""|REM\b|<!--)\s*(.*?)(?:\s*(?:-->|"""))?$`, "# $1")},
	{"Comment has no end", "A comment that begins with /* ends with */, and this one has no end. Write", true, openComment},
	{"Backslash in a text", "In a text, a backslash begins a special sign such as \\n. A path has slashes, and is relative to the directory. Write", false, backslashes},
	{"Quotation mark is missing", "A text of this line has one quotation mark, and needs one at each end. Write", true, missingQuote},
	{"Equals sign is written twice", "An argument has one equals sign. Write", false, replaced(`^(\s*[\w-]+\s*)(?::=|=\s*=|=>|\+=)\s*(.+)$`, "$1= $2")},
	{"Conditions have a comma between them", "Two conditions that must both be true are joined by &&, and by || where one is enough. Write", false, replaced(`^(\s*(?:where|condition)\s*=\s*[^,(\[{]+?)\s*,\s*([^,]+?)\s*$`, "$1 && $2")},
	{"Condition is written in words", "A condition has a question mark and a colon. Write", false, replaced(`^(\s*[\w-]+\s*=\s*)if\s+(.+?)\s+then\s+(.+?)\s+else\s+(.+?)\s*$`, "$1$2 ? $3 : $4")},
	{"Condition is written in words", "A condition has a question mark and a colon. Write", false, replaced(`^(\s*[\w-]+\s*=\s*)([^\[{]+?)\s+if\s+(.+?)\s+else\s+(.+?)\s*$`, "$1$3 ? $2 : $4")},
	{"Comparisons are joined in words", "Two comparisons are joined by && for and, and by || for or. Write", false, joinedComparisons},
	{"Condition is turned round in words", "A condition is turned round by ! before it. Write", false, negatedWords},
	{"Block is written as an argument", "A block has no equals sign. Write", true, replaced(`^\s*([\w-]+)\s*[=:]\s*((?:"[^"]*"\s*)+)\{\s*$`, "$1 $2{")},
	{"Arguments on one line", "Each argument needs a line of its own. Write", true, oneLine},
	{"Argument has no semicolon", "Nothing follows the value of an argument. Write", false, replaced(`^([^#]*[^;\s])\s*;\s*$`, "$1")},
	{"Colon in place of an equals sign", "An argument has an equals sign, and no colon. Write", false, replaced(`^(\s*)"?([\w-]+)"?\s*:\s*([^\s{].*?),?\s*$`, "$1$2 = $3")},
	{"Name is in quotation marks", "The name of an argument has no quotation marks. Write", false, replaced(`^(\s*)"([\w-]+)"\s*=\s*(.*?),?\s*$`, "$1$2 = $3")},
	{"Argument has no comma", "Nothing follows the value of an argument, not even a comma. Write", false, replaced(`^(\s*[\w-]+\s*=\s*.*[^,\s\[{(])\s*,\s*$`, "$1")},
	{"Reference is in ${ }", "Outside of a text, write a reference alone: ${ } belongs in quotation marks. Write", false, replaced(`^(\s*[\w-]+\s*=\s*)\$\{\s*([^{}]*?)\s*\}\s*$`, "$1$2")},
	{"Variable has no $", "A variable is var. and its name, without a $. Write", false, replaced(`^(\s*[\w-]+\s*=\s*)\$([A-Za-z_][\w-]*)\s*$`, "${1}var.$2")},
	{"Texts are not joined by a sign", "A text is joined with a reference by ${ } in its quotation marks. Write", false, joinedTexts},
	{"Comparison has one equals sign", "A comparison has two equals signs. Write", false, replaced(`^(\s*[\w-]+\s*=\s*[A-Za-z]\w*\.[\w.]+\s*)=(\s*[^=\s].*)$`, "$1==$2")},
	{"Function is written behind a value", "A function stands before its value, which is in parentheses. Write", false, functionBehind},
	{"Name of a column has other signs", "A column whose name has spaces or signs is named in brackets and quotation marks. Write", false, columnInBrackets},
	{"Brace is on a line of its own", "The opening brace of a block belongs on its first line. Write", true, braceBelow},
	{"Directory is included in the remit block", "Shared directories are named between the braces of the remit block. Write there", false, replaced(`^\s*(?:include|source)\s+("[^"]+")\s*$`, "include = [$1]")},
	{"Equals sign is missing", "An argument has an equals sign between its name and its value. Write", true, missingEquals},
	{"Brace too many", "This brace closes no block. Delete it, or open the block that it belongs to", true, func(line, _ string) string {
		if strings.TrimSpace(line) == "}" {
			return ""
		}
		return line
	}},
}

// bareNumber is an argument whose value is a number with a currency or with signs between its digits, and no text.
var bareNumber = lazyregexp.New(`^(\s*[\w-]+\s*=\s*)(?:[€$£]|[A-Z]{3} )?\s*(\d{1,3}(?:[,.' _]\d{3})+(?:[.,]\d{1,2})?|\d+[.,]?\d*)\s*(?:[€$£]|[A-Z]{3})?\s*,?\s*$`)

// wholeNumbers are arguments that are whole numbers, and no amounts.
var wholeNumbers = map[string]bool{
	"max_count": true, "count": true, "count_above": true, "approvers": true, "skip_first": true, "skip_last": true, "max_in_flight": true, "scale": true, "port": true,
}

// plainNumber writes such a number in plain digits and in quotation marks. One that can be meant in two ways, as 1,200,
// keeps its signs, and is told apart by the next message.
func plainNumber(line, _ string) string {
	found := bareNumber.FindStringSubmatch(line)
	if found == nil || !strings.ContainsAny(strings.TrimRight(line[len(found[1]):], ", "), ",' _€$£ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return line
	}
	digits := found[2]
	only := func(text string) string {
		return strings.NewReplacer(",", "", ".", "", "'", "", " ", "", "_", "").Replace(text)
	}
	if wholeNumbers[strings.Trim(found[1], " \t=")] {
		return found[1] + only(digits)
	}
	point := strings.LastIndexAny(digits, ",.")
	switch decimals := len(digits) - point - 1; {
	case point < 0 || decimals <= 2:
	case strings.Count(digits, digits[point:point+1]) > 1 || strings.ContainsAny(digits, "' _"): // groups alone
		point = -1
	default:
		return found[1] + `"` + digits + `"`
	}
	plain := only(digits)
	if point >= 0 {
		plain = only(digits[:point]) + "." + digits[point+1:]
	}
	return found[1] + `"` + plain + `"`
}

var (
	joinedArgument = lazyregexp.New(`^(\s*[\w-]+\s*=\s*)(.+?)\s*$`)
	joinedPart     = lazyregexp.New(`^(?:"([^"$\\]*)"|([A-Za-z][\w.]*(?:\["[^"\\]*"\])*))$`)
)

// joinedTexts writes texts and references that & joins, as a spreadsheet does, as one text.
func joinedTexts(line, _ string) string {
	argument := joinedArgument.FindStringSubmatch(line)
	if argument == nil || !strings.Contains(mapped(argument[2], func(r rune) string { return string(r) }), "&") {
		return line
	}
	text := ""
	for part := range strings.SplitSeq(mapped(argument[2], func(r rune) string {
		if r == '&' {
			return "\x00"
		}
		return string(r)
	}), "\x00") {
		found := joinedPart.FindStringSubmatch(strings.TrimSpace(part))
		switch {
		case found == nil:
			return line
		case found[2] != "":
			text += "${" + found[2] + "}"
		default:
			text += found[1]
		}
	}
	return argument[1] + `"` + text + `"`
}

var wordsOfConditions = lazyregexp.New(`(?i)\s(and|or)\s`)

// joinedComparisons writes the words and and or outside of texts as the language has them.
func joinedComparisons(line, _ string) string {
	argument := joinedArgument.FindStringSubmatch(line)
	if argument == nil {
		return line
	}
	joined := signed(line, wordsOfConditions, func(word string) string {
		if strings.EqualFold(word, "or") {
			return "||"
		}
		return "&&"
	})
	if joined == line {
		return line
	}
	return negatedWords(joined, "")
}

// wordOfNegation is not before a call or a parenthesis: before a comparison, ! would turn round its left side alone.
var wordOfNegation = lazyregexp.New(`(?i)[\s(](not\s+)(?:\w+)?\(`)

// negatedWords writes the word not outside of texts as the language has it.
func negatedWords(line, _ string) string {
	if joinedArgument.FindString(line) == "" {
		return line
	}
	return signed(line, wordOfNegation, func(string) string { return "!" })
}

// signed has signs in the place of words, which the first group of a pattern finds outside of texts.
func signed(line string, words *lazyregexp.Regexp, sign func(word string) string) string {
	runes, is := []rune(line), outside(line)
	hidden := make([]rune, len(runes)) // as long as the line, with a letter in place of each in a text
	for i, r := range runes {
		if hidden[i] = r; !is[i] {
			hidden[i] = 'x'
		}
	}
	for _, at := range slices.Backward(words.FindAllStringSubmatchIndex(string(hidden), -1)) {
		from, to := utf8.RuneCountInString(string(hidden)[:at[2]]), utf8.RuneCountInString(string(hidden)[:at[3]])
		runes = slices.Replace(runes, from, to, []rune(sign(string(runes[from:to])))...)
	}
	return string(runes)
}

var beginsArgument = lazyregexp.New(`^\s*[\w-]+\s*=[^=]`)

// unclosed is the repair of the line above one at which a parser misses a separator, where that is because a
// parenthesis or a bracket was left open.
func (t text) unclosed(number int) (repair, string, int, bool) {
	above := number - 1
	for above > 0 && strings.TrimSpace(t.line(above)) == "" {
		above--
	}
	if !beginsArgument.MatchString(t.line(number)) && strings.TrimSpace(t.line(number)) != "}" {
		return repair{}, "", 0, false
	}
	line := t.line(above)
	open := ""
	is := outside(line)
	for i, r := range []rune(line) {
		switch {
		case !is[i]:
		case r == '(':
			open = ")" + open
		case r == '[':
			open = "]" + open
		case open != "" && string(r) == open[:1]:
			open = open[1:]
		}
	}
	if open == "" {
		return repair{}, "", 0, false
	}
	return repair{summary: "Parenthesis or bracket is missing", why: "A parenthesis or bracket of this line has no end. Write", misleads: true}, line + open, above, true
}

// outside says of each character of a line whether it is outside of straight quotation marks, or
// after one that has no other.
func outside(line string) []bool {
	runes := []rune(line)
	is, from, inText := make([]bool, len(runes)), 0, false
	for i, r := range runes {
		is[i] = !inText
		if r == '"' && (i == 0 || runes[i-1] != '\\') {
			inText, from = !inText, i
		}
	}
	if inText {
		for i := from; i < len(is); i++ {
			is[i] = true
		}
	}
	return is
}

// mapped replaces characters outside of text.
func mapped(line string, to func(r rune) string) string {
	var b strings.Builder
	is := outside(line)
	for i, r := range []rune(line) {
		if is[i] {
			b.WriteString(to(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func straightQuotes(line, _ string) string {
	return mapped(line, func(r rune) string {
		if strings.ContainsRune("“”„‟«»‹›″＂‘’‚‛", r) {
			return `"`
		}
		return string(r)
	})
}

var singleQuoted = lazyregexp.New("([=\\[,(:{]\\s*)(?:'([^'\"]*)'|`([^`\"]*)`)")

func doubleQuotes(line, _ string) string {
	if strings.Count(line, `"`)%2 == 1 {
		return line
	}
	return singleQuoted.ReplaceAllString(line, `$1"$2$3"`)
}

func plainCharacters(line, _ string) string {
	return mapped(line, func(r rune) string {
		switch {
		case unicode.Is(unicode.Pd, r) && r != '-', r == '−':
			return "-"
		case unicode.IsSpace(r) && r > unicode.MaxASCII:
			return " "
		case unicode.Is(unicode.Cf, r):
			return ""
		case r == '…':
			return "..."
		case r > unicode.MaxASCII:
			return width.Narrow.String(string(r))
		}
		return string(r)
	})
}

func openComment(line, _ string) string {
	if begin := strings.TrimSpace(line); strings.HasPrefix(begin, "/*") && !strings.Contains(begin, "*/") {
		return line + " */"
	}
	return line
}

var backslash = lazyregexp.New(`\\+([^nrtuU"\\$%]|U[^0-9a-fA-F]|n[A-Za-z]|r[A-Za-z]|t[A-Za-z])`)

func backslashes(line, _ string) string {
	if !strings.Contains(line, `"`) || !backslash.MatchString(line) {
		return line
	}
	if drive := regexp.MustCompile(`"[A-Za-z]:\\[^"]*\\([^"\\]+)"`); drive.MatchString(line) {
		return drive.ReplaceAllString(line, `"$1"`)
	}
	return strings.ReplaceAll(line, `\`, `/`)
}

var (
	openedAtEnd  = lazyregexp.New(`^(.*[=\[,(:{]\s*)([^"\s=\[,({][^"=\[,({]*)"(\s*[\]}),]*\s*)$`)
	closedAtEnd  = lazyregexp.New(`^(.*"[^"]*?)(\s*[\]})]*\s*)$`)
	labelWithout = lazyregexp.New(`^(.*"[^"{]*?)(\s*\{\s*)$`)
)

func missingQuote(line, _ string) string {
	if strings.Count(strings.ReplaceAll(line, `\"`, ""), `"`)%2 == 0 {
		return line
	}
	switch {
	case openedAtEnd.MatchString(line):
		return openedAtEnd.ReplaceAllString(line, `$1"$2"$3`)
	case labelWithout.MatchString(line):
		return labelWithout.ReplaceAllString(line, `$1"$2`)
	}
	return closedAtEnd.ReplaceAllString(line, `$1"$2`)
}

var onOneLine = lazyregexp.New(`^(\s*[\w-]+(?:\s+"[^"]*")*\s*\{)(.*=.*[,;].*=.*)\}\s*$`)

func oneLine(line, _ string) string {
	parts := onOneLine.FindStringSubmatch(line)
	if parts == nil || strings.ContainsAny(parts[2], "{}[]()") {
		return line
	}
	mended := parts[1]
	for _, argument := range strings.FieldsFunc(parts[2], func(r rune) bool { return r == ',' || r == ';' }) {
		mended += "\n  " + strings.TrimSpace(argument)
	}
	return mended + "\n}"
}

var (
	column       = lazyregexp.New(`^(\s*[\w-]+\s*=\s*(?:each\.value|row))\.([^"=\[\]]+?)\s*$`)
	columnInText = lazyregexp.New(`(\$\{\s*(?:each\.value|row))\.([^"=\[\]{}]+?)\s*\}`)
	operator     = lazyregexp.New(`(?:^|\s)[-+*/&|?:]+\s|\b(?:each|var|local|row|data)\.`)
)

// isNameWithSigns reports whether the text behind each.value is the name of a column that no reference
// can have, and no expression.
func isNameWithSigns(name string) bool {
	isSign := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	}
	return !operator.MatchString(name) && (strings.HasSuffix(name, ".") || strings.ContainsFunc(name, isSign))
}

var (
	behindValue = lazyregexp.New(`^(\s*[\w-]+\s*=\s*)([A-Za-z][\w.]*?)\.(\w+)\(\)\s*$`)
	ofObjects   = map[string]string{
		"upper": "upper", "touppercase": "upper", "uppercase": "upper", "lower": "lower", "tolowercase": "lower", "lowercase": "lower", "strip": "trimspace", "trim": "trimspace",
		"trimspace": "trimspace", "length": "length", "len": "length", "size": "length", "tostring": "tostring", "title": "title",
	}
)

// functionBehind writes a function before its value, as it stands behind one in other languages.
func functionBehind(line, _ string) string {
	parts := behindValue.FindStringSubmatch(line)
	if parts == nil || ofObjects[strings.ToLower(parts[3])] == "" {
		return line
	}
	return parts[1] + ofObjects[strings.ToLower(parts[3])] + "(" + parts[2] + ")"
}

func columnInBrackets(line, _ string) string {
	if parts := column.FindStringSubmatch(line); parts != nil && isNameWithSigns(parts[2]) {
		return parts[1] + `["` + parts[2] + `"]`
	}
	return columnInText.ReplaceAllStringFunc(line, func(reference string) string {
		parts := columnInText.FindStringSubmatch(reference)
		if !isNameWithSigns(parts[2]) {
			return reference
		}
		return parts[1] + `["` + parts[2] + `"]}`
	})
}

func braceBelow(line, next string) string {
	if next == "{" && !strings.ContainsAny(line, "{}=") {
		return line + " {"
	}
	return line
}

var withoutEquals = lazyregexp.New(`^(\s*[\w-]+)\s+("[^"]*"|[0-9.]+|true|false|null|(?:var|local|each|data|profile|batch)\.\S+)\s*$`)

func missingEquals(line, next string) string {
	if next == "{" {
		return line
	}
	return withoutEquals.ReplaceAllString(line, "$1 = $2")
}
