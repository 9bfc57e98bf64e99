// Package doubt describes a transfer in doubt: the facts, the next step of an apply by itself
// and when, and what a person types.
//
// Its one invariant: a plan, a status, a run, a state and a report tell of a doubt in these
// sentences, so that no two of them disagree.
package doubt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// Apply is the command that goes on with a doubt by itself.
const Apply = "remit apply"

// Import is the command that settles many doubts, and takes over how PENDING transfers ended, by an
// export of the service's records. A person puts its name in the place of EXPORT.
const Import = "remit import EXPORT"

// Letters is the command that lists the doubts which an export has under a ref_id in other letters, and
// then accepts them, by their number. No import settles these.
const Letters = "remit resolve --recorded EXPORT"

// giveTwin gives the record of a doubt that the service has under a ref_id in other letters.
const giveTwin = ` --recorded FILE --accept-record --reason "…"`

// GiveUnread is the command that settles a doubt by the record of it that can't be read, for the reason why.
func GiveUnread(refID, why string) string {
	if transfer.SaysRefIDTwin(why) {
		return "remit resolve " + shell.Word(refID) + giveTwin
	}
	return "remit resolve " + shell.Word(refID) + ` --recorded FILE --reason "…"`
}

// Doubt is a transfer in doubt.
type Doubt struct {
	RefID     string
	Fact      string // how its latest attempt ended, in a sentence; "" for nothing to say
	Answer    Answer // to that attempt
	Hold      Hold   // why its recorded request is not sent again
	CanLookUp bool   // the service can be asked for a record of it
}

// Answer is what the service said to the latest attempt, as far as it tells what it will say to another.
type Answer uint8

// The answers.
const (
	AnswerNone    Answer = iota // nothing, or nothing that tells
	AnswerKnown                 // it knows the ref_id, and shows no record
	AnswerRefused               // a definite no to an attempt that followed another
)

// Of is the doubt that a state has, as far as the state alone can say. Of the reasons that keep its
// request from being sent again, it has only that somebody else made it, and that an export has a record
// of which nobody can tell.
func Of(d *state.Detail, canLookUp bool) Doubt {
	doubt := Doubt{RefID: d.RefID, CanLookUp: canLookUp}
	if d.Intent.Found {
		doubt.Hold = Made()
	}
	o := d.Outcome
	if why := d.Unread(); why != "" {
		doubt.Hold = Unread(sentence(why))
		return doubt
	}
	if o == nil || d.Open() {
		doubt.Fact = "A run ended before the answer was written down, so the transfer may or may not have been made."
		return doubt
	}
	doubt.Fact = sentence(o.Reason)
	isKnown := o.Source == state.SourceAnswer && isRefusal(o) && len(o.Records) == 0
	switch {
	case o.Status == state.Refused:
		doubt.Answer = AnswerRefused
	case o.Status == state.InDoubt && isKnown:
		doubt.Answer = AnswerKnown
	}
	if o.Status == state.Refused || o.Status == state.Unsent {
		doubt.Fact = strings.TrimSpace(Earlier + " " + doubt.Fact)
	}
	return doubt
}

// Earlier begins the fact of a doubt whose latest attempt made nothing.
const Earlier = "An earlier attempt may have made it, and the latest one did not."

// isRefusal reports whether an answer leaves a transfer in doubt only because the service knows its ref_id: it says 409, or
// has a problem that says so. Any other 4xx in doubt is of a server in between.
func isRefusal(o *state.Outcome) bool {
	isProblem := len(o.Problem) > 0 && o.Problem[0] == '{'
	const conflict = 409
	return o.HTTPStatus == conflict || isProblem && o.HTTPStatus >= 400 && o.HTTPStatus < 500 && !IsCut(o.HTTPStatus)
}

// IsCut reports whether a status of 400 to 499 says that the exchange was cut off, and not that the service refused: 408;
// 499, by which nginx and gateways for remote procedure calls say that the caller of the service hung up; and 460, by
// which a load balancer of AWS does. That caller may be a proxy in between, and the service may have done its work.
func IsCut(status int) bool { return status == 408 || status == 499 || status == 460 }

// sentence is text that begins with a capital letter and ends with a stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(first)) + text[size:]
	if !strings.ContainsAny(text[len(text)-1:], ".!?…") {
		text += "."
	}
	return text
}

// Sentence says all of it: the fact, why nothing is sent again, and what an apply does.
func (d Doubt) Sentence() string {
	return strings.Join(notEmpty(d.Fact, d.Advice()), " ")
}

// Advice is the Sentence without the fact, for where that was just told.
func (d Doubt) Advice() string {
	return strings.Join(notEmpty(d.Hold.text, d.Plan()), " ")
}

func notEmpty(parts ...string) []string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return kept
}

// give is how a person ends a doubt.
const give = "give the record that the service shows, or say --not-made where the service's operator says that there is none"

// Plan is what an apply does about it, and when, in sentences.
func (d Doubt) Plan() string {
	switch isHeld := d.Hold.text != ""; {
	case d.Hold.isUnread && d.CanLookUp:
		return "No lookup ends the doubt while the service lists it so: " + give + "."
	case d.CanLookUp && !isHeld:
		return "The next apply looks it up, and sends the recorded request again where the service lists nothing."
	case d.CanLookUp && d.Hold.passes != "":
		return "Each apply looks it up. Where the service lists nothing, an apply " + d.Hold.passes + " sends the recorded request again."
	case d.CanLookUp:
		return "Each apply looks it up. Where the service never lists it, " + d.Hold.mend + give + "."
	case !isHeld && d.Answer != AnswerNone:
		return "The next apply sends the recorded request once more. Where the service only says the same again, " + give + "."
	case !isHeld:
		return "The next apply sends the recorded request again."
	case d.Hold.passes != "":
		return "An apply " + d.Hold.passes + " sends the recorded request again."
	}
	return "Without lookup_path no apply ends the doubt: " + d.Hold.mend + give + "."
}

// Next is the command to type: [Apply] where an apply goes on, and else that by which a person does. A
// person puts the name of a file with the service's record in the place of FILE.
func (d Doubt) Next() string {
	settle := "remit resolve " + shell.Word(d.RefID)
	isStuck := d.Hold.text != "" && d.Hold.passes == ""
	if d.Hold.text == "" {
		isStuck = d.Answer == AnswerRefused || d.Answer == AnswerKnown && !d.CanLookUp
	}
	switch {
	case !isStuck:
		return Apply
	case d.Hold.isTwin:
		return settle + giveTwin
	case d.Hold.isUnread, !d.CanLookUp:
		return settle + ` --recorded FILE --reason "…"`
	}
	return settle
}

// IsIdle reports whether no apply goes on with it by itself.
func (d Doubt) IsIdle() bool { return d.Next() != Apply }

// NextOfAll is the command for several doubts that each have one: an apply where that goes on with
// any, and else what settles all of them at once. It is "" for none.
func NextOfAll(nexts []string) string {
	one, isTwin := "", false
	for _, next := range nexts {
		isTwin = isTwin || strings.HasSuffix(next, giveTwin)
		switch {
		case !strings.HasPrefix(next, "remit resolve "):
			return next
		case one != "" && strings.Contains(next, " --not-made "): // no export ends these: one after the other
		case one != "" && one != next:
			one = Import
		default:
			one = next
		}
	}
	if one == Import && isTwin {
		return Letters
	}
	return one
}
