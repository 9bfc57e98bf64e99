package syntax

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/text/lazyregexp"
)

// Explain says in remit's words what a parser found wrong in a file: what the file is where it is no
// configuration at all, and else a line to write in place of a wrong one. It leaves out the parser's
// words about the lines after a mistake that misleads it, such as a mark that is left open. Lines are
// shown unless the file may have secrets. Without errors it returns what it is given.
func Explain(content []byte, name string, diags hcl.Diagnostics, mayShow bool) hcl.Diagnostics {
	if !diags.HasErrors() || diags[0].Summary == nestedTooDeeply {
		return diags
	}
	if d := foreign(content, name); d != nil {
		return hcl.Diagnostics{d}
	}
	if slices.ContainsFunc(diags, isOurs) {
		return diags
	}
	in := text{name: name, lines: strings.Split(string(content), "\n"), mayShow: mayShow}
	if strings.HasSuffix(name, ".json") {
		return in.explainJSON(diags)
	}
	return in.explain(diags)
}

const nestedTooDeeply = "Nested too deeply"

// isOurs reports whether a mistake is in remit's words already.
func isOurs(d *hcl.Diagnostic) bool {
	return d.Summary == nestedTooDeeply || d.Summary == seenOtherwise
}

// explain puts each line's first mistake in remit's words.
func (t text) explain(diags hcl.Diagnostics) hcl.Diagnostics {
	diags = slices.Clone(diags)
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int { return startOf(a) - startOf(b) })
	var explained hcl.Diagnostics
	told := map[int]bool{}
	for _, d := range diags {
		number := 0
		if d.Subject != nil {
			number = d.Subject.Start.Line
		}
		if told[number] {
			continue
		}
		told[number] = true
		if heredoc := t.openHeredoc(d); heredoc != nil {
			return append(explained, heredoc)
		}
		r, line, found := t.repairOf(number)
		if strings.HasSuffix(d.Summary, " separator") || strings.HasPrefix(d.Summary, "Unterminated ") || d.Summary == openIndex {
			for at := number; at > 0; at-- {
				if open, mended, above, isOpen := t.unclosed(at); isOpen {
					r, line, number, found = open, mended, above, true
					break
				}
				if d.Summary != openIndex { // which is told at the end of the file
					break
				}
			}
		}
		if !found {
			now := plainly(d)
			if both := t.bothObjects(d); both != "" {
				now.Detail = "The same block has this argument above. Put the pairs of both into one, and remove the other:\n\n  " + both
			}
			explained = append(explained, now)
			continue
		}
		detail := strings.TrimSuffix(strings.TrimSuffix(r.why, ". Write there"), ". Write") + "."
		if t.mayShow && line != "" {
			detail = r.why + ":\n\n  " + strings.ReplaceAll(strings.TrimSpace(line), "\n", "\n  ")
		}
		now := mistake.New(t.at(number), r.summary, "%s", detail)
		now.Extra = &mistake.Origin{Column: t.name, Reason: r.summary}
		explained = append(explained, now)
		if r.misleads {
			break
		}
	}
	return explained
}

var (
	setAtLine = lazyregexp.New(`was already set at .*:(\d+),`)
	pairName  = lazyregexp.New(`([\p{L}_][\p{L}\p{N}_-]*|"[^"]*")\s*=`)
	oneObject = lazyregexp.New(`^\s*([\p{L}_][\p{L}\p{N}_-]*\s*=\s*)\{\s*([^{}#]*[^{}#,\s])\s*,?\s*\}\s*$`)
)

// bothObjects is the line that has the pairs of an object that is written in two lines of one block; "" for any other mistake.
func (t text) bothObjects(d *hcl.Diagnostic) string {
	at := setAtLine.FindStringSubmatch(d.Detail)
	if d.Summary != "Attribute redefined" || at == nil || d.Subject == nil || !t.mayShow {
		return ""
	}
	above, _ := strconv.Atoi(at[1])
	first, second := oneObject.FindStringSubmatch(t.line(above)), oneObject.FindStringSubmatch(t.line(d.Subject.Start.Line))
	if first == nil || second == nil {
		return ""
	}
	for _, pair := range pairName.FindAllStringSubmatch(second[2], -1) {
		if slices.ContainsFunc(pairName.FindAllStringSubmatch(first[2], -1), func(other []string) bool { return other[1] == pair[1] }) {
			return "" // which of the two is meant?
		}
	}
	return strings.TrimSpace(first[1]) + " { " + first[2] + ", " + second[2] + " }"
}

