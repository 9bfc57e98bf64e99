package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Why is the situation of one transfer. It is declared, or recorded, or both.
type Why struct {
	RefID    string
	Declared *config.Transfer // nil where nobody declares it
	Block    config.Place     // of the block that declares it
	Recorded *state.Detail    // nil where the state has nothing of it
	Plan     *planner.Plan    // of all that is declared
	Line     *planner.Change  // of that plan; nil where it has none
	Group    planner.Group    // of [planner.Plan.StatusGroups]; "" where nothing is to be done about it
	After    []Stands         // what it waits for, the first [planner.StatusGroupMax] of Line.After

	Next string    // the command to type
	From time.Time // when that helps; zero for now
}

// Stands is the situation of another transfer by the plan.
type Stands struct {
	RefID  string         `json:"ref_id"`
	Action planner.Action `json:"action,omitempty"` // "" where the plan has no line for it
}

// IsStopped reports whether the plan would send it, now or later, and can't be applied.
func (y *Why) IsStopped() bool {
	return y.Line != nil && !y.Plan.Applicable() && y.Line.Action == planner.Submit
}

// Stopped are the obstacles of its plan, those that name it first, or that concern more than they name.
func (y *Why) Stopped() []planner.Obstacle {
	if !y.IsStopped() {
		return nil
	}
	all := slices.Clone(y.Plan.Obstacles)
	slices.SortStableFunc(all, func(a, b planner.Obstacle) int { return y.far(&a) - y.far(&b) })
	return all
}

// far is 0 of an obstacle that names the transfer, 1 of one that may be about it, and 2 of one about others.
func (y *Why) far(o *planner.Obstacle) int {
	switch {
	case slices.Contains(o.RefIDs, y.RefID):
		return 0
	case o.Count > len(o.RefIDs) || len(o.RefIDs) == 0:
		return 1
	}
	return 2
}

// request is the declared one, or else the recorded one, as far as it is known.
func (y *Why) request() transfer.Request {
	d := y.Recorded
	switch {
	case y.Declared != nil:
		return y.Declared.Request
	case d.Intent.Body != "":
		if r, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), ""); err == nil {
			return r
		}
	}
	return transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount}
}

// Answer says the situation of the transfer, in sentences.
func (y *Why) Answer() string {
	if y.Line == nil || y.Line.Action == planner.None {
		return y.settled()
	}
	c := y.Line
	switch c.Action {
	case planner.Submit:
		return y.submit()
	case planner.Resolve:
		return "It is in doubt. " + c.Reason
	case planner.Wait:
		return y.waits()
	case planner.Conflict:
		return "It is in conflict: " + stop(c.Reason)
	case planner.Expired:
		return "It is too late for it: " + stop(c.Reason)
	case planner.Failed:
		return stop(capital(c.Reason))
	case planner.None, planner.Undeclared: // said above; a plan has no line of the other
	}
	panic("no such action: " + string(c.Action))
}

// waits says until when, or for what, a transfer waits that is not due.
func (y *Why) waits() string {
	c := y.Line
	isForAnother := strings.HasPrefix(c.Reason, "waits for ")
	switch {
	case y.Group == planner.GroupInFlight:
		return "It is " + stop(c.Reason)
	case isForAnother && c.Never:
		return "It is never sent as things are: it " + stop(c.Reason)
	case isForAnother && c.Until.IsZero():
		return "It " + stop(c.Reason)
	case isForAnother:
		return "It waits until " + due(c.Until) + ": it " + stop(c.Reason)
	case c.Never:
		return "It waits for a time that does not come: " + stop(c.Reason)
	case c.Until.IsZero():
		return "It waits: " + stop(c.Reason)
	}
	return stop(strings.TrimSuffix("It waits until "+due(c.Until)+": "+c.Reason, ": "))
}

