package cli

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/internal/clock/calendar"
	"remit/internal/text/lazyregexp"
	"remit/internal/text/shell"
	"remit/internal/text/terraform"
)

// Flags of other programs for a period, for its first day and for its last one.
var (
	periodWords = []string{"period", "date", "day", "week", "month", "quarter", "year"}
	beginWords  = []string{"since", "start", "begin"}
	endWords    = []string{"to", "till", "end"}
)

// ofPeriod answers a flag of another program for a period, on a command that has --from and --until: with the typed line, in
// which the flags of this one stand in its place. Both days are in the period. There is no text for any other flag.
func (p *process) ofPeriod(cmd *cobra.Command, name string) terraform.Answer {
	isPeriod, isBegin := slices.Contains(periodWords, name), slices.Contains(beginWords, name)
	if lookupFlag(cmd, "from") == nil || lookupFlag(cmd, "until") == nil || !isPeriod && !isBegin && !slices.Contains(endWords, name) {
		return terraform.Answer{}
	}
	text, flags := "", ""
	switch {
	case isPeriod:
		first, last, isExample := meantPeriod(name, p.typedValue(name))
		flags = "--from=" + first.Format(time.DateOnly) + " --until=" + last.Format(time.DateOnly)
		text = "--from and --until name the first and the last day, and both are counted"
		if lookupFlag(cmd, "month") != nil {
			text = "--month names a month, and --from and --until the first and the last of any days, which are both counted"
		}
		if isExample {
			text += ". For example"
		}
	case isBegin:
		text, flags = "--from names the first day", p.boundsTyped(cmd, isBegin)
	default:
		text, flags = "--until names the last day, which is counted", p.boundsTyped(cmd, isBegin)
	}
	next := cmp.Or(p.insteadOf(cmd, flags), p.keptFlags(cmd.Root(), cmd.CommandPath()+neededBy(cmd)+" "+flags), cmd.CommandPath()+" --help")
	return terraform.Answer{Text: "there is no " + flagWord(name) + ": " + text, Next: next}
}

// boundsTyped are --from and --until with the days that the typed line has, by whatever flag, and of the flag that was
// answered, an example where it has none. A report needs both.
func (p *process) boundsTyped(cmd *cobra.Command, isBegin bool) string {
	day := func(words ...string) (time.Time, bool) {
		for _, word := range words {
			if day, err := calendar.ParseDate(p.typedValue(word)); err == nil {
				return day.Midnight(), true
			}
		}
		return time.Time{}, false
	}
	first, hasFirst := day(append([]string{"from"}, beginWords...)...)
	last, hasLast := day(append([]string{"until"}, endWords...)...)
	needsBoth := lookupFlag(cmd, "month") != nil
	beginning, end := months(exampleYear, time.November, 1)
	if hasLast {
		beginning, _ = months(last.Year(), last.Month(), 1)
	}
	if hasFirst {
		_, end = months(first.Year(), first.Month(), 1)
	}
	if !hasFirst {
		first, hasFirst = beginning, isBegin || needsBoth
	}
	if !hasLast {
		last, hasLast = end, !isBegin || needsBoth
	}
	var flags []string
	if hasFirst {
		flags = append(flags, "--from="+first.Format(time.DateOnly))
	}
	if hasLast {
		flags = append(flags, "--until="+last.Format(time.DateOnly))
	}
	return strings.Join(flags, " ")
}

// typedValue is the value that a flag has on the typed line; "" for none.
func (p *process) typedValue(name string) string {
	for i, word := range p.typed {
		if len(word) < 2 || word[0] != '-' || flagName(word) != name {
			continue
		}
		if _, value, hasValue := strings.Cut(word, "="); hasValue {
			return value
		}
		if i+1 < len(p.typed) && !strings.HasPrefix(p.typed[i+1], "-") {
			return p.typed[i+1]
		}
	}
	return ""
}

// neededBy is a flag without which a command does nothing, as an example; "" for none.
func neededBy(cmd *cobra.Command) string {
	format := lookupFlag(cmd, "format")
	if !strings.Contains(cmd.Use, "--format=") || format == nil {
		return ""
	}
	return " --format=" + format.Value.(*oneWord).words[0]
}

