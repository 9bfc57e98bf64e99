package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// listMeasured is how many rows of a state are read ahead to align its columns.
const listMeasured = 1000

// StateListOptions say how to list transfers of a state.
type StateListOptions struct {
	Screen
	Filtered bool // some may have been left out
	Beside   bool // the directory has a sandbox with a state of its own
	// Names are the display names by the number of the intent with which they came.
	Names map[int64]string
	// Accepted is what people accepted of the rows that were yielded so far, by ref_id: see [state.WithAccepted].
	Accepted map[string][]transfer.Difference
}

// StateList writes a row for each transfer, in the order in which they come: ref_id, status,
// the service's status, amount, asset and group_id, the display name where the state has any, and the fields in which a person accepted
// another record than was asked for. Columns are aligned by the first 1,000
// rows; the rest streams. An error that rows yield ends the list and is returned.
func StateList(w io.Writer, rows iter.Seq2[state.Transfer, error], o StateListOptions) error {
	p := newPage(w, o.Screen)
	l := stateLayout{ref: len("ref_id"), asset: len("asset"), names: o.Names, accepted: o.Accepted}
	l.amount.whole = len("amount")
	var ahead []state.Transfer
	began := false
	begin := func() {
		began = true
		l.fit(o.Screen)
		amount := fmt.Sprintf("%*s", l.amount.width(), "amount")
		l.writeRow(p, toneDim, "ref_id", "status", "service", amount, "asset", l.behind("group_id", "display name"))
		for i := range ahead {
			l.writeTransfer(p, &ahead[i])
		}
		ahead = nil
	}
	for t, err := range rows {
		if err != nil {
			_ = p.Flush()
			return err
		}
		if began {
			l.writeTransfer(p, &t)
			continue
		}
		l.measure(p, &t)
		if ahead = append(ahead, t); len(ahead) == listMeasured {
			begin()
		}
	}
	switch {
	case began:
	case len(ahead) == 0 && o.Filtered:
		p.line(plain("The state records no such transfer."))
	case len(ahead) == 0 && o.Beside:
		p.line(plain("The state records no transfer. --sandbox shows the state of the sandbox."))
	case len(ahead) == 0:
		p.line(plain("The state records no transfer."))
	default:
		begin()
	}
	return p.Flush()
}

type stateLayout struct {
	ref, asset int
	amount     point
	names      map[int64]string
	accepted   map[string][]transfer.Difference
	note       int  // the width of the widest note
	name       int  // the width of the widest name
	isShort    bool // a group_id shows its beginning and its end
	room       int  // where positive, names take the place of group_ids, and this is how wide they may be
}

// behind is the last column: a group_id and, where the state has names, one of them.
func (l *stateLayout) behind(group, name string) string {
	if l.room > 0 {
		return cutEnd(Visible(name), l.room)
	}
	width := groupWidth
	if l.isShort {
		width, group = groupWidthShort, shapeEnds.show(group)
	}
	if len(l.names) == 0 {
		return Visible(group)
	}
	return pad(Visible(group), width) + "  " + Visible(name)
}

// groupWidth is that of a UUID, and groupWidthShort that of one of which the middle is left out.
const (
	groupWidth      = 36
	groupWidthShort = 13
)

func (l *stateLayout) measure(p *page, t *state.Transfer) {
	l.ref = max(l.ref, displayWidth(t.RefID))
	l.asset = max(l.asset, displayWidth(t.Asset))
	l.name = max(l.name, displayWidth(Visible(l.names[t.IntentSeq])))
	l.amount.fit(p.amount(t.Amount, t.Asset))
	l.note = max(l.note, displayWidth(l.noteOf(t)))
}

// noteOf stands behind a row of which a person accepted a record that is not what the row says; "" behind any other.
func (l *stateLayout) noteOf(t *state.Transfer) string {
	differences := l.accepted[t.RefID]
	if len(differences) == 0 {
		return ""
	}
	fields := make([]string, len(differences))
	for i, d := range differences {
		if d.IsSeveral() {
			return "  accepted: the service has " + Visible(d.Answered)
		}
		fields[i] = Visible(d.Field)
	}
	return "  accepted: another " + strings.Join(fields, ", ")
}

