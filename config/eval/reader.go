package eval

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/clock/calendar"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// Reader reads the arguments of one block that is evaluated once. Null means absent, as in
// Terraform. After a mistake it goes on, so that all of them are found.
type Reader struct {
	Scope  *Scope
	Block  *Block
	Secret bool // sensitive values are allowed
	Diags  hcl.Diagnostics
	Unset  []*Node // variables that had no value
}

// Refuse adds a mistake at a place.
func (r *Reader) Refuse(at hcl.Range, summary, detail string, args ...any) {
	r.Diags = append(r.Diags, mistake.New(at, summary, detail, args...))
}

// Finding says whether an argument is there.
type Finding uint8

// The findings.
const (
	Absent Finding = iota // absent or null
	Wrong                 // a mistake was reported, or a variable has no value
	Present
)

// Value returns an argument's value without marks.
func (r *Reader) Value(name string) (cty.Value, *Argument, Finding) {
	a, ok := r.Block.Arguments[name]
	if !ok {
		return cty.NilVal, nil, Absent
	}
	get := r.Scope.plain
	if r.Secret {
		get = r.Scope.Value
	}
	v, ok, diags := get(a)
	r.Diags = append(r.Diags, diags...)
	if !ok {
		if a.Refs != nil {
			for _, n := range a.Refs.Nodes {
				r.Unset = append(r.Unset, n.Missing...)
			}
		}
		return cty.NilVal, a, Wrong
	}
	v, _ = v.UnmarkDeep()
	if v.IsNull() {
		return cty.NilVal, a, Absent
	}
	return v, a, Present
}

// RefuseNull refuses arguments of a control that are null, as a variable may be: it would be as if nobody had written them.
func (r *Reader) RefuseNull(names ...string) {
	for _, name := range names {
		a := r.Block.Arguments[name]
		if a == nil {
			continue
		}
		if v, ok, _ := r.Scope.plain(a); ok && v.IsNull() {
			r.Refuse(a.Expr.Range(), "Control without a value", "%s is null, and would control nothing. Give it a value, or leave it out.", name)
		}
	}
}

// Text returns a string argument, or "" where it is absent. Empty text is a mistake.
func (r *Reader) Text(name string) (string, *Argument) {
	text, a, _ := r.Find(name)
	return text, a
}

// Required is text that may not be null. That it may not be absent is said by its block's
// kind, and was reported when the block was read.
func (r *Reader) Required(name string) (string, *Argument) {
	text, a, found := r.Find(name)
	if a != nil && found == Absent {
		r.Refuse(a.Expr.Range(), "Required argument is null", "%s may not be null.", name)
	}
	return text, a
}

// Find is [Reader.Text], and says whether the argument is there.
func (r *Reader) Find(name string) (string, *Argument, Finding) {
	v, a, found := r.Value(name)
	if found != Present {
		return "", a, found
	}
	if v.Type() != cty.String {
		remedy := "Write it in quotation marks."
		if ty := v.Type(); ty.IsTupleType() || ty.IsListType() || ty.IsObjectType() || ty.IsMapType() || ty.IsSetType() {
			remedy = fmt.Sprintf("Write one text, such as:\n\n  %s = \"…\"", name)
		}
		if file := ofPeople[name]; file != "" {
			remedy = fmt.Sprintf("It is the name of a file that has a line for each person:\n\n  %s = %q", name, file)
		}
		r.Refuse(a.Expr.Range(), "Not text", "%s must be a text, not %s. %s", name, mistake.Kind(v.Type()), remedy)
		return "", a, Wrong
	}
	text := v.AsString()
	if text == "" {
		r.Refuse(a.Expr.Range(), "Empty text", "%s is empty. Leave it out, or give it a value.", name)
		return "", a, Wrong
	}
	if err := transfer.CheckText(text); err != nil {
		r.Refuse(a.Expr.Range(), "Text cannot be seen as it is", "%s %s", name, mistake.Sentence(err))
		return "", a, Wrong
	}
	return text, a, Present
}

// ofPeople are arguments that name a file of people, with names that the file may have.
var ofPeople = map[string]string{"allowed_signers": "allowed_signers", "revoked_keys": "revoked_keys"}

// Truth returns a condition; anything but true or false is a mistake.
func (r *Reader) Truth(name string) bool {
	v, a, found := r.Value(name)
	if a == nil || found == Wrong {
		return false
	}
	if found == Absent || v.Type() != cty.Bool {
		r.Refuse(a.Expr.Range(), "Not true or false", "%s must be true or false.", name)
		return false
	}
	return v.True()
}

