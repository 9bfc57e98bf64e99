package config

import (
	"reflect"
	"time"

	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/clock/calendar"
)

// Window is a window block: when something may be sent.
type Window struct {
	Name string
	*calendar.Hours
}

// halfDay is longer than the business hours of a day, which somebody may have turned round.
const halfDay = 12 * 60

// isNight reports whether hours go over midnight and leave out less than half a day, as business hours do that are turned round.
func isNight(h *calendar.Hours) bool { return h.To != 0 && h.To < h.From && h.From-h.To < halfDay }

// windowType is the type of window.NAME.
var windowType = cty.Capsule("window", reflect.TypeFor[Window]())

func windowKind() eval.Kind {
	return eval.Kind{
		Name: "window", Labels: []string{"name"},
		Optional: []string{"description", "timezone", "calendar", "days", "from", "to"},
		Nested: []eval.Kind{
			{Name: "cut_off", Required: []string{"at"}, Optional: []string{"days", "dates"}},
			{Name: "deny", Required: []string{"from", "to"}, Optional: []string{"description"}},
		},
		Shared: true,
	}
}

func readWindow(c *checker, b *eval.Block) {
	readNamed(c, b, "window", func(r *eval.Reader) cty.Value {
		r.Text("description")
		w := &calendar.Hours{Zone: zoneArgument(r), Calendar: calendarArgument(r, "calendar")}
		for _, day := range weekdaysArgument(r, "days", time.Sunday, time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday) {
			w.Days[day] = true
		}
		before := len(r.Diags)
		w.From = clockArgument(r, "from", 0, calendar.ParseClock)
		w.To = clockArgument(r, "to", 24*60, calendar.ParseClockEnd)
		if w.From == w.To && len(r.Diags) == before {
			r.Refuse(b.At, "Window is never open", "from and to are the same. A whole day is from \"00:00\" to \"24:00\".")
		}
		if isNight(w) && b.Arguments["description"] == nil && !r.Diags.HasErrors() {
			r.Diags = append(r.Diags, mistake.Warning(b.Arguments["to"].Expr.Range(), "Window is open over night",
				"The window opens at %s and closes at %s on the next day. If these are hours of one day, turn them round:\n\n  from = %q\n  to   = %q\n\nIf the night is meant, give the window a description, which says so.", w.From, w.To, w.To, w.From))
		}
		for _, nested := range b.Blocks {
			inner := &eval.Reader{Scope: r.Scope, Block: nested}
			if nested.Incomplete {
				continue
			}
			if nested.Kind == "deny" {
				w.Denies = append(w.Denies, readDeny(inner))
			} else {
				w.CutOffs = append(w.CutOffs, readCutOff(inner, w))
			}
			r.Diags = append(r.Diags, inner.Diags...)
		}
		return cty.CapsuleVal(windowType, &Window{b.Label(0), w})
	})
}

func readDeny(r *eval.Reader) calendar.Deny {
	r.Text("description")
	d := calendar.Deny{From: r.Time("from"), To: r.Time("to")}
	if !r.Diags.HasErrors() && !d.From.Before(d.To) {
		r.Refuse(r.Block.Arguments["to"].Expr.Range(), "Ends before it starts", "to must be after from.")
	}
	return d
}

func readCutOff(r *eval.Reader, w *calendar.Hours) calendar.CutOff {
	c := calendar.CutOff{At: clockArgument(r, "at", 0, calendar.ParseClock), Dates: datesArgument(r, "dates")}
	for _, day := range weekdaysArgument(r, "days") {
		c.Days[day] = true
	}
	isOvernight := w.To <= w.From
	switch {
	case r.Diags.HasErrors():
	case c.Days == [7]bool{} && len(c.Dates) == 0:
		r.Refuse(r.Block.At, "Cut-off without days", "Say on which days the window closes at %s: days, dates or both.", c.At)
	case !isOvernight && (c.At <= w.From || c.At >= w.To), isOvernight && c.At >= w.To && c.At <= w.From:
		r.Refuse(r.Block.Arguments["at"].Expr.Range(), "Cut-off outside of its window", "The window is open from %s to %s; %s is not in between.", w.From, w.To, c.At)
	}
	return c
}

// windowOf reads the value of an argument window.
func windowOf(value cty.Value) (*Window, string) {
	if value.Type() != windowType {
		return nil, "window must be a window, such as window.banking, not " + mistake.Kind(value.Type()) + "."
	}
	return value.EncapsulatedValue().(*Window), ""
}

// windowArgument is an argument that is a window, nil where it is absent.
func windowArgument(r *eval.Reader, name string) *Window {
	value, a, found := r.Value(name)
	if found != eval.Present {
		return nil
	}
	w, wrong := windowOf(value)
	if wrong != "" {
		r.Refuse(a.Expr.Range(), "Not a window", "%s%s", wrong, asReference("window", value, a.Expr.Range()))
	}
	return w
}
