package executor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// turned is a clock that somebody sets, on a machine whose boot is known or not.
type turned struct {
	clock
	by      time.Duration
	boot    string // "" where the system does not say
	machine string // "" for the usual one
}

func (c turned) Now() time.Time { return time.Now().Add(c.by) }

func (c turned) Boot() executor.Boot {
	if c.boot == "" {
		return executor.Boot{}
	}
	b := c.clock.Boot()
	b.ID = c.boot
	if c.machine != "" {
		b.Machine = c.machine
	}
	return b
}

// TestTheAgeOfADoubtIsTheLargestThatTheEvidenceAllows has a doubt of one run, and a second run that
// comes later, each with clocks of its own.
func TestTheAgeOfADoubtIsTheLargestThatTheEvidenceAllows(t *testing.T) {
	day := 24 * time.Hour
	tests := map[string]struct {
		first, second turned
		dated         bool // tokens come with a Date
		follows       bool // the Date is wrong as the local clock is
		isJump        bool // a person says that the second clock is right
		later         time.Duration
		sent          bool
		reason        string
	}{
		"a Date at both ends proves it":                 {later: time.Hour, dated: true, sent: true},
		"a boot proves it without a Date":               {first: turned{boot: "a"}, second: turned{boot: "a"}, later: time.Hour, sent: true},
		"local clocks alone prove nothing":              {later: time.Hour, reason: "proves nothing"},
		"another boot proves nothing":                   {first: turned{boot: "a"}, second: turned{boot: "b"}, later: time.Hour, reason: "proves nothing"},
		"a clock that is four minutes fast, then right": {first: turned{by: 4 * time.Minute}, dated: true, later: time.Hour, sent: true},
		"a clock that is right, then four minutes slow": {second: turned{by: -4 * time.Minute}, dated: true, later: time.Hour, sent: true},
		"a slow clock on the edge of the window":        {second: turned{by: -time.Minute}, dated: true, later: day + 5*time.Second, reason: "replay_window"},
		"the Date says that the window is over": {
			first: turned{by: 4 * time.Minute}, second: turned{by: -4 * time.Minute}, dated: true, later: day - 20*time.Second, reason: "replay_window",
		},
		"a clock ten hours ahead, then right, in one boot": {
			first: turned{by: 10 * time.Hour, boot: "a"}, second: turned{boot: "a"}, later: 30 * time.Hour, isJump: true, reason: "one of them was wrong",
		},
		"a right clock, then ten hours slow, in one boot": {
			first: turned{boot: "a"}, second: turned{by: -10 * time.Hour, boot: "a"}, later: 30 * time.Hour, isJump: true, reason: "one of them was wrong",
		},
		"a clock ten hours ahead, in both runs of one boot": {
			first: turned{by: 10 * time.Hour, boot: "a"}, second: turned{by: 10 * time.Hour, boot: "a"}, later: time.Hour, sent: true,
		},
		"a clock and a Date ten hours ahead, in one boot": {
			first: turned{boot: "a"}, second: turned{by: 10 * time.Hour, boot: "a"}, later: time.Hour, dated: true, follows: true, isJump: true, reason: "the time since the machine booted says 1h",
		},
		"a boot says that the window is over": {first: turned{boot: "a"}, second: turned{boot: "a"}, later: day, reason: "replay_window"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if !test.dated {
					w.service.ready = func() (time.Time, error) { return time.Time{}, nil }
				}
				if test.follows {
					w.service.ready = func() (time.Time, error) { return w.clock.Now(), nil }
				}
				w.clock = test.first
				w.journal.now = test.first.Now
				doubtful(w)
				w.service.before = nil
				time.Sleep(test.later)
				w.clock = test.second
				w.journal.now = test.second.Now
				if test.isJump {
					b := w.clock.Boot()
					word := state.ClockConfirmed{Reason: "it is right", Clocks: state.Clocks{Boot: b.ID, BootMS: b.Up.Milliseconds(), Machine: b.Machine}}
					if err := w.journal.Append(t.Context(), word); err != nil {
						t.Fatal(err)
					}
				}
				w.apply(request("rent"))
				requests := 1
				if test.sent {
					requests = 2
				}
				if got := w.service.requests("rent"); got != requests || !strings.Contains(w.reason("rent"), test.reason) {
					t.Errorf("%d requests, want %d: %s", got, requests, w.reason("rent"))
				}
			})
		})
	}
}