// OneOf is text that must be one of words; the first where it is absent.
func (r *Reader) OneOf(name string, words ...string) string {
	text, a := r.Text(name)
	for _, word := range words {
		if text == word {
			return word
		}
	}
	if text != "" {
		r.Refuse(a.Expr.Range(), "Unknown word", "%s is one of %s, not %s.%s", name, strings.Join(mistake.QuotedAll(words), ", "), Shown(a, text), meantWord(text, words))
	}
	return words[0]
}

// otherWords are words that mean one of an argument's in another program.
var otherWords = map[string]string{
	"latin1": "windows-1252", "latin-1": "windows-1252", "iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "cp1252": "windows-1252", "ansi": "windows-1252",
	"utf8": "utf-8", "utf-8-sig": "utf-8", "unicode": "utf-16", "utf16": "utf-16", "daily": "day",
}

// meantWord says which of an argument's words another one may mean.
func meantWord(text string, words []string) string {
	if meant := otherWords[strings.ToLower(text)]; slices.Contains(words, meant) {
		return fmt.Sprintf(" Did you mean %q?", meant)
	}
	return mistake.DidYouMean(text, words)
}

// Whole returns a whole number between low and high, or otherwise where it is absent.
func (r *Reader) Whole(name string, low, high, otherwise int) int {
	v, a, found := r.Value(name)
	if found != Present {
		return otherwise
	}
	number, err := convert.Convert(v, cty.Number)
	var n int
	if err == nil {
		err = gocty.FromCtyValue(number, &n)
	}
	if err != nil || n < low || n > high {
		detail := fmt.Sprintf("%s must be a whole number from %d to %d", name, low, high)
		if err != nil {
			detail += ", and is " + mistake.Kind(v.Type())
		}
		r.Refuse(a.Expr.Range(), "Not a whole number in range", "%s.%s", detail, wholeInstead[name])
		return otherwise
	}
	return n
}

// wholeInstead is what people mean who give an argument something else than its whole number.
var wholeInstead = map[string]string{
	"approvers": " It says how many people approve. Who they are, the file of allowed_signers says:\n\n  approvers = 1",
}

// Duration returns a length of time from low to high, or otherwise where it is absent.
func (r *Reader) Duration(name string, low, high, otherwise time.Duration) time.Duration {
	text, a := r.Text(name)
	if text == "" {
		return otherwise
	}
	d, err := ParseDuration(text)
	if err != nil && strings.Trim(text, "0123456789") == "" { // "0" needs none
		err = fmt.Errorf("has no unit. Write it behind the number, such as:\n\n  %s = \"30s\"", name)
	}
	if err == nil && (d < low || d > high) {
		err = fmt.Errorf("must be from %s to %s", low, high)
	}
	if err != nil {
		r.Refuse(a.Expr.Range(), "Invalid duration", "%s %s %s", name, Shown(a, text), mistake.Sentence(err))
		return otherwise
	}
	return d
}

// Texts returns a list of strings, nil where it is absent.
func (r *Reader) Texts(name string) []string {
	v, a, found := r.Value(name)
	if found != Present {
		return nil
	}
	texts, ok := TextsOf(v)
	if !ok {
		r.Refuse(a.Expr.Range(), "Not a list of text", "%s must be a list of strings.", name)
	}
	return texts
}

// TextMap returns a map of strings, nil where it is absent. Text in it may not be empty.
func (r *Reader) TextMap(name string) map[string]string {
	v, a, found := r.Value(name)
	if found != Present {
		return nil
	}
	texts := map[string]string{}
	if ty := v.Type(); ty.IsObjectType() || ty.IsMapType() {
		for key, value := range v.AsValueMap() {
			if !syntax.IsText(value) || value.AsString() == "" {
				texts = nil
				break
			}
			texts[key] = value.AsString()
		}
		if len(texts) > 0 {
			return texts
		}
	}
	r.Refuse(a.Expr.Range(), "Not a map of text", "%s has a name and a text for each of its entries, and none of them is empty. It is written so:\n\n  %s", name, mapExample(name))
	return nil
}

