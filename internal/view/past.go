package view

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"remit/executor"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// PastOptions say how to show a run that is in the journal.
type PastOptions struct {
	Screen
	Meta    state.Meta         // of the state whose journal it is
	Alive   bool               // the run goes on right now
	Now     map[string]PastNow // the present status of each exception, by ref_id
	Names   map[string]string  // of profiles, by profile_id
	ShowAll bool               // list every transfer, however many there are
	Command string             // shows the run, and every transfer with another face: "remit show --run=…"
}

// PastNow is the present status of a transfer of a past run.
type PastNow struct {
	Status       state.Status
	RecordStatus transfer.RecordStatus
	Next         string // the command to type; "" where there is nothing to do
}

// Past writes a run of the journal for a person: the environment, whose run it was and how it
// ended, the count and the sums of each result, then each exception with its reason and what
// to type now, and each transfer with its result. Of more than 200 transfers it writes the
// exceptions, at most 20 of each result, and how to see the rest, unless o.ShowAll. It returns
// only errors of w.
func Past(w io.Writer, past *executor.PastRun, o PastOptions) error {
	r := newPastRun(past, o)
	p := newPage(w, o.Screen)
	r.writeHead(p)
	p.line()
	r.writeOutcomes(p)
	r.writeExceptions(p)
	r.writeTransfers(p)
	return p.Flush()
}

// pastRun is what every face says of a past run.
type pastRun struct {
	*executor.PastRun
	PastOptions
	rows []pastRow
}

// pastRow is the count and the sums of one result.
type pastRow struct {
	result   executor.Result
	count    int
	totals   *transfer.Totals // of those that the journal names; nil for none
	unlisted int              // of the count, those of which the journal has the number alone: the run wrote nothing of them
}

func newPastRun(past *executor.PastRun, o PastOptions) *pastRun {
	r := &pastRun{PastRun: past, PastOptions: o}
	totals := past.Summary().Totals
	for _, result := range executor.Results() {
		row := pastRow{result: result, totals: totals[result]}
		if row.totals != nil {
			row.count = row.totals.Count()
		}
		if ended := past.Run.Ended; isLeft(result) && ended != nil {
			row.unlisted = max(0, ended.Outcomes[string(result)]-row.count)
			row.count += row.unlisted
		}
		r.rows = append(r.rows, row)
	}
	return r
}

// isLeft reports whether a run may have transfers of a result of which it wrote nothing: it left them as they were.
func isLeft(result executor.Result) bool {
	return result == executor.ResultNotAttempted || result == executor.ResultInDoubt
}

// isSandbox reports whether the run moved no money.
func (r *pastRun) isSandbox() bool { return r.Meta.Service.IsSandbox() }

// title is the run in numbers: of the results that occurred.
func (r *pastRun) title() string {
	var parts []string
	for _, row := range r.rows {
		if row.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", row.count, resultWord(row.result)))
		}
	}
	if len(parts) == 0 {
		return "Run: nothing attempted"
	}
	return "Run: " + strings.Join(parts, ", ")
}

// ending says how the run ended.
func (r *pastRun) ending() span {
	name := "Run " + r.Run.Begun.RunID
	switch {
	case r.Run.Ended != nil:
		doubts := r.Run.Ended.Outcomes[string(executor.ResultInDoubt)]
		s := r.Summary()
		if doubts == 0 || s.Stopped != "" {
			return ending(s)
		}
		return span{fmt.Sprintf("%s ended: %s in doubt.", name, english.Plural(doubts, "transfer")), toneDoubt}
	case r.Alive:
		return span{name + " goes on right now: this is what it wrote so far.", toneDoubt}
	}
	return span{name + " did not end: its process died, or could not write the journal any more. What it had in flight was in doubt.", toneDoubt}
}

// about is whose run it was, under which plan, and when.
func (r *pastRun) about() []field {
	b := r.Run.Begun
	ended := momentOr(r.Run.EndedAt)
	if r.Run.Ended == nil {
		ended = "did not end"
		if r.Alive {
			ended = "not yet"
		}
	}
	author := b.Author
	signs := func(a state.Approval) bool { return a.Role == state.RoleAuthor }
	if i := slices.IndexFunc(b.Approvals, signs); i >= 0 {
		author = signedAuthor(b.Approvals[i].Principal, author)
	} else if author != "" {
		author += " (self-declared)"
	}
	fields := []field{
		{"run", b.RunID},
		{"begun", momentOr(r.Run.BegunAt)},
		{"ended", ended},
		{"by", b.By.User + "@" + b.By.Host},
		{"command", b.By.Command},
		{"plan", b.PlanID},
		{"digest", b.Digest},
		{"author", author},
		{"hash total", madeHash(r.Summary())},
	}
	for _, a := range b.Approvals {
		name := "approved by"
		if a.Role == state.RoleAuthor {
			name = "signed by"
		}
		fields = append(fields, field{name, fmt.Sprintf("%s, %s, %s", a.Principal, a.Fingerprint, a.File)})
	}
	if r.Run.Ended != nil {
		for _, runner := range r.Run.Ended.Runners {
			fields = append(fields, field{fmt.Sprintf("runner %d", runner.Number), runnerText(runner)})
		}
	}
	return fields
}

