package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/gocty"

	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// reader reads the arguments of one block that is evaluated once. Null means absent, as in
// Terraform. After a mistake it goes on, so that all of them are found.
type reader struct {
	scope  *scope
	block  *block
	secret bool // sensitive values are allowed
	diags  hcl.Diagnostics
	unset  []*node // variables that had no value
}

func (r *reader) refuse(at hcl.Range, summary, detail string, args ...any) {
	r.diags = append(r.diags, mistake.New(at, summary, detail, args...))
}

// finding is what was found where an argument could stand.
type finding uint8

const (
	nothing finding = iota // absent or null
	wrong                  // a mistake was reported, or a variable has no value
	present
)

// value returns an argument's value without marks.
func (r *reader) value(name string) (cty.Value, *argument, finding) {
	a, ok := r.block.arguments[name]
	if !ok {
		return cty.NilVal, nil, nothing
	}
	get := r.scope.plain
	if r.secret {
		get = r.scope.value
	}
	v, ok, diags := get(a)
	r.diags = append(r.diags, diags...)
	if !ok {
		if a.refs != nil {
			for _, n := range a.refs.nodes {
				r.unset = append(r.unset, n.missing...)
			}
		}
		return cty.NilVal, a, wrong
	}
	v, _ = v.UnmarkDeep()
	if v.IsNull() {
		return cty.NilVal, a, nothing
	}
	return v, a, present
}

// text returns a string argument, or "" where it is absent. Empty text is a mistake.
func (r *reader) text(name string) (string, *argument) {
	text, a, _ := r.find(name)
	return text, a
}

// required is text that may not be null. That it may not be absent is said by its block's
// kind, and was reported when the block was read.
func (r *reader) required(name string) (string, *argument) {
	text, a, found := r.find(name)
	if a != nil && found == nothing {
		r.refuse(a.expr.Range(), "Required argument is null", "%s may not be null.", name)
	}
	return text, a
}

func (r *reader) find(name string) (string, *argument, finding) {
	v, a, found := r.value(name)
	if found != present {
		return "", a, found
	}
	if v.Type() != cty.String {
		r.refuse(a.expr.Range(), "Not text", "%s must be a string, not %s.", name, v.Type().FriendlyName())
		return "", a, wrong
	}
	text := v.AsString()
	if text == "" {
		r.refuse(a.expr.Range(), "Empty text", "%s is empty. Leave it out, or give it a value.", name)
		return "", a, wrong
	}
	if err := transfer.CheckText(text); err != nil {
		r.refuse(a.expr.Range(), "Text cannot be seen as it is", "%s %s", name, mistake.Sentence(err))
		return "", a, wrong
	}
	return text, a, present
}

// truth returns a condition; what is not true or false is a mistake.
func (r *reader) truth(name string) bool {
	v, a, found := r.value(name)
	if a == nil || found == wrong {
		return false
	}
	if found == nothing || v.Type() != cty.Bool {
		r.refuse(a.expr.Range(), "Not true or false", "%s must be true or false.", name)
		return false
	}
	return v.True()
}

// oneOf is text that must be one of words; the first where it is absent.
func (r *reader) oneOf(name string, words ...string) string {
	text, a := r.text(name)
	for _, word := range words {
		if text == word {
			return word
		}
	}
	if text != "" {
		r.refuse(a.expr.Range(), "Unknown word", "%s is one of %q, not %s.%s", name, words, shown(a, text), mistake.DidYouMean(text, words))
	}
	return words[0]
}

// whole returns a whole number between low and high, or otherwise where it is absent.
func (r *reader) whole(name string, low, high, otherwise int) int {
	v, a, found := r.value(name)
	if found != present {
		return otherwise
	}
	number, err := convert.Convert(v, cty.Number)
	var n int
	if err == nil {
		err = gocty.FromCtyValue(number, &n)
	}
	if err != nil || n < low || n > high {
		r.refuse(a.expr.Range(), "Not a whole number in range", "%s must be a whole number from %d to %d.", name, low, high)
		return otherwise
	}
	return n
}

// duration returns a length of time from low to high, or otherwise where it is absent.
func (r *reader) duration(name string, low, high, otherwise time.Duration) time.Duration {
	text, a := r.text(name)
	if text == "" {
		return otherwise
	}
	d, err := parseDuration(text)
	if err == nil && (d < low || d > high) {
		err = fmt.Errorf("must be from %s to %s", low, high)
	}
	if err != nil {
		r.refuse(a.expr.Range(), "Invalid duration", "%s %s %s", name, shown(a, text), mistake.Sentence(err))
		return otherwise
	}
	return d
}

// texts returns a list of strings, nil where it is absent.
func (r *reader) texts(name string) []string {
	v, a, found := r.value(name)
	if found != present {
		return nil
	}
	texts, ok := textsOf(v)
	if !ok {
		r.refuse(a.expr.Range(), "Not a list of text", "%s must be a list of strings.", name)
	}
	return texts
}

// textMap returns a map of strings, nil where it is absent. Text in it may not be empty.
func (r *reader) textMap(name string) map[string]string {
	v, a, found := r.value(name)
	if found != present {
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
	r.refuse(a.expr.Range(), "Not a map of text", "%s must be a map of strings, and none of them empty.", name)
	return nil
}

// textsOf reads a list, set or tuple of strings; one string stands for a list of itself.
func textsOf(v cty.Value) ([]string, bool) {
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

// parseDuration reads what Go's time.ParseDuration reads, and days such as "10d", which are
// 24 hours long.
func parseDuration(text string) (time.Duration, error) {
	const day = 24 * time.Hour
	days, rest, hasDays := strings.Cut(text, "d")
	var sum time.Duration
	if hasDays {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("is not a duration such as \"36h\" or \"10d\"")
		}
		sum, text = time.Duration(n)*day, rest
	}
	if hasDays && rest == "" {
		return sum, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || hasDays && strings.HasPrefix(text, "+") {
		return 0, fmt.Errorf("is not a duration such as \"36h\" or \"10d\"")
	}
	return sum + d, nil
}

// parseTime reads RFC 3339 strictly.
func parseTime(text string) (time.Time, error) {
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, fmt.Errorf("is not a time as RFC 3339 writes it, such as \"2026-11-27T09:00:00-05:00\"")
	}
	return t, nil
}

// time returns a time, zero where it is absent.
func (r *reader) time(name string) time.Time {
	text, a := r.text(name)
	if text == "" {
		return time.Time{}
	}
	t, err := parseTime(text)
	if err != nil {
		r.refuse(a.expr.Range(), "Invalid time", "%s %s %s", name, shown(a, text), mistake.Sentence(err))
	}
	return t
}

// shown quotes a value for a message, unless it could be a secret.
func shown(a *argument, text string) string {
	if a.refs.sensitive() {
		return "(sensitive)"
	}
	return strconv.Quote(text)
}