// TextsOf reads a list, set or tuple of strings; one string counts as a list of itself.
func TextsOf(v cty.Value) ([]string, bool) {
	if syntax.IsText(v) {
		return []string{v.AsString()}, true
	}
	if !v.Type().IsTupleType() && !v.Type().IsListType() && !v.Type().IsSetType() {
		return nil, false
	}
	var texts []string
	for _, item := range v.AsValueSlice() {
		if !syntax.IsText(item) {
			return nil, false
		}
		texts = append(texts, item.AsString())
	}
	return texts, true
}

var errNoDuration = errors.New("is not a duration such as \"36h\" or \"10d\"")

// noHour is a time of the day in the form of one, behind which its zone stands.
var noHour = lazyregexp.New(`^\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})$`)

// isTime reports whether a text is a time with its zone.
func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

// noTime says why a text is no time, and shows it as one where it is a date or lacks its zone.
func noTime(text string) error {
	example := "2026-11-27T09:00:00-05:00"
	if why, last := calendar.NoSuchDay(text); why != "" {
		if len(text) == len(time.DateOnly) && last != "" {
			return fmt.Errorf("%s. Write the day that is meant, with its time and zone (RFC 3339), such as:\n\n  %q", why, last+"T09:00:00Z")
		}
		if mended := last + text[len(time.DateOnly):]; last != "" && isTime(mended) {
			return fmt.Errorf("%s. Write the day that is meant, such as:\n\n  %q", why, mended)
		}
		return fmt.Errorf("%s. Write the day that is meant, with its time and zone (RFC 3339), such as:\n\n  %q", why, example)
	}
	if day, clock, isDated := strings.Cut(text, "T"); isDated && isTime(day+"T00:00:00Z") && noHour.MatchString(clock) {
		return fmt.Errorf("has a time that no clock shows: hours go from 00 to 23, and minutes and seconds from 00 to 59. Write, such as:\n\n  %q", day+"T23:59:59"+noHour.ReplaceAllString(clock, "$1"))
	}
	for _, form := range []string{"2.1.2006T15:04:05Z07:00", "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(form, text); err == nil {
			example = t.Format(time.RFC3339)
		}
	}
	if day, clock, isDated := strings.Cut(text, "T"); isDated && isTime("2026-11-27T"+clock) && len(calendar.Written(day)) > 0 {
		return fmt.Errorf("has the day %q, and a day is written as in %q. Where a column has it, give that the format yyyy-mm-dd in the spreadsheet, and export the file anew", day, calendar.Written(day)[0])
	}
	switch days := calendar.Written(text); len(days) {
	case 1:
		example = days[0].Midnight().Format(time.RFC3339)
	case 2:
		return fmt.Errorf("is %s or %s, and no time. Write the day that is meant, with its time and time zone (RFC 3339):\n\n  %q\n  %q",
			days[0].InWords(), days[1].InWords(), days[0].Midnight().Format(time.RFC3339), days[1].Midnight().Format(time.RFC3339))
	}
	return fmt.Errorf("is not a time with its date and time zone (RFC 3339), such as:\n\n  %q", example)
}

// ParseDuration reads durations as Go's time.ParseDuration does, and days such as "10d", which are
// 24 hours long.
func ParseDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	days, rest, hasDays := strings.Cut(text, "d")
	var sum time.Duration
	if hasDays {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, errNoDuration
		}
		sum, text = time.Duration(n)*day, rest
	}
	if hasDays && rest == "" {
		return sum, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || hasDays && strings.HasPrefix(text, "+") {
		return 0, errNoDuration
	}
	return sum + d, nil
}

// mapExample is an argument of texts by names, as it may be written.
func mapExample(name string) string {
	switch name {
	case "columns":
		return `columns = { employee = "Employee No.", net = "Net (USD)" }`
	case "number_format":
		return `number_format = { net = "1.234,56" }`
	}
	return name + ` = { a = "b" }`
}

// ParseTime reads RFC 3339 strictly.
func ParseTime(text string) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, noTime(text)
	}
	return t, nil
}

// Time returns a time, zero where it is absent.
func (r *Reader) Time(name string) time.Time {
	text, a := r.Text(name)
	if text == "" {
		return time.Time{}
	}
	t, err := ParseTime(text)
	if err != nil {
		r.Refuse(a.Expr.Range(), "Invalid time", "%s %s %s", name, Shown(a, text), mistake.Sentence(err))
	}
	return t
}

// Shown quotes a value for a message, unless it could be a secret.
func Shown(a *Argument, text string) string {
	if a.Refs.Sensitive() {
		return "(sensitive)"
	}
	return strconv.Quote(text)
}