// submit says when a transfer is sent that is due.
func (y *Why) submit() string {
	c := y.Line
	first := "It is due."
	switch {
	case c.Again:
		first = "It was " + stop(refusal(c))
	case c.Until.After(y.Plan.Header.Created): // a rehearsal submits it
		first = "It becomes due on " + due(c.Until) + ", and the sandbox does not wait for that."
	}
	switch {
	case y.IsStopped():
		var kinds []string
		for _, o := range y.Stopped() {
			if kind := string(o.Kind); !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
		return first + " The plan that would send it cannot be applied: " + strings.Join(kinds, ", ") + "."
	case len(c.After) == 1:
		return first + " An apply sends it when the transfer that it depends on is COMPLETED."
	case len(c.After) > 1:
		return first + fmt.Sprintf(" An apply sends it when the %d transfers that it depends on are COMPLETED.", len(c.After))
	case c.Again:
		return first + " The next apply sends it again."
	}
	return first + " The next apply sends it."
}

// settled says how a transfer ended that the plan has no action for.
func (y *Why) settled() string {
	d := y.Recorded
	text := "Its declaration agrees with the record."
	if y.Declared == nil {
		text = "No file declares it any more."
	}
	if differs := (Screen{Scales: y.Plan.Header.Scales}).acceptedText(d); differs != "" {
		text = "A person accepted a record that differs from the request: " + differs + "." + personsWord(d)
		if y.Declared == nil {
			text += " No file declares it any more."
		} else {
			text += " Its declaration agrees with the request."
		}
	}
	switch d.Status {
	case state.Recorded, state.Adopted, state.Unverified:
	case state.Unsent:
		return "It was never sent. " + text
	case state.Refused:
		return "The service refused it. " + text
	case state.Tombstone:
		return "It was " + planner.Closed(d) + ": it is never sent again." + personsWord(d) + " " + text
	case state.InDoubt, state.Conflict:
		panic(fmt.Sprintf("%q is %s, and its plan has no line for it", d.RefID, d.Status))
	}
	first := "It is " + d.Status.String() + "."
	if executor.IsByOldRecord(d.Outcome) {
		first += " " + stop(d.Outcome.Reason)
	}
	switch y.Group {
	case planner.GroupFailed:
		first = stop(capital(planner.WhyFailed(d)))
	case planner.GroupUnverified:
		first = "It is unverified: check its record."
	case planner.GroupPending:
		first += " The service has not finished it: its status is " + string(d.RecordStatus) + "."
	case planner.GroupUnknown:
		first += " The service gives it a status that remit does not know: " + string(d.RecordStatus) + "."
	case planner.GroupConflict, planner.GroupInDoubt, planner.GroupLate, planner.GroupSettled, planner.GroupRefused, planner.GroupExpired,
		planner.GroupNever, planner.GroupInFlight, planner.GroupDue, planner.GroupWaiting, planner.GroupNext:
	default:
		text += " Nothing is left to do."
	}
	return first + " " + text
}

// personsWord is the reason that a person gave with the newest word about a transfer, as a sentence; "" where the newest is
// no person's.
func personsWord(d *state.Detail) string {
	o := d.Outcome
	if o == nil || o.By == nil || o.Source != state.SourcePerson || o.Reason == "" {
		return ""
	}
	return fmt.Sprintf(" The reason of %s: %s", o.By.User, stop(o.Reason))
}

// stop ends a clause as a sentence.
func stop(clause string) string {
	if strings.HasSuffix(clause, ".") {
		return clause
	}
	return clause + "."
}

// ShowWhy writes the situation of one transfer, for a person. It returns only errors of w.
func ShowWhy(w io.Writer, y *Why, o PlanOptions) error {
	o.Scales = y.Plan.Header.Scales
	p := newPage(w, o.Screen)
	p.headWith(y.Plan, o, nil, unknownReadWarnings(y.Plan))
	r := y.request()
	p.line(plain("Transfer "), strong(y.RefID), plain(strings.TrimSuffix(": "+strings.TrimSpace(p.amount(r.Amount, r.Asset)+" "+r.Asset), ": ")))
	p.line()
	p.paragraph("  ", Visible(y.Answer()), toneStrong)
	p.line()
	p.fields(y.fields(&r, o))
	y.writeAfter(p)
	if c := y.Line; c != nil && len(c.Differences) > 0 {
		p.line()
		before, after := versions(c)
		p.differences("  ", c, before, after)
	}
	if c := y.Line; c != nil && len(c.Signals) > 0 {
		p.line()
		p.line(strong("Signals"))
		for i := range c.Signals {
			note := signalNote(&c.Signals[i])
			p.paragraph("  ", note.text, note.tone)
		}
	}
	p.line()
	if stopped := y.Stopped(); len(stopped) > 0 {
		p.line(strong("Why its plan cannot be applied"))
		p.obstacleList(stopped)
	}
	if y.isSent() && len(o.Approvals) > 0 {
		p.line(strong("Approval"))
		p.approvals(o)
	}
	y.writeNext(p)
	return p.Flush()
}

// isSent reports whether an apply of its plan sends it.
func (y *Why) isSent() bool { return y.Line != nil && y.Line.Action.Sends() }

// fields are the known facts of the transfer, one a line.
func (y *Why) fields(r *transfer.Request, o PlanOptions) []field {
	from, to := sender(*r), destination(*r)
	fields := []field{{"declared", "nowhere"}}
	var fromPlace, toPlace config.Place
	if t := y.Declared; t != nil {
		to.name, fromPlace, toPlace = t.DisplayName, t.FromPlace, t.ToPlace
		by := t.Address
		if t.Place != y.Block {
			by += at(y.Block.String())
		}
		fields = []field{{"declared", t.Place.String()}, {"by", by}, {"batch", t.Batch}}
	} else {
		to.name = y.Recorded.Intent.DisplayName
		fields = append(fields, field{"before", y.Recorded.Intent.Place}, field{"by", y.Recorded.Intent.Address}, field{"batch", y.Recorded.Intent.Batch})
	}
	fields = append(fields, field{"from", from.show(shapeWhole, o.Names) + at(placeOrNone(fromPlace))}, field{"to", to.show(shapeWhole, o.Names) + at(placeOrNone(toPlace))})
	fields = append(fields, y.recordedFields()...)
	return append(fields, y.timeFields()...)
}

// placeOrNone is a place as text; "" for none.
func placeOrNone(place config.Place) string {
	if place == (config.Place{}) {
		return ""
	}
	return place.String()
}

func (y *Why) recordedFields() []field {
	d := y.Recorded
	if d == nil {
		return []field{{"state", "nothing recorded"}}
	}
	when := d.SettledAt
	if when.IsZero() {
		when = d.AttemptedAt
	}
	return []field{
		{"state", strings.TrimSuffix(strings.TrimSpace(d.Status.String()+" "+string(d.RecordStatus))+", "+momentOr(when), ", ")},
		{"group_id", d.GroupID},
		{"run", d.RunID},
	}
}

// timeFields say when it may be sent.
func (y *Why) timeFields() []field {
	t := y.Declared
	if t == nil {
		return nil
	}
	occurrence := ""
	if t.Occurrence != nil {
		occurrence = fmt.Sprintf("%s of schedule.%s, due %s", t.Occurrence.Date, t.Occurrence.Schedule, due(t.Occurrence.Due))
	}
	return []field{
		{"occurrence", occurrence},
		{"not before", dueOr(t.NotBefore)},
		{"expires", dueOr(t.Expires)},
		{"window", strings.Join(y.windows(), ", ")},
		{"depends on", strings.Join(y.dependsOn(), ", ")},
	}
}

func (y *Why) windows() (names []string) {
	for _, w := range y.Declared.Windows {
		names = append(names, w.Name)
	}
	return names
}

// dependsOn are the blocks and batches that must be COMPLETED first.
func (y *Why) dependsOn() (names []string) {
	for _, d := range y.Declared.DependsOn {
		if d.Batch != "" {
			names = append(names, "batch."+d.Batch)
		} else {
			names = append(names, d.Block)
		}
	}
	return names
}

// writeAfter lists the transfers that must be COMPLETED first.
func (y *Why) writeAfter(p *page) {
	if len(y.After) == 0 {
		return
	}
	p.line()
	p.line(strong("Must be COMPLETED first"))
	var rows [][]span
	for _, s := range y.After {
		word := string(s.Action)
		if word == "" {
			word = "recorded, not COMPLETED yet"
		}
		rows = append(rows, []span{plain(s.RefID), dim(word)})
	}
	p.table("  ", rows)
	if more := len(y.Line.After) - len(y.After); more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more", more)))
	}
}

func (y *Why) writeNext(p *page) {
	title := "Next:"
	if !y.From.IsZero() {
		title = "Next, from " + due(y.From) + " on:"
	}
	p.line(plain(title))
	p.command("", p.here(y.Next))
}