const (
	statusWidth  = len("unverified")
	serviceWidth = len(transfer.Completed)
)

func (l *stateLayout) writeTransfer(p *page, t *state.Transfer) {
	tone, note := statusTone(t.Status), l.noteOf(t)
	if note != "" {
		tone = toneDoubt
	}
	l.writeRow(p, tone, t.RefID, t.Status.String(), string(t.RecordStatus),
		l.amount.align(p.amount(t.Amount, t.Asset)), t.Asset, l.behind(t.GroupID, l.names[t.IntentSeq])+note)
}

func (l *stateLayout) writeRow(p *page, t tone, ref, status, service, amount, asset, behind string) {
	refTone := toneNone
	if t == toneDim {
		refTone = toneDim
	}
	p.line(
		span{pad(ref, l.ref), refTone},
		span{"  " + pad(status, statusWidth), t},
		span{"  " + pad(service, serviceWidth), refTone},
		span{"  " + amount + " " + pad(asset, l.asset), refTone},
		dim("  "+behind),
	)
}

// fit makes room for the last column on a terminal that is too narrow for all of a group_id, which state show
// has whole: a row that a terminal breaks is broken within words.
func (l *stateLayout) fit(s Screen) {
	const between = len("  ")
	before := l.ref + between + statusWidth + between + serviceWidth + between + l.amount.width() + 1 + max(l.asset, len("asset")) + between + l.note
	name := 0
	if len(l.names) > 0 {
		name = between + max(l.name, len("display name"))
	}
	l.isShort = s.Terminal && before+groupWidth+name > s.width()
	if l.isShort && name > 0 && before+groupWidthShort+name > s.width() {
		l.room = max(s.width()-before, len("display name")) // people know names, and state show has the group_id
	}
}

func statusTone(s state.Status) tone {
	switch s {
	case state.InDoubt, state.Unverified:
		return toneDoubt
	case state.Conflict, state.Refused:
		return toneBad
	case state.Recorded, state.Adopted:
		return toneGood
	case state.Unsent, state.Tombstone:
	}
	return toneNone
}

// StateShowOptions say how to show one transfer of a state.
type StateShowOptions struct {
	Screen
	Doubt string // the facts of a doubt, and the way to end it, in sentences; "" where nothing is in doubt
	Next  string // the command to type about it
}

// StateShow writes all that the state knows of one transfer. It returns only errors of w.
func StateShow(w io.Writer, d state.Detail, o StateShowOptions) error {
	p := newPage(w, o.Screen)
	p.line(plain("Transfer "), strong(d.RefID))
	status := d.Status.String()
	if d.Doubted {
		status += ", after an attempt that is in doubt"
	}
	p.fields([]field{
		{"status", status},
		{"accepted", p.acceptedText(&d)},
		{"service status", string(d.RecordStatus)},
		{"amount", p.amount(d.Amount, d.Asset) + " " + d.Asset},
		{"group_id", d.GroupID},
		{"record id", d.RecordID},
		{"intended", momentOr(d.IntendedAt)},
		{"attempted", momentOr(d.AttemptedAt)},
		{"settled", momentOr(d.SettledAt)},
		{"run", d.RunID},
		{"display name", d.Intent.DisplayName},
		{"batch", d.Intent.Batch},
		{"address", d.Intent.Address},
		{"declared at", d.Intent.Place},
		{"fingerprint", fingerprint(&d.Transfer)},
	})
	if o.Doubt != "" {
		p.line()
		p.paragraph("  ", Visible(o.Doubt), toneDoubt)
		p.command("  ", p.here(o.Next))
	}
	if d.Intent.Body != "" {
		p.line()
		p.line(strong("Recorded request"), plain(": POST "+d.Intent.Path))
		p.whole(d.Intent.Body)
	}
	if d.Outcome != nil {
		p.outcome(d.Outcome, d.Asset)
	}
	return p.Flush()
}

