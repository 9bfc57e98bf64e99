package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/clock/calendar"
)

// windowsOf is of what the windows of a transfer are made.
type windowsOf struct{ own, batch *Window }

// occurrence says for which date of a schedule the transfer is made: that of not_before, where
// that is no schedule's that of each.value, and where that is none's either the one that
// each.key names. Where for_each goes through the dates of a schedule and none of these says it, it is that of the time in not_before.
func (e *evaluator) occurrence(out *Transfer, batch *batchBlock) {
	out.Occurrence = latest(e.notBefore)
	if out.Occurrence == nil && batch != nil {
		out.Occurrence = batch.of
	}
	if out.Occurrence == nil && e.in.each != cty.NilVal {
		_, of := unmoved(e.in.each)
		out.Occurrence = latest(of)
	}
	through, key := e.block.through, ""
	if e.in.element != nil {
		key = e.in.element.key
	}
	if out.Occurrence == nil {
		out.Occurrence = latest(e.block.dates[key])
	}
	if out.Occurrence == nil && through != nil {
		out.Occurrence, _ = through.ofKey(key)
	}
	switch {
	case e.wrong:
	case out.NotBefore.IsZero() && out.Occurrence != nil:
		e.refuse(nil, timeless, "The transfer is made for %s of schedule.%s, but nothing says that it waits for it: it would be sent at once. %s",
			out.Occurrence.Date, out.Occurrence.Schedule, through.timeOf(out.Occurrence, key))
	case out.NotBefore.IsZero() && through != nil:
		name := through.schedules[0].Name
		e.refuse(nil, timeless, "for_each goes through the dates of schedule.%s, but nothing says for which of them the transfer waits: it would be sent at once, and with it those of all other dates. Keep the time of its date in each element, and wait for it, such as:\n\n  for_each   = { for date, o in schedule.%[1]s.occurrences : KEY => { due_at = o.due_at } }\n  not_before = each.value.due_at\n\nWhere an element has its date, DATE, write not_before = schedule.%[1]s.occurrences[DATE].due_at.", name)
	case through != nil:
		checkWait(e, out.NotBefore, key)
		if out.Occurrence == nil {
			out.Occurrence = through.ofTime(out.NotBefore)
		}
	}
}

// checkWait refuses one time that is written for the elements of several dates and comes before one of them: all would be sent at it. Dates that a
// holiday moves to one time share that, and what is overdue may be sent at one.
func checkWait(e *evaluator, notBefore time.Time, key string) {
	f, through := e.block.fields["not_before"], e.block.through
	if f != nil && !f.constant {
		return
	}
	_, of := unmoved(e.in.each)
	own := latest(of)
	if own == nil {
		own = through.madeFor(key)
	}
	if own == nil {
		return
	}
	first := e.block.waits[notBefore]
	switch {
	case first == nil:
		if e.block.waits == nil {
			e.block.waits = make(map[time.Time]*Occurrence)
		}
		e.block.waits[notBefore] = own
	case !first.Due.Equal(own.Due) && (notBefore.Before(own.Due) || notBefore.Before(first.Due)):
		e.refuse(f, "One time for several dates", "for_each goes through the dates of schedule.%s, and %s and %s have one time, %s: those of all dates would be sent at it. %s",
			own.Schedule, first.Date, own.Date, notBefore.UTC().Format(time.RFC3339), through.timeOf(own, key))
	}
}

const timeless = "Occurrence without a time"

// wholeSchedule is the name of the schedule that an expression names, and nothing of it; "" of any other one.
func wholeSchedule(expr hclsyntax.Expression) string {
	of, ok := syntax.Unwrap(expr).(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(of.Traversal) != 2 || of.Traversal.RootName() != "schedule" {
		return ""
	}
	name, _ := eval.StepName(of.Traversal[1], true)
	return name
}

// windows are those of the transfer and of its batch, which are shared.
func (e *evaluator) windows(batch *batchBlock) []*Window {
	var of windowsOf
	if value, f, found := e.value("window"); found == eval.Present {
		w, wrong := windowOf(value)
		if wrong != "" {
			e.refuse(f, "Not a window", "%s%s", wrong, asReference("window", value, f.Expr.Range()))
			return nil
		}
		of.own = w
	}
	if batch != nil && batch.window != of.own {
		of.batch = batch.window
	}
	if of == (windowsOf{}) {
		return nil
	}
	all, ok := e.block.windows[of]
	if !ok {
		for _, w := range []*Window{of.own, of.batch} {
			if w != nil {
				all = append(all, w)
			}
		}
		if e.block.windows == nil {
			e.block.windows = map[windowsOf][]*Window{}
		}
		e.block.windows[of] = all
	}
	return all
}

func (e *evaluator) time(name string) time.Time {
	text := e.text(name)
	if text == "" {
		return time.Time{}
	}
	t, err := eval.ParseTime(text)
	if err != nil {
		f := e.block.fields[name]
		if _, noDate := time.Parse(time.DateOnly, text); noDate == nil && e.in.row != nil && f.column != "" {
			err = fmt.Errorf("is a date alone. Write its time and its time zone behind the column, such as:\n\n  \"${%s}T09:00:00+01:00\"", mistake.ColumnOf("each.value", f.column))
		} else if hint := e.in.dottedDate(f); hint != nil {
			err = hint
		} else if e.in.isOfColumn(f) && syntax.Traversal(f.Expr) != nil && calendar.Written(text) != nil {
			what := "is a day as a spreadsheet shows it"
			if strings.Trim(text, "0123456789.") == "" {
				what = "is the number by which a spreadsheet counts a day"
			}
			err = fmt.Errorf("%s. Give the column the format yyyy-mm-dd there, export the file anew, and write the time and its time zone behind it:\n\n  %s = \"${%s}T09:00:00Z\"", what, name, mistake.ColumnOf("each.value", f.column))
		}
		e.refuse(f, "Invalid time", "%s %q %s", name, text, mistake.Sentence(err))
	}
	return t
}

// dottedDate says what to do with a column that has the day as in 30.11.2026; nil for any other text. A workbook that
// has it so has text in that cell, and most often dates in the others.
func (in instance) dottedDate(f *field) error {
	if !in.isOfColumn(f) {
		return nil
	}
	text := in.row.Text(columnIndex(in.row, f.column))
	day, err := time.Parse("2.1.2006", text)
	if err != nil {
		return nil
	}
	if in.row.source.kind.name == "xlsx" {
		return fmt.Errorf("is no time: the cell has the text %q, and no date. Format the cell as a date, and type the day again: %s", text, day.Format(time.DateOnly))
	}
	if len(text) < len("02.01.2006") {
		return nil
	}
	return fmt.Errorf("is no time, because the day is written %q. Turn it around and write its time and its time zone behind it, such as:\n\n  \"${join(\"-\", reverse(split(\".\", %s)))}T09:00:00+01:00\"",
		text, mistake.ColumnOf("each.value", f.column))
}

func (e *evaluator) duration(f *field, value cty.Value) time.Duration {
	text := e.checkText(f, f.Name, value)
	if text == "" {
		return 0
	}
	d, err := eval.ParseDuration(text)
	if err == nil && d > duplicateWithinMax {
		err = fmt.Errorf("is longer than ten years")
	}
	if err != nil {
		e.refuse(f, "Invalid duration", "%s %q %s", f.Name, text, mistake.Sentence(err))
	}
	return d
}
