package doubt

import (
	"fmt"
	"time"

	"remit/internal/transfer"
)

// Hold is why the recorded request of a doubt is not sent again. The zero value holds nothing.
type Hold struct {
	text     string // a sentence
	passes   string // which apply sends it again: "from then on"; "" where no apply does as things are
	mend     string // what of the files would let it be sent again: "restore it, or "; "" for nothing
	isUnread bool   // a lookup does not help either
	isTwin   bool   // it is unread because its ref_id is written in other letters
}

// Text is a sentence; "" where nothing holds it.
func (h Hold) Text() string { return h.text }

// Holds reports whether the request is not sent again.
func (h Hold) Holds() bool { return h.text != "" }

func held(why string) Hold { return Hold{text: "Not sent again: " + why + "."} }

func heldUntil(why, passes string) Hold {
	h := held(why)
	h.passes = passes
	return h
}

// Made is of a record that was found before the request was sent.
func Made() Hold {
	return Hold{text: "Nothing is sent: a record was found, so somebody made it."}
}

// Undeclared is of a transfer that nobody declares any more.
func Undeclared() Hold {
	h := held("it is no longer declared")
	h.mend = "declare it again as it was, or "
	return h
}

// Differs is of a declaration that was edited since.
func Differs() Hold {
	h := held("its declaration differs from the recorded request")
	h.mend = "restore the declaration, or "
	return h
}

// OtherBytes is of a saved plan that shows another request.
func OtherBytes() Hold { return held("the saved plan shows other bytes than were recorded") }

// OnDoubt is of a service block that says so.
func OnDoubt() Hold { return held(`on_doubt is "hold"`) }

// Expired is of a transfer that is not wanted any more since a time.
func Expired(at time.Time) Hold { return held("it expired at " + at.UTC().Format(time.RFC3339)) }

// ReplayWindowPassed is of a doubt that is older than the service remembers, by the worst of all clocks.
func ReplayWindowPassed() Hold {
	return held("the service may no longer protect its ref_id from a second transfer (replay_window)")
}

// Final is of what no time mends, for a reason that becomes a sentence.
func Final(why string) Hold { return Hold{text: sentence(why)} }

// NotDue is of a transfer whose time was put off.
func NotDue(at time.Time) Hold {
	return heldUntil("it is not due before "+at.UTC().Format(time.RFC3339), "from then on")
}

// Shut is of a closed window. Why says which, and until when.
func Shut(why string) Hold { return heldUntil(why, "while the window is open") }

// DependsOn is of a transfer that another one must come before.
func DependsOn(refID string) Hold {
	return heldUntil(fmt.Sprintf("it depends on %q, which is not COMPLETED", refID), "after that is COMPLETED")
}

// NotInPlan is of a run whose plan is about other transfers.
func NotInPlan() Hold { return heldUntil("this plan does not have it", "whose plan has it") }

// Stopped is of a run that started nothing new any more.
func Stopped() Hold { return heldUntil("the run stopped before", "after this one") }

// Blocked is of a run that sends nothing, because its plan must not be applied.
func Blocked() Hold {
	return Hold{text: "This run sends nothing.", passes: "whose plan nothing holds up"}
}

// Passing is a hold that kept one run from sending, and no later one. The text is a sentence.
func Passing(text string) Hold { return Hold{text: text, passes: "after this one"} }

// Unread is of a record that the service lists, or an export has, and remit can't read. The text is a sentence.
func Unread(text string) Hold {
	return Hold{text: text, isUnread: true, isTwin: transfer.SaysRefIDTwin(text)}
}
