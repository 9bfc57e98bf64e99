package executor

import (
	"fmt"
	"time"

	"remit/internal/doubt"
	"remit/state"
)

// clocksApartMax is how far two local clocks may be from the truth together: five minutes each.
const clocksApartMax = state.JumpMin

// sent is the time at which the service may have got a request first.
type sent struct {
	at     time.Time    // by the local clock of then
	clocks state.Clocks // zero where the run kept none, as those of remit 0.1.0
}

// measure is an age by one clock.
type measure struct {
	clock string // in words
	age   time.Duration
}

// ages measure by several clocks how long ago something was, each the most that it can be.
type ages struct {
	local   time.Duration // by clocks that anyone may have set; without their tolerance
	trusted []measure     // by those that nobody here can set
}

// agesAt returns how long then is ago at the time of now.
func agesAt(then sent, now reading) ages {
	a := ages{local: now.local.Round(0).Sub(then.at.Round(0))}
	within := time.Duration(now.WithinMS) * time.Millisecond
	if !then.clocks.Date.IsZero() && !now.Date.IsZero() {
		a.trusted = append(a.trusted, measure{"the service's clock", now.Date.Sub(then.clocks.Date) + within + dateGrain})
	}
	if !then.clocks.Server.IsZero() && !now.Server.IsZero() {
		a.trusted = append(a.trusted, measure{"the clock of the PostgreSQL server", now.Server.Sub(then.clocks.Server) + within})
	}
	if then.clocks.Boot != "" && then.clocks.Boot == now.Boot {
		a.trusted = append(a.trusted, measure{"the time since the machine booted", now.SinceBoot() - then.clocks.SinceBoot()})
	}
	return a
}

// oldest is the largest age that a clock says which nobody here can set.
func (a ages) oldest() (time.Duration, bool) {
	oldest := time.Duration(0)
	for _, m := range a.trusted {
		oldest = max(oldest, m.age)
	}
	return oldest, len(a.trusted) > 0
}

// doubtful says why these ages prove nothing, in a sentence; "" where they do.
func (a ages) doubtful() string {
	if len(a.trusted) == 0 {
		return "Not sent again: how old it is, only a local clock says, which proves nothing (there is no Date of the service from both runs, and the machine or its boot is another one)."
	}
	for _, m := range a.trusted {
		if apart := (a.local - m.age).Abs(); apart > clocksApartMax+dateGrain {
			return fmt.Sprintf("Not sent again: the local clock says that it is %s old and %s says %s, so one of them was wrong.",
				inWords(a.local), m.clock, inWords(m.age))
		}
	}
	return ""
}

// mayBeForgotten reports whether the service may no longer know a ref_id that it may have seen so
// long ago, by the worst of all clocks, where it remembers for window.
func (a ages) mayBeForgotten(window, timeout time.Duration) bool {
	oldest, _ := a.oldest()
	return max(oldest, a.local+clocksApartMax)+timeout >= window
}

// ageOf returns how long ago the service may have got a request at most: of a doubt since its first
// intent, else since the request was handed over. It reports false if no trusted clock tells.
func (k *timekeeper) ageOf(then sent, doubted bool, asked reading) (time.Duration, bool) {
	switch {
	case doubted:
		return agesAt(then, k.now()).oldest()
	case asked.local.IsZero():
		return 0, false
	}
	return since(asked, k.local()), true
}

// tooOld returns why the age of a doubt forbids to send it again.
func (k *timekeeper) tooOld(then sent) doubt.Hold {
	return agesAt(then, k.now()).tooOld(k.settings)
}

// tooOld returns why a doubt of such an age is not sent again.
func (a ages) tooOld(settings Settings) doubt.Hold {
	switch why := a.doubtful(); {
	case why != "":
		return doubt.Final(why)
	case a.mayBeForgotten(settings.ReplayWindow, settings.RequestTimeout):
		return doubt.ReplayWindowPassed()
	}
	return doubt.Hold{}
}