// signedAuthor is the person whose signature a plan has as that of its author, and what the plan calls them.
func signedAuthor(person, called string) string {
	if called == "" || called == person {
		return person + " (signed)"
	}
	return fmt.Sprintf("%s (signed; the plan calls its author %s)", person, called)
}

// signedBy are the people of one role, in words.
func signedBy(approvals []state.Approval, role state.ApprovalRole) string {
	var names []string
	for _, a := range approvals {
		if a.Role == role {
			names = append(names, a.Principal)
		}
	}
	return strings.Join(names, ", ")
}

// runAuthor names the author of a run's plan: the signer, where a signature as the author counted.
func runAuthor(b *state.Begun) string {
	if signer := signedBy(b.Approvals, state.RoleAuthor); signer != "" {
		return signer + " (signed)"
	}
	return b.Author
}

// unlistedText says what the journal does not have; "" where it has all.
func (r *pastRun) unlistedText() string {
	var texts []string
	for _, row := range r.rows {
		if row.unlisted == 0 {
			continue
		}
		did, they := "did not attempt", "they are"
		if row.result == executor.ResultInDoubt {
			did = "left in doubt as it was"
			if row.unlisted > 1 {
				did = "left in doubt as they were"
			}
		}
		if row.unlisted == 1 {
			they = "it is"
		}
		texts = append(texts, fmt.Sprintf("Of %s that the run %s, the journal has only the number: %s not included in the sum.", english.Plural(row.unlisted, "transfer"), did, they))
	}
	return strings.Join(texts, " ")
}

// exceptions are all that was neither recorded nor adopted, of one result each.
func (r *pastRun) exceptions() map[executor.Result][]executor.Event {
	byResult := make(map[executor.Result][]executor.Event)
	for i := range r.Lines {
		if l := &r.Lines[i]; isException(l.Result) {
			byResult[l.Result] = append(byResult[l.Result], r.exception(l))
		}
	}
	return byResult
}

// exception is what a person has to know of a transfer: why, its status since, and the command to
// type now.
func (r *pastRun) exception(l *executor.PastLine) executor.Event {
	e := executor.Event{
		Time: l.At, Type: executor.EventSettled, RefID: l.RefID, Group: l.GroupID, Result: l.Result,
		Reason: l.Reason, Amount: l.Request.Amount, Asset: l.Request.Asset,
	}
	now, ok := r.Now[l.RefID]
	if !ok {
		return e
	}
	e.Next = now.Next
	if word := now.word(); word != l.Result {
		e.Reason = strings.TrimPrefix(strings.TrimSuffix(e.Reason, ".")+". Now: "+resultWord(word)+".", ". ")
	}
	return e
}

// word is the status in the word of a result, where it is one of theirs.
func (n PastNow) word() executor.Result {
	switch n.Status {
	case state.Unsent:
		return executor.ResultNotAttempted
	case state.Recorded, state.Adopted, state.Unverified:
		if n.RecordStatus == transfer.Failed {
			return executor.ResultFailed
		}
	case state.InDoubt, state.Refused, state.Conflict, state.Tombstone:
	}
	return executor.Result(strings.ReplaceAll(n.Status.String(), " ", "_"))
}

// isLarge reports whether there are too many transfers for a line each.
func (r *pastRun) isLarge() bool { return len(r.Lines) > linesMax && !r.ShowAll }

// first are the requests of the first few transfers.
func (r *pastRun) first(most int) []planner.Change {
	changes := make([]planner.Change, 0, min(most, len(r.Lines)))
	for i := range r.Lines[:cap(changes)] {
		changes = append(changes, planner.Change{Request: r.Lines[i].Request, Place: r.Lines[i].Place})
	}
	return changes
}

func (r *pastRun) writeHead(p *page) {
	p.environmentLine(r.isSandbox(), r.Meta.Environment, r.Meta.Service)
	p.line()
	said := r.ending()
	p.paragraph("", Visible(said.text), said.tone)
	p.line()
	p.fields(r.about())
	p.accepted(r.Run.Begun.Accepted, r.isLarge())
}

// writeOutcomes writes every result, also those that did not occur.
func (r *pastRun) writeOutcomes(p *page) {
	var rows []totalsRow
	width := 0
	for _, row := range r.rows {
		width = max(width, len(fmt.Sprint(row.count)))
		if row.unlisted > 0 {
			continue
		}
		label := span{pad(resultWord(row.result), resultWidth), resultTone(row.result)}
		rows = append(rows, totalsRow{[]span{label}, row.totals})
	}
	p.totalsTable(rows, 0)
	for _, row := range r.rows {
		if row.unlisted > 0 {
			p.line(span{"  " + pad(resultWord(row.result), resultWidth) + "  ", resultTone(row.result)}, strong(fmt.Sprintf("%*d", width, row.count)), plain("  "+p.sums(row.totals)))
		}
	}
	if text := r.unlistedText(); text != "" {
		p.paragraph("  ", text, toneDim)
	}
}