// insteadOf is the typed line with flags in the place of those for a period, and with what the command asks for. It is ""
// where a word of the line may be a secret, or the command's name is not its beginning.
func (p *process) insteadOf(cmd *cobra.Command, flags string) string {
	line := strings.Fields(cmd.CommandPath())
	words := p.typed
	if len(words) < len(line)-1 || !slices.Equal(words[:len(line)-1], line[1:]) {
		return ""
	}
	words = words[len(line)-1:]
	asked, isPlaced, hasFormat, hasFile := len(line), false, false, false
	for i := 0; i < len(words); i++ {
		word := words[i]
		isFlag := strings.HasPrefix(word, "-") && len(word) > 1
		isAlone := isFlag && !strings.Contains(word, "=") && i+1 < len(words) // its value may be the next word
		switch typed := flagName(word); {
		case isFlag && (typed == "var" || typed == "client-secret"):
			return ""
		case isFlag && slices.Contains(slices.Concat(periodWords, beginWords, endWords, []string{"from", "until"}), typed):
			if !isPlaced {
				line, isPlaced = append(line, flags), true
			}
			if isAlone && !strings.HasPrefix(words[i+1], "-") {
				i++
			}
		case isFlag:
			hasFormat = hasFormat || typed == "format"
			line = append(line, shell.Typed(word))
			if f := lookupFlag(cmd, typed); isAlone && f != nil && f.NoOptDefVal == "" {
				i++
				line = append(line, shell.Typed(words[i]))
			}
		default:
			hasFile = true
			line = append(line, shell.Typed(word))
		}
	}
	switch {
	case neededBy(cmd) != "" && !hasFormat:
		line = slices.Insert(line, asked, strings.TrimSpace(neededBy(cmd)))
	case cmd.Name() == "reconcile" && !hasFile:
		line = slices.Insert(line, asked, "FILE")
	}
	return strings.Join(line, " ")
}

// Forms in which people write a period, besides those of a month.
var (
	yearForm    = lazyregexp.New(`^([12]\d{3})$`)
	quarterForm = lazyregexp.New(`^([12]\d{3})?[-/. ]?(Q?)([1-4])$`)
	quarterLast = lazyregexp.New(`^(Q)([1-4])[-/. ]?([12]\d{3})$`)
	weekForm    = lazyregexp.New(`^([12]\d{3})[-/. ]?K?W(\d{1,2})$`)
)

// exampleYear is the year of examples, and of a quarter that is written without one.
const exampleYear = 2026

// meantPeriod is the first and the last day of a period, as the value of a flag writes it; or else those of an example, which
// is as long as the flag's name says.
func meantPeriod(name, value string) (first, last time.Time, isExample bool) {
	plain := strings.ToUpper(strings.TrimSpace(value))
	if day, err := calendar.ParseDate(plain); err == nil && slices.Contains([]string{"period", "date", "day"}, name) {
		return day.Midnight(), day.Midnight(), false
	}
	if m := yearForm.FindStringSubmatch(plain); m != nil {
		first, last = months(number(m[1]), time.January, 12)
		return first, last, false
	}
	m := quarterForm.FindStringSubmatch(plain)
	if turned := quarterLast.FindStringSubmatch(plain); turned != nil {
		m = []string{"", turned[3], turned[1], turned[2]}
	}
	if m != nil && (m[2] == "Q" || name == "quarter") {
		first, last = months(cmp.Or(number(m[1]), exampleYear), time.Month(3*number(m[3])-2), 3)
		return first, last, m[1] == ""
	}
	if m := weekForm.FindStringSubmatch(plain); m != nil && number(m[2]) >= 1 && number(m[2]) <= 53 {
		monday := time.Date(number(m[1]), time.January, 4, 0, 0, 0, 0, time.UTC) // in the first week of ISO 8601
		for monday.Weekday() != time.Monday {
			monday = monday.AddDate(0, 0, -1)
		}
		monday = monday.AddDate(0, 0, 7*(number(m[2])-1))
		return monday, monday.AddDate(0, 0, 6), false
	}
	if month, ok := writtenMonth(value); ok {
		first, last = months(month.Year(), month.Month(), 1)
		return first, last, false
	}
	first, last = months(exampleYear, time.November, 1)
	switch name {
	case "year":
		first, last = months(exampleYear, time.January, 12)
	case "quarter":
		first, last = months(exampleYear, time.October, 3)
	case "week":
		first = last.AddDate(0, 0, -7) // a Monday
		last = first.AddDate(0, 0, 6)
	case "day", "date":
		first = last
	}
	return first, last, true
}

// months are the first and the last day of so many months.
func months(year int, from time.Month, count time.Month) (first, last time.Time) {
	return time.Date(year, from, 1, 0, 0, 0, 0, time.UTC), time.Date(year, from+count, 0, 0, 0, 0, 0, time.UTC)
}

// number is that of digits, as a pattern has matched them; 0 for none.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