// TestADateIsHadAnewBeforeADoubtIsSentAgain has the doubt wait for its window, which opens hours
// after the token was had.
func TestADateIsHadAnewBeforeADoubtIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock = turned{}
		tokens := 0
		w.service.ready = func() (time.Time, error) {
			tokens++
			return time.Now(), nil
		}
		doubtful(w)
		w.service.before = nil
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: 2 * time.Hour}}
		w.apply(request("rent"), request("other"))
		if w.service.requests("rent") != 2 || tokens < 3 {
			t.Errorf("%d requests, %d tokens", w.service.requests("rent"), tokens)
		}
	})
}

// TestARunThatIsInterruptedWhileItAsksForADateSendsNothing has the token's renewal, right before a doubt is sent again,
// last until somebody interrupts the run.
func TestARunThatIsInterruptedWhileItAsksForADateSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock = turned{}
		interrupted, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		begun, isAsked := time.Now(), false
		w.service.ready = func() (time.Time, error) {
			if time.Since(begun) > time.Hour { // once the rate limit lets the request start
				isAsked = true
				interrupt()
				time.Sleep(time.Second)
			}
			return time.Now(), nil
		}
		doubtful(w)
		w.service.before = nil
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: 2 * time.Hour}}
		if _, err := executor.Apply(interrupted, w.run(w.plan(request("rent")))); err != nil {
			t.Fatal(err)
		}
		if !isAsked || w.service.requests("rent") != 1 {
			t.Errorf("%d requests, asked for a Date: %v; %s", w.service.requests("rent"), isAsked, w.reason("rent"))
		}
	})
}

// TestARecordIsOlderThanItsRequestByTheServicesOwnClock answers a first request with a record that
// is another's, or with its own, under local clocks that are wrong.
func TestARecordIsOlderThanItsRequestByTheServicesOwnClock(t *testing.T) {
	tests := map[string]struct {
		by     time.Duration // of the local clock
		dated  bool
		age    time.Duration // of the record
		result executor.Result
		told   bool // that a clock may be off
	}{
		"its own":                                     {0, true, 0, executor.ResultRecorded, false},
		"its own, by a proxy's clock 4 s fast":        {0, true, 4 * time.Second, executor.ResultRecorded, false},
		"its own, by a proxy's clock 7 s fast":        {0, true, 7 * time.Second, executor.ResultUnverified, true},
		"another's of a day ago":                      {0, true, 24 * time.Hour, executor.ResultUnverified, false},
		"its own, by a clock four minutes fast":       {4 * time.Minute, true, 0, executor.ResultRecorded, false},
		"its own, by a clock four minutes slow":       {-4 * time.Minute, true, 0, executor.ResultRecorded, false},
		"another's of three minutes ago":              {0, true, 3 * time.Minute, executor.ResultUnverified, true},
		"another's, by a clock four minutes slow":     {-4 * time.Minute, true, 3 * time.Minute, executor.ResultUnverified, true},
		"its own, without a Date":                     {4 * time.Minute, false, 0, executor.ResultRecorded, false},
		"another's of six minutes ago without a Date": {0, false, 6 * time.Minute, executor.ResultUnverified, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.clock = turned{by: test.by, boot: "a"}
				w.journal.now = w.clock.Now
				w.service.after = func(_ string, _ int, a executor.Answer) executor.Answer {
					a.Record.CreatedAt = a.Record.CreatedAt.Add(-test.age)
					if test.dated {
						a.Record.AnsweredAt = time.Now().Truncate(time.Second)
					}
					return a
				}
				w.apply(request("rent"))
				if got := w.results()["rent"]; got != test.result {
					t.Errorf("it is %s, want %s", got, test.result)
				}
				if reason := w.reason("rent"); strings.Contains(reason, "one of these two clocks is off") != test.told || test.told && strings.Count(reason, "Z") != 2 {
					t.Errorf("%q, want it to name two times: %v", reason, test.told)
				}
			})
		})
	}
}

var _ executor.Clock = turned{}

// sleeper is the clock of a machine that sleeps: its boottime goes on, and timers stand still.
type sleeper struct {
	clock
	asleep *time.Duration
}

func (c sleeper) Boot() executor.Boot {
	b := c.clock.Boot()
	b.Up += *c.asleep
	return b
}