// openIndex is what HCL's parser says of a bracket behind a reference that is left open.
const openIndex = "Missing close bracket on index"

var heredocBegins = lazyregexp.New(`<<-?([\p{L}_][\p{L}\p{N}_-]*)\s*$`)

// openHeredoc is the mistake of a text of several lines without an end, where d comes of one; nil where it
// does not.
func (t text) openHeredoc(d *hcl.Diagnostic) *hcl.Diagnostic {
	if !strings.HasPrefix(d.Summary, "Unterminated ") {
		return nil
	}
	for i := len(t.lines); i > 0; i-- {
		begin := heredocBegins.FindStringSubmatch(strings.TrimRight(t.line(i), "\r"))
		if begin == nil {
			continue
		}
		if slices.ContainsFunc(t.lines[i:], func(line string) bool { return strings.TrimSpace(line) == begin[1] }) {
			return nil
		}
		now := mistake.New(t.at(i), "Text of several lines has no end",
			"The text of this line goes on up to a line that is %s alone, and there is none below. Write it there:\n\n  %s", begin[1], begin[1])
		now.Extra = &mistake.Origin{Column: t.name, Reason: now.Summary}
		return now
	}
	return nil
}

func startOf(d *hcl.Diagnostic) int {
	if d.Subject == nil {
		return 0
	}
	return d.Subject.Start.Byte
}

// plain are summaries and details of HCL's parser, in remit's words.
var plain = map[string][2]string{
	"Unclosed configuration block": {"Closing brace is missing", "This block has no closing brace. Write one on a line of its own behind its last argument:\n\n  }"},
	"Argument or block definition required": {
		"Neither an argument nor a block",
		"This line is no part of the language: an argument is such as the first line, a block such as the second, and a comment begins with #:\n\n  amount = \"8200.00\"\n  transfer \"internal\" \"rent\" { … }",
	},
	"Invalid block definition":                        {"Neither an argument nor a block", "An argument has an equals sign behind its name, and a block a brace at the end of its first line:\n\n  amount = \"8200.00\"\n  transfer \"internal\" \"rent\" {"},
	"Attribute redefined":                             {"Argument is written twice", "The same block has this argument above. Remove one of the two."},
	"Missing newline after argument":                  {"Argument goes on after its end", "The value of this argument ends before this place. Put text into quotation marks, and begin the next argument on a line of its own."},
	"Invalid expression":                              {"Value cannot be read", "No value can begin here. Put text in quotation marks:\n\n  \"2026-11\""},
	openIndex:                                         {"Bracket is missing", "The name of a column has no closing bracket. Write it behind the name:\n\n  each.value[\"net\"]"},
	"Invalid single-argument block definition":        {"Argument and brace on one line", "A block that begins with an argument on its first line ends on that line. Write its brace, its argument and its closing brace each on a line of their own:\n\n  service {\n    timeout = \"30s\"\n  }"},
	"Unexpected comma after argument":                 {"Argument has a comma", "The value of an argument ends before the comma. Remove the comma, or put the whole value into quotation marks:\n\n  amount = \"1200.00\""},
	"Missing item separator":                          {"Comma is missing", "Two items of a list need a comma between them:\n\n  [\"a\", \"b\"]"},
	"Missing attribute separator":                     {"Comma is missing", "Two pairs of an object need a comma or the end of a line between them:\n\n  { a = \"1\", b = \"2\" }"},
	"Missing argument separator":                      {"Comma is missing", "Two values in the parentheses of a function need a comma between them."},
	"Missing key/value separator":                     {"Pair of an object is not complete", "A pair has a name, an equals sign and a value. An amount is in quotation marks, and has no comma:\n\n  { USD = \"10000\" }"},
	"Missing attribute value":                         {"Value is missing", "A name of this object has no value. A pair has an equals sign:\n\n  { invoice = \"4711\" }"},
	"Unterminated template string":                    {"Quotation mark is missing", "This text has no closing quotation mark. Write one at its end."},
	"Invalid character":                               {"Character is not allowed here", "Only text in quotation marks may have this character. Remove it, or put the text into quotation marks."},
	"Invalid character encoding":                      {"File is not UTF-8", "This character is not encoded in UTF-8. Save the file as UTF-8 in the editor."},
	"Unbalanced parentheses":                          {"Parenthesis is missing", "An opening parenthesis has no closing one. Write it at its end:\n\n  )"},
	"Unterminated function call":                      {"Parenthesis is missing", "This function has no closing parenthesis. Write it behind its last value:\n\n  )"},
	"Unterminated object constructor expression":      {"Closing brace is missing", "This object has no closing brace. Write it behind its last pair:\n\n  }"},
	"Unterminated tuple constructor expression":       {"Bracket is missing", "This list has no closing bracket. Write it behind its last item:\n\n  ]"},
	"Unclosed template interpolation sequence":        {"Closing brace is missing", "What begins with ${ has no closing brace. Write it behind the reference, as in:\n\n  \"rent-${var.period}\""},
	"Invalid template control keyword":                {"Per cent sign and a brace", "In a text, %{ begins a directive of the language. For the value of a name write ${ and }, and for the sign itself write it twice:\n\n  \"%%{\""},
	"Extra characters after interpolation expression": {"Reference goes on after its end", "Write one reference or one expression between ${ and }, as in:\n\n  \"rent-${var.period}\""},
	"Missing false expression in conditional":         {"Second value of a condition is missing", "A condition has two values, with a colon between them, such as:\n\n  var.is_large ? \"2.00\" : \"1.00\""},
	"Invalid argument name":                           {"Name is in quotation marks", "The name of an argument has no quotation marks:\n\n  amount = \"8200.00\""},
	"Unterminated heredoc":                            {"Text of several lines has no end", "The word that ends this text is not on a line of its own below. Write it there."},
}