// acceptedText says in which fields a person accepted another record than was asked for; "" for none.
func (s Screen) acceptedText(d *state.Detail) string {
	var parts []string
	for _, difference := range transfer.Told(d.Accepted()) {
		if difference.IsSeveral() {
			parts = append(parts, "the service has "+difference.Answered+" under this ref_id, where "+difference.Asked+" was asked")
			continue
		}
		answered := cmp.Or(s.valueOf(difference.Field, difference.Answered, d.Asset), "nothing")
		part := difference.Field + " " + answered
		switch asked := s.valueOf(difference.Field, difference.Asked, d.Asset); {
		case difference.Answered == "" && asked == "":
			part = difference.Field + " not proven"
		case asked == "":
			part += " where nothing was asked"
		default:
			part += " where " + asked + " was asked"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

type field struct{ name, value string }

// fields writes names and values, without those that have none.
func (p *page) fields(fields []field) {
	var rows [][]span
	widest := 0
	for _, f := range fields {
		if f.value != "" {
			widest = max(widest, displayWidth(f.name))
		}
	}
	room := p.width() - widest - len("    ")
	for _, f := range fields {
		name := f.name
		for _, line := range p.valueLines(f.value, room) {
			rows = append(rows, []span{dim(name), plain(line)})
			name = ""
		}
	}
	p.table("  ", rows)
}

// valueLines are the lines of a value in a room of columns; none of an empty one. Only a terminal breaks lines.
func (p *page) valueLines(value string, room int) []string {
	switch {
	case value == "":
		return nil
	case !p.Terminal:
		return []string{value}
	}
	return Wrap(value, room)
}

// fingerprint is that of the request, "" for a transfer that was imported without one.
func fingerprint(t *state.Transfer) string {
	if t.Fingerprint == (transfer.Fingerprint{}) {
		return ""
	}
	return t.Fingerprint.String()
}

// whole writes text to its last byte, broken where the screen ends.
func (p *page) whole(text string) {
	for _, part := range chop(Visible(text), p.width()-2) {
		p.line(plain("  " + part))
	}
}

func (p *page) outcome(o *state.Outcome, asset string) {
	p.line()
	p.line(strong("Latest outcome"), plain(": "+o.Status.String()+", by "+string(o.Source)))
	status := ""
	if o.HTTPStatus != 0 {
		status = fmt.Sprint(o.HTTPStatus)
	}
	person := ""
	if o.By != nil {
		person = o.By.User + " on " + o.By.Host
	}
	p.fields([]field{{"reason", o.Reason}, {"person", person}, {"http status", status}})
	for _, d := range o.Differences {
		p.table("    ", [][]span{
			{plain(d.Field), dim("asked"), value(p.valueOf(d.Field, d.Asked, asset))},
			{plain(""), dim("answered"), value(p.valueOf(d.Field, d.Answered, asset))},
		})
	}
	if len(o.Problem) > 0 {
		p.line(dim("  problem"))
		p.whole(string(o.Problem))
	}
	if l := o.Listed; l != nil {
		p.line()
		p.line(strong("In place of a record"), plain(": what a list says"))
		p.fields([]field{{"group_id", l.GroupID}, {"amount", strings.TrimSpace(p.Scales.Shown(l.Amount, l.Asset) + " " + l.Asset)}})
	}
	for _, record := range o.Records {
		p.record(record)
	}
}

// record writes a transfer record of the service, a field a line as far as it is an object.
func (p *page) record(raw json.RawMessage) {
	p.line()
	p.line(strong("Transfer record"))
	rec, err := transfer.ParseRecord(raw)
	if err != nil {
		p.whole(string(raw))
		return
	}
	p.fields([]field{
		{"id", rec.ID},
		{"group_id", rec.GroupID},
		{"status", string(rec.Status)},
		{"direction", string(rec.Direction)},
		{"type", string(rec.Type)},
		{"profile_id", rec.ProfileID},
		{"amount", p.Scales.Shown(rec.Amount, rec.Asset) + " " + rec.Asset},
		{"total", p.Scales.Shown(rec.Total, rec.Asset)},
		{"fee", p.Scales.Shown(rec.Fee, rec.Asset)},
		{"created_at", momentOr(rec.CreatedAt)},
		{"updated_at", momentOr(rec.UpdatedAt)},
	})
	p.whole(string(raw))
}

func momentOr(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return moment(t)
}