// TestTheLockIsCheckedAnewAfterASleep has the machine sleep right after the lock was checked, and the
// lock be taken away meanwhile.
func TestTheLockIsCheckedAnewAfterASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		asleep, checks := time.Duration(0), 0
		w.clock = sleeper{asleep: &asleep}
		w.journal.before = func(effect string) error {
			if effect == "check" {
				checks++
			}
			if checks > 1 {
				return state.ErrLost
			}
			asleep += time.Hour // before each effect, the check of the lock too
			return nil
		}
		_, _ = executor.Apply(t.Context(), w.run(w.plan(request("rent")))) // the journal is gone by then
		if got := w.service.requests("rent"); got != 0 || checks < 2 {
			t.Errorf("%d requests after %d checks: the last one is an hour old", got, checks)
		}
	})
}

// TestACheckThatTakesLongIsNoCheckOfNow has a server answer after half a minute whether the lock is still ours.
func TestACheckThatTakesLongIsNoCheckOfNow(t *testing.T) {
	for name, tt := range map[string]struct{ slow, requests int }{
		"once":   {1, 1},
		"always": {1000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				checks := 0
				w.journal.before = func(effect string) error {
					switch effect {
					case "append intent":
						time.Sleep(2 * time.Second) // so that the lock is to be checked
					case "check":
						if checks++; checks <= tt.slow {
							time.Sleep(30 * time.Second)
						}
					}
					return nil
				}
				summary, err := executor.Apply(t.Context(), w.run(w.plan(request("rent"))))
				if got := w.service.requests("rent"); err != nil || got != tt.requests || checks > 10 {
					t.Errorf("%d requests after %d checks, want %d: %+v, %v", got, checks, tt.requests, summary, err)
				}
				if status := w.journal.row("rent").Status; tt.requests == 0 && status != state.Unsent {
					t.Errorf("it is %v", status)
				}
			})
		})
	}
}

// TestAnExpiryHoldsByTheTimeThatPassed has somebody set the clock while the first of two requests is answered, which takes
// an hour.
func TestAnExpiryHoldsByTheTimeThatPassed(t *testing.T) {
	tests := map[string]struct {
		by      time.Duration // that the clock is set by
		expires time.Duration // since the begin
		want    executor.Result
	}{
		"ten years back, it has expired":         {-10 * 365 * 24 * time.Hour, 30 * time.Minute, executor.ResultNotAttempted},
		"ten hours back, it has expired":         {-10 * time.Hour, 30 * time.Minute, executor.ResultNotAttempted},
		"ten years back, it has not expired":     {-10 * 365 * 24 * time.Hour, 90 * time.Minute, executor.ResultRecorded},
		"ten years ahead":                        {10 * 365 * 24 * time.Hour, 90 * time.Minute, executor.ResultNotAttempted},
		"a minute back as time servers do, late": {-time.Minute, 59*time.Minute + 30*time.Second, executor.ResultRecorded},
		"a minute ahead":                         {time.Minute, 90 * time.Minute, executor.ResultRecorded},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				set := &turned{boot: "a"}
				w.clock = set
				w.settings.InFlightMax = 1
				w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
					if refID == "t-000" {
						time.Sleep(time.Hour)
						set.by = test.by
					}
					return nil
				}
				plan := w.plan(numbered(2)...)
				plan.Changes.Update(1, func(c *planner.Change) { c.Expires = time.Now().Add(test.expires) })
				w.applyPlan(plan)
				if got := w.results()["t-001"]; got != test.want {
					t.Errorf("it is %s, want %s: %s", got, test.want, w.reason("t-001"))
				}
				isTold := strings.Contains(w.reason("t-001"), "The clock of this machine was set during the run")
				if want := test.want == executor.ResultNotAttempted && test.by < 0; isTold != want {
					t.Errorf("the reason tells of the clock: %v, want %v: %s", isTold, want, w.reason("t-001"))
				}
			})
		})
	}
}