func (r *pastRun) writeExceptions(p *page) {
	byResult := r.exceptions()
	for i := range r.Lines {
		l := &r.Lines[i]
		if l.Result == executor.ResultAdopted && executor.IsByOldRecord(&state.Outcome{Status: state.Adopted, Reason: l.Reason}) {
			byResult[l.Result] = append(byResult[l.Result], r.exception(l))
		}
	}
	for _, result := range executor.Results() {
		events := byResult[result]
		if len(events) == 0 {
			continue
		}
		most := len(events)
		if r.isLarge() {
			most = exceptionsMax
		}
		p.line()
		p.exceptionsOf(result, events, len(events), most)
		if more := len(events) - most; more > 0 {
			p.line(dim(fmt.Sprintf("  and %d more", more)))
		}
	}
}

func (r *pastRun) writeTransfers(p *page) {
	if len(r.Lines) == 0 {
		return
	}
	p.line()
	if r.isLarge() {
		p.line(plain(fmt.Sprintf("Transfers: %d. To see every one:", len(r.Lines))))
		for _, face := range []string{"--show=all", "--csv", "--html"} {
			p.command("", r.Command+" "+face)
		}
		return
	}
	p.line(strong("Transfers"))
	l := newPastLayout(r, len(r.Lines), p.width())
	for i := range r.Lines {
		l.write(p, &r.Lines[i])
	}
}

// pastLayout is how the lines of a run's transfers are arranged.
type pastLayout struct {
	shape      shape
	names      map[string]string
	ref, asset int
	amount     point
	group      bool // the first line has group_ids
	room       int  // of a line
}

// newPastLayout measures the first few transfers. The first columns to give up where room is short:
// names, then the ends of IDs.
func newPastLayout(r *pastRun, most, room int) pastLayout {
	changes := r.first(most)
	l := pastLayout{room: room}
	group := 0
	for i := range changes {
		c, line := &changes[i], &r.Lines[i]
		l.ref = max(l.ref, displayWidth(line.RefID))
		l.amount.fit(r.amount(c.Request.Amount, c.Request.Asset))
		l.asset = max(l.asset, displayWidth(c.Request.Asset))
		group = max(group, displayWidth(groupText(line)))
	}
	beside := 2 + resultWidth + 2 + 2 + l.amount.width() + 1 + l.asset
	l.ref = min(l.ref, max(20, room-beside))
	l.group = beside+l.ref+2+group <= room
	for _, try := range []pastLayout{{shape: shapeEnds, names: r.Names}, {shape: shapeEnds}, {shape: shapeHead}} {
		l.shape, l.names = shapeFor(changes, try.shape), try.names
		wide := 0
		for i := range changes {
			wide = max(wide, displayWidth(l.parties(changes[i].Request)))
		}
		if 4+wide+2+placeWidthMin <= room {
			break
		}
	}
	return l
}

func (l *pastLayout) parties(r transfer.Request) string {
	if r.FromProfileID == "" && r.ToProfileID == "" {
		return "" // the journal has no request
	}
	return sender(r).show(l.shape, l.names) + " -> " + destination(r).show(l.shape, l.names)
}

// groupText is the service's ID of both sides, and its status where that is not the usual one.
func groupText(l *executor.PastLine) string {
	var parts []string
	if l.RecordStatus != transfer.Completed {
		parts = append(parts, string(l.RecordStatus))
	}
	if l.GroupID != "" {
		parts = append(parts, "group_id "+l.GroupID)
	}
	return strings.Join(trimEmpty(parts), "  ")
}

// write writes a transfer in two lines, or three where its group_id has no room in the
// first.
func (l *pastLayout) write(p *page, line *executor.PastLine) {
	spans := []span{
		{"  " + pad(resultWord(line.Result), resultWidth) + "  ", resultTone(line.Result)},
		plain(pad(cutMiddle(Visible(line.RefID), l.ref), l.ref)),
		plain("  " + l.amount.align(p.amount(line.Request.Amount, line.Request.Asset)) + " " + pad(line.Request.Asset, l.asset)),
	}
	group := groupText(line)
	if l.group {
		spans = append(spans, dim("  "+group))
		group = ""
	}
	p.line(spans...)
	parties := l.parties(line.Request)
	place := cutStart(Visible(line.Place), max(placeWidthMin, l.room-4-displayWidth(parties)-2))
	if parties != "" || place != "" {
		p.line(plain("    "+parties), dim("  "+place))
	}
	if group != "" {
		p.line(dim("    " + group))
	}
}
