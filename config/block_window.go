package config

import (
	"reflect"
	"time"

	"github.com/zclconf/go-cty/cty"

	"remit/internal/clock/calendar"
)

// Window is a window block: when something may be sent.
type Window struct {
	Name string
	*calendar.Window
}

// windowType is the type of window.NAME.
var windowType = cty.Capsule("window", reflect.TypeFor[Window]())

func windowKind() blockKind {
	return blockKind{
		name: "window", labels: []string{"name"},
		optional: []string{"description", "timezone", "calendar", "days", "from", "to"},
		nested: []blockKind{
			{name: "cut_off", required: []string{"at"}, optional: []string{"days", "dates"}},
			{name: "deny", required: []string{"from", "to"}, optional: []string{"description"}},
		},
		read: (*loader).readWindow,
	}
}

func (l *loader) readWindow(b *block) {
	l.readNamed(b, "window", func(r *reader) cty.Value {
		r.text("description")
		w := &calendar.Window{Zone: r.zone(), Calendar: r.calendar("calendar")}
		for _, day := range r.weekdays("days", time.Sunday, time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday) {
			w.Days[day] = true
		}
		w.From = r.clock("from", 0, calendar.ParseClock)
		w.To = r.clock("to", 24*60, calendar.ParseClockEnd)
		if w.From == w.To {
			r.refuse(b.at, "Window is never open", "from and to are the same. A whole day is from \"00:00\" to \"24:00\".")
		}
		for _, nested := range b.blocks {
			inner := &reader{scope: r.scope, block: nested}
			if nested.incomplete {
				continue
			}
			if nested.kind == "deny" {
				w.Denies = append(w.Denies, inner.deny())
			} else {
				w.CutOffs = append(w.CutOffs, inner.cutOff(w))
			}
			r.diags = append(r.diags, inner.diags...)
		}
		return cty.CapsuleVal(windowType, &Window{b.label(0), w})
	})
}

func (r *reader) deny() calendar.Deny {
	r.text("description")
	d := calendar.Deny{From: r.time("from"), To: r.time("to")}
	if !r.diags.HasErrors() && !d.From.Before(d.To) {
		r.refuse(r.block.arguments["to"].expr.Range(), "Ends before it starts", "to must be after from.")
	}
	return d
}

func (r *reader) cutOff(w *calendar.Window) calendar.CutOff {
	c := calendar.CutOff{At: r.clock("at", 0, calendar.ParseClock), Dates: r.dates("dates")}
	for _, day := range r.weekdays("days") {
		c.Days[day] = true
	}
	isOvernight := w.To <= w.From
	switch {
	case r.diags.HasErrors():
	case c.Days == [7]bool{} && len(c.Dates) == 0:
		r.refuse(r.block.at, "Cut-off without days", "Say on which days the window closes at %s: days, dates or both.", c.At)
	case !isOvernight && (c.At <= w.From || c.At >= w.To), isOvernight && c.At >= w.To && c.At <= w.From:
		r.refuse(r.block.arguments["at"].expr.Range(), "Cut-off outside of its window", "The window is open from %s to %s; %s is not in between.", w.From, w.To, c.At)
	}
	return c
}

// windowOf reads the value of an argument window.
func windowOf(value cty.Value) (*Window, string) {
	if value.Type() != windowType {
		return nil, "window must be a window, such as window.banking, not " + value.Type().FriendlyName() + "."
	}
	return value.EncapsulatedValue().(*Window), ""
}

// window is an argument that is a window, nil where it is absent.
func (r *reader) window(name string) *Window {
	value, a, found := r.value(name)
	if found != present {
		return nil
	}
	w, wrong := windowOf(value)
	if wrong != "" {
		r.refuse(a.expr.Range(), "Not a window", "%s", wrong)
	}
	return w
}