// TestATokenThatTakesLongMakesNoRecordOlder sends a doubt again of which the first request made the record. The Date that
// tells its age came 20 seconds late.
func TestATokenThatTakesLongMakesNoRecordOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.clock = turned{}
		w.service.after = func(_ string, try int, a executor.Answer) executor.Answer {
			if try == 1 {
				return *timeout()
			}
			a.Record.AnsweredAt = time.Now().Truncate(time.Second)
			return a
		}
		w.apply(request("rent"))
		time.Sleep(time.Hour)
		w.service.ready = func() (time.Time, error) {
			date := time.Now()
			time.Sleep(20 * time.Second)
			return date, nil
		}
		w.apply(request("rent"))
		if got := w.results()["rent"]; got != executor.ResultRecorded || w.service.requests("rent") != 2 {
			t.Errorf("it is %s after %d requests: %s", got, w.service.requests("rent"), w.reason("rent"))
		}
	})
}

// served is a journal whose server has a clock.
type served struct{ *memory }

func (served) ServerTime(context.Context) (time.Time, error) { return time.Now(), nil }

// TestAPlanFindsThoseDoubtsTooOldThatItsRunDoes holds what a plan says of a doubt against what a run does with it.
func TestAPlanFindsThoseDoubtsTooOldThatItsRunDoes(t *testing.T) {
	clocks := map[string]struct {
		clock    turned
		isDated  bool // tokens come with a Date
		isServed bool
	}{
		"the service's clock":                 {turned{}, true, false},
		"the clock of a server":               {turned{}, false, true},
		"a boot":                              {turned{boot: "a"}, false, false},
		"all of them":                         {turned{boot: "a"}, true, true},
		"a local clock, which proves nothing": {turned{}, false, false},
	}
	for name, c := range clocks {
		for later, isYoung := range map[time.Duration]bool{time.Hour: true, 23*time.Hour + 45*time.Minute: true, 24 * time.Hour: false} {
			t.Run(fmt.Sprintf("%s after %v", name, later), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					w.clock = c.clock
					if !c.isDated {
						w.service.ready = func() (time.Time, error) { return time.Time{}, nil }
					}
					w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
					apply := func() {
						run := w.run(w.plan(request("rent")))
						if c.isServed {
							run.Journal = served{w.journal}
						}
						if _, err := executor.Apply(t.Context(), run); err != nil {
							t.Fatal(err)
						}
					}
					apply()
					time.Sleep(later)
					hold := tooOld(w, "rent")
					apply()
					isProven := c.isDated || c.isServed || c.clock.boot != ""
					if isSent := w.service.requests("rent") == 2; isSent != (isYoung && isProven) || hold.Holds() == isSent {
						t.Errorf("it is sent again: %t; the plan says %q", isSent, hold.Text())
					}
				})
			})
		}
	}
}

// slowly is a journal whose server takes its time to say what time it is.
type slowly struct {
	*memory
	takes time.Duration
}

func (s slowly) ServerTime(context.Context) (time.Time, error) {
	time.Sleep(s.takes)
	return time.Now(), nil
}

// TestTheAgeOfADoubtHasTheTimeThatItsClockTookToAnswer has the clock of a server say at most how old a doubt is: it may have been
// read at the begin of its answer.
func TestTheAgeOfADoubtHasTheTimeThatItsClockTookToAnswer(t *testing.T) {
	for takes, requests := range map[time.Duration]int{0: 2, 9 * time.Minute: 2, 11 * time.Minute: 1} {
		t.Run(takes.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.clock = turned{}
				w.service.ready = func() (time.Time, error) { return time.Time{}, nil }
				w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
				for _, takes := range []time.Duration{0, takes} {
					run := w.run(w.plan(request("rent")))
					run.Journal = slowly{w.journal, takes}
					if _, err := executor.Apply(t.Context(), run); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Hour)
				}
				if got := w.service.requests("rent"); got != requests || (requests == 1) != strings.Contains(w.reason("rent"), "one of them was wrong") {
					t.Errorf("%d requests, want %d: %s", got, requests, w.reason("rent"))
				}
			})
		})
	}
}

// tooOld is what a plan of now says of the age of a doubt.
func tooOld(w *world, refID string) doubt.Hold {
	w.t.Helper()
	snapshot, err := w.journal.Snapshot(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	ages, err := executor.ReadDoubtAges(w.t.Context(), snapshot.Runs(w.t.Context()), w.clock, w.settings)
	if err != nil {
		w.t.Fatal(err)
	}
	details, err := snapshot.Details(w.t.Context(), refID)
	if err != nil || len(details) != 1 {
		w.t.Fatal(details, err)
	}
	return ages.TooOld(&details[0])
}
