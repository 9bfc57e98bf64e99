package doubt_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/doubt"
	"remit/state"
)

const (
	give   = "give the record that the service shows, or say --not-made where the service's operator says that there is none."
	record = `remit resolve rent --recorded FILE --reason "…"`
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// TestADoubtHasOneSentence compares the sentence and the command of a doubt with the deeds of an
// apply: a command that is an apply goes on, and any other ends the doubt or says why not.
func TestADoubtHasOneSentence(t *testing.T) {
	tests := map[string]struct {
		doubt doubt.Doubt
		plan  string
		next  string
	}{
		"nothing holds it": {
			doubt.Doubt{}, "The next apply sends the recorded request again.", doubt.Apply,
		},
		"nothing holds it, and there is a lookup": {
			doubt.Doubt{CanLookUp: true},
			"The next apply looks it up, and sends the recorded request again where the service lists nothing.", doubt.Apply,
		},
		"on_doubt": {
			doubt.Doubt{Hold: doubt.OnDoubt()},
			`Not sent again: on_doubt is "hold". Without lookup_path no apply ends the doubt: ` + give, record,
		},
		"on_doubt, with a lookup": {
			doubt.Doubt{Hold: doubt.OnDoubt(), CanLookUp: true},
			`Not sent again: on_doubt is "hold". Each apply looks it up. Where the service never lists it, ` + give, "remit resolve rent",
		},
		"its declaration was edited": {
			doubt.Doubt{Hold: doubt.Differs()},
			"Not sent again: its declaration differs from the recorded request. Without lookup_path no apply ends the doubt: restore the declaration, or " + give, record,
		},
		"nobody declares it": {
			doubt.Doubt{Hold: doubt.Undeclared(), CanLookUp: true},
			"Not sent again: it is no longer declared. Each apply looks it up. Where the service never lists it, declare it again as it was, or " + give, "remit resolve rent",
		},
		"a list has its credit side as PENDING": {
			doubt.Doubt{Hold: doubt.Final("the credit side is PENDING still"), CanLookUp: true},
			"The credit side is PENDING still. Each apply looks it up. Where the service never lists it, " + give, "remit resolve rent",
		},
		"its time was put off": {
			doubt.Doubt{Hold: doubt.NotDue(noon)},
			"Not sent again: it is not due before 2026-11-27T12:00:00Z. An apply from then on sends the recorded request again.", doubt.Apply,
		},
		"a window is closed, and there is a lookup": {
			doubt.Doubt{Hold: doubt.Shut("window.office is closed until 2026-11-27T12:00:00Z"), CanLookUp: true},
			"Not sent again: window.office is closed until 2026-11-27T12:00:00Z. Each apply looks it up. Where the service lists nothing, an apply while the window is open sends the recorded request again.", doubt.Apply,
		},
		"it depends on another": {
			doubt.Doubt{Hold: doubt.DependsOn("a")},
			`Not sent again: it depends on "a", which is not COMPLETED. An apply after that is COMPLETED sends the recorded request again.`, doubt.Apply,
		},
		"the service knows it": {
			doubt.Doubt{Answer: doubt.AnswerKnown},
			"The next apply sends the recorded request once more. Where the service only says the same again, " + give, record,
		},
		"the service knows it, and there is a lookup": {
			doubt.Doubt{Answer: doubt.AnswerKnown, CanLookUp: true},
			"The next apply looks it up, and sends the recorded request again where the service lists nothing.", doubt.Apply,
		},
		"it was refused when it was sent again, and there is a lookup": {
			doubt.Doubt{Answer: doubt.AnswerRefused, CanLookUp: true},
			"The next apply looks it up, and sends the recorded request again where the service lists nothing.", "remit resolve rent",
		},
		"its record can't be read": {
			doubt.Doubt{Hold: doubt.Unread("The service lists a record that cannot be read: no amount."), CanLookUp: true},
			"The service lists a record that cannot be read: no amount. No lookup ends the doubt while the service lists it so: " + give, record,
		},
		"an export has a record that can't be read, and there is no lookup": {
			doubt.Doubt{Hold: doubt.Unread("The export has a record that cannot be read: its ref_id is \"RENT\".")},
			"The export has a record that cannot be read: its ref_id is \"RENT\". Without lookup_path no apply ends the doubt: " + give, record,
		},
		"the lookup failed": {
			doubt.Doubt{Hold: doubt.Passing("It could not be looked up: 503."), CanLookUp: true},
			"It could not be looked up: 503. Each apply looks it up. Where the service lists nothing, an apply after this one sends the recorded request again.", doubt.Apply,
		},
		"a record was found first": {
			doubt.Doubt{Hold: doubt.Made()},
			"Nothing is sent: a record was found, so somebody made it. Without lookup_path no apply ends the doubt: " + give, record,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.doubt.RefID, test.doubt.Fact = "rent", "It was lost."
			if diff := cmp.Diff("It was lost. "+test.plan, test.doubt.Sentence()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.next, test.doubt.Next()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTheFactOfADoubtIsItsLatestAttempt reads doubts off a state.
func TestTheFactOfADoubtIsItsLatestAttempt(t *testing.T) {
	answered := func(status int, reason string) *state.Outcome {
		return &state.Outcome{Status: state.InDoubt, Source: state.SourceAnswer, HTTPStatus: status, Reason: reason}
	}
	later := state.Transfer{RefID: "rent", Status: state.InDoubt, AttemptedAt: noon, SettledAt: noon.Add(time.Second)}
	tests := map[string]struct {
		detail state.Detail
		want   doubt.Doubt
	}{
		"a run died": {
			state.Detail{Transfer: state.Transfer{RefID: "rent", Status: state.InDoubt}},
			doubt.Doubt{Fact: "A run ended before the answer was written down, so the transfer may or may not have been made."},
		},
		"no clear answer": {
			state.Detail{Transfer: later, Outcome: answered(503, "the service answered 503")},
			doubt.Doubt{Fact: "The service answered 503."},
		},
		"499 says nothing": {
			state.Detail{Transfer: later, Outcome: answered(499, "It answered 499.")},
			doubt.Doubt{Fact: "It answered 499."},
		},
		"408 says nothing": {
			state.Detail{Transfer: later, Outcome: answered(408, "It answered 408.")},
			doubt.Doubt{Fact: "It answered 408."},
		},
		"the service knows it": {
			state.Detail{Transfer: later, Outcome: answered(409, "It knows the ref_id.")},
			doubt.Doubt{Fact: "It knows the ref_id.", Answer: doubt.AnswerKnown},
		},
		"a refusal after a doubt": {
			state.Detail{Transfer: later, Outcome: &state.Outcome{Status: state.Refused, Source: state.SourceAnswer, HTTPStatus: 422, Reason: "It refused."}},
			doubt.Doubt{Fact: doubt.Earlier + " It refused.", Answer: doubt.AnswerRefused},
		},
		"nothing was written after a doubt": {
			state.Detail{Transfer: later, Outcome: &state.Outcome{Status: state.Unsent, Source: state.SourceAnswer}},
			doubt.Doubt{Fact: doubt.Earlier},
		},
		"somebody else made it": {
			state.Detail{Transfer: later, Intent: state.Intent{Found: true}, Outcome: &state.Outcome{
				Status: state.InDoubt, Source: state.SourceLookup, Reason: "only the credit side is known", Records: []json.RawMessage{[]byte("{}")},
			}},
			doubt.Doubt{Fact: "Only the credit side is known.", Hold: doubt.Made()},
		},
		"an export has it under a twin": {
			state.Detail{Transfer: later, Intent: state.Intent{Found: true}, Outcome: &state.Outcome{Status: state.InDoubt, Source: state.SourceLookup, Reason: "its ref_id is \"RENT\""}},
			doubt.Doubt{Hold: doubt.Unread("Its ref_id is \"RENT\".")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.want.RefID = "rent"
			if diff := cmp.Diff(test.want, doubt.Of(&test.detail, false), cmp.AllowUnexported(doubt.Hold{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeveralDoubtsHaveOneCommand(t *testing.T) {
	tests := map[string]struct {
		nexts []string
		want  string
	}{
		"none":                      {nil, ""},
		"one for a person":          {[]string{record}, record},
		"two for a person":          {[]string{record, `remit resolve b --recorded FILE --reason "…"`}, doubt.Import},
		"an apply goes on with one": {[]string{record, doubt.Apply}, doubt.Apply},
		"an apply goes on with all": {[]string{doubt.Apply, doubt.Apply}, doubt.Apply},
		"an export has none of two": {
			[]string{`remit resolve a --not-made --reason "…"`, `remit resolve b --not-made --reason "…"`}, `remit resolve a --not-made --reason "…"`,
		},
		"lookups of two found nothing": {[]string{"remit resolve a", "remit resolve b"}, doubt.Import},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := doubt.NextOfAll(test.nexts); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