// plainly is what HCL's parser says, in remit's words where there are some.
func plainly(d *hcl.Diagnostic) *hcl.Diagnostic {
	words, known := plain[d.Summary]
	if !known {
		return d
	}
	now := *d
	now.Summary, now.Detail = words[0], words[1]
	now.Extra = &mistake.Origin{Column: nameOf(d), Reason: words[1], Inner: d.Extra}
	return &now
}

func nameOf(d *hcl.Diagnostic) string {
	if d.Subject == nil {
		return ""
	}
	return d.Subject.Filename
}

// explainJSON keeps the first mistake of JSON: the others follow from it.
func (t text) explainJSON(diags hcl.Diagnostics) hcl.Diagnostics {
	diags = slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool { return len(diags) > 1 && d.Summary == "Root value must be object" })
	first := slices.MinFunc(diags, func(a, b *hcl.Diagnostic) int { return startOf(a) - startOf(b) })
	if last := slices.MaxFunc(diags, func(a, b *hcl.Diagnostic) int { return startOf(a) - startOf(b) }); strings.HasPrefix(last.Summary, "Unclosed ") {
		first = last
	}
	line := strings.TrimSpace(t.line(first.Subject.Start.Line))
	summary, detail := "JSON cannot be read", ""
	switch {
	case strings.TrimSpace(strings.Join(t.lines, "")) == "":
		summary, detail = "File is empty", "This file of JSON has no text. Write at least an empty object, or delete the file:\n\n  {}"
	case strings.HasPrefix(line, "//"), strings.HasPrefix(line, "/*"), strings.HasPrefix(line, "#"):
		detail = "JSON has no comments. Remove this one, or write the text as a pair:\n\n  \"//\": \"the rent of the office\""
	case strings.HasPrefix(first.Summary, "Trailing comma"):
		detail = "A comma follows the last value. Remove it."
	case strings.HasPrefix(first.Summary, "Unclosed "):
		detail = "The file ends before this object or list does. Write the brace or bracket that closes it, or get the whole file."
	case strings.HasPrefix(first.Summary, "Invalid object property name"):
		detail = "Put a name in JSON in double quotation marks:\n\n  \"amount\": \"8200.00\""
	case strings.Contains(line, "'"):
		detail = "Put text in JSON in double quotation marks:\n\n  \"amount\": \"8200.00\""
	case !t.mayShow:
		detail = "This is no JSON from here on. A pair is such as:\n\n  \"period\": \"2026-11\""
	default:
		detail = "This is no JSON from here on: " + strings.ToLower(first.Detail[:1]) + strings.TrimSuffix(first.Detail[1:], ".") + ". A pair is such as:\n\n  \"amount\": \"8200.00\""
	}
	d := mistake.New(*first.Subject, summary, "%s", detail)
	d.Extra = &mistake.Origin{Column: t.name, Reason: detail, Inner: first.Extra}
	return hcl.Diagnostics{d}
}
