package view

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"remit/internal/accounts/reconcile"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/state"
)

// reconciledShown is how many transfers of a heading the terminal lists, unless all are asked for.
const reconciledShown = 20

// ReconciliationOptions say how to show the result of a reconciliation.
type ReconciliationOptions struct {
	Screen
	Meta    state.Meta
	Files   []ReconciledFile // in the order in which they were given; none where the service was asked
	ShowAll bool             // list every line that the summary has
	Command string           // that was typed, for other faces of it
}

// ReconciledFile is an export that was read.
type ReconciledFile struct {
	Name    string `json:"name"`
	Records int    `json:"records"`
}

// breakTitle is the heading under which transfers with a break are listed.
func breakTitle(b reconcile.Break) string {
	switch b {
	case reconcile.Several:
		return "More than one transfer under one ref_id"
	case reconcile.NotMade:
		return "Made at the service, and not made in the state"
	case reconcile.Conflict:
		return "In conflict in the state"
	case reconcile.Amount:
		return "Another amount"
	case reconcile.Asset:
		return "Another asset"
	case reconcile.Customer:
		return "A record of another customer"
	case reconcile.Field:
		return "Another field"
	case reconcile.SameID:
		return "One id for both sides"
	case reconcile.Unbalanced:
		return "Debit without an equal credit"
	case reconcile.OneSide:
		return "One side missing"
	case reconcile.ServiceOnly:
		return "Only at the service"
	case reconcile.StateOnly:
		return "Only in the state"
	case reconcile.Status:
		return "Another status of the service"
	case reconcile.Created:
		return "Another time of creation"
	case reconcile.InDoubt:
		return "In doubt in the state"
	case reconcile.Unverified:
		return "Unverified in the state"
	case reconcile.SharedGroup:
		return "One group_id for several ref_ids"
	case reconcile.Duplicate:
		return "A record more than once"
	case reconcile.Unreadable:
		return "An answer that can't be read"
	}
	return string(b)
}

// Reconciliation writes the result of one for a person: the verdict, the compared files, the totals
// per asset, and each transfer that does not match under its gravest break. It returns only errors
// of w.
func Reconciliation(w io.Writer, s *reconcile.Summary, o ReconciliationOptions) error {
	p := newPage(w, o.Screen)
	p.environmentLine(o.Meta.Service.IsSandbox(), o.Meta.Environment, o.Meta.Service)
	p.line()
	said := reconciledVerdict(s)
	p.paragraph("", said.text, said.tone)
	p.line()
	p.fields(reconciledAbout(s, o))
	for _, note := range reconciledNotes(s, statusWord) {
		p.paragraph("  ", note, toneDoubt)
	}
	p.line()
	p.reconciledTotals(s)
	p.reconciledBreaks(s, o)
	return p.Flush()
}

// reconciledVerdict is the reconciliation in a sentence.
func reconciledVerdict(s *reconcile.Summary) span {
	switch {
	case s.Transfers() == 0:
		return span{"Nothing was compared: neither the state nor the service has a transfer here.", toneDoubt}
	case s.Contradicts():
		return span{"No transfer differs by itself, but the sum of the debits is not that of the state: action needed.", toneBad}
	case !s.Agrees():
		verb := "do"
		if s.Differ == 1 {
			verb = "does"
		}
		text := fmt.Sprintf("%d of %s %s not match: action needed.", s.Differ, english.Plural(s.Transfers(), "transfer"), verb)
		if s.Records == 0 {
			text = "The service has no record here. " + text
		}
		return span{text, toneBad}
	case s.Accepted > 0 && s.Transfers() == 1:
		return span{"The one transfer matches, accepted by hand.", toneGood}
	case s.Accepted > 0:
		return span{fmt.Sprintf("All %d transfers match, %d of them accepted by hand.", s.Transfers(), s.Accepted), toneGood}
	}
	if s.Transfers() == 1 {
		return span{"The one transfer matches.", toneGood}
	}
	return span{fmt.Sprintf("All %d transfers match.", s.Transfers()), toneGood}
}

// reconciledAbout names the compared files.
func reconciledAbout(s *reconcile.Summary, o ReconciliationOptions) []field {
	var names []string
	for _, file := range o.Files {
		names = append(names, fmt.Sprintf("%s (%s)", file.Name, english.Plural(file.Records, "record")))
	}
	fields := []field{{"export", some(names, 0)}, {"records", fmt.Sprint(s.Records)}}
	if s.LookedUp {
		fields[0] = field{"looked up", "by the ref_ids of the state"}
	}
	if s.Records > 0 {
		fields[1].value += fmt.Sprintf(", created from %s to %s", moment(s.First), moment(s.Last))
	}
	if !s.From.IsZero() {
		fields = append(fields, field{"from", moment(s.From)})
	}
	if !s.Until.IsZero() {
		fields = append(fields, field{"until", moment(s.Until) + ", which is not in it"})
	}
	fields = append(fields, field{"batch", s.Batch})
	left := func(name string, count int) {
		if count > 0 {
			fields = append(fields, field{name, fmt.Sprint(count)})
		}
	}
	left("left out: outside of the period", s.OutOfPeriod)
	left("left out: not of the batch", s.OtherBatch)
	left("not made, and not at the service", s.NotMade)
	for _, kind := range otherTypes(s) {
		left("left out: "+string(kind), s.OtherTypes[kind])
	}
	return fields
}

// otherTypes are the types of records that were counted and not judged.
func otherTypes(s *reconcile.Summary) []transfer.RecordType {
	var kinds []transfer.RecordType
	for kind := range s.OtherTypes {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// reconciledNotes say what a reader has to know to take the verdict for what it is. word writes a status of the service.
func reconciledNotes(s *reconcile.Summary, word func(transfer.RecordStatus) string) []string {
	var notes []string
	if s.LookedUp {
		notes = append(notes, "Only ref_ids of the state were asked for: what the service has beside them is not found this way. An export shows it.")
	}
	if s.DebitsOnly {
		notes = append(notes, "Credit sides were not expected (--debits-only), so nothing proves whom the debits paid.")
	}
	if s.Pending > 0 {
		notes = append(notes, fmt.Sprintf("PENDING, which the service has not finished yet: %d of those that match.", s.Pending))
	}
	for _, status := range slices.Sorted(maps.Keys(s.Unknown)) {
		notes = append(notes, fmt.Sprintf("%s: %d of those that match. remit does not know this status: ask the service's operator.", word(status), s.Unknown[status]))
	}
	if s.Contradicts() {
		notes = append(notes, "The sums say that some transfer is taken for a match that it is not. Compare each one by hand (--show=all), and tell the authors of remit.")
	}
	if s.Outside > 0 {
		notes = append(notes, fmt.Sprintf("%d of those that only the state has are older than the first record or newer than the last. "+
			"Where the export covers a part of the time, say which: --from and --until.", s.Outside))
	}
	return notes
}

// reconciledTotals writes a line for each asset, and one for each result.
func (p *page) reconciledTotals(s *reconcile.Summary) {
	rows := [][]span{{dim("asset"), dim("state"), dim(""), dim("debits"), dim(""), dim("credits"), dim(""), dim("debits - state")}}
	for _, a := range s.Assets {
		tone := toneNone
		if !a.Difference().IsZero() {
			tone = toneBad
		}
		rows = append(rows, []span{
			plain(a.Asset), dim(fmt.Sprint(a.State.Count)), plain(p.money(a.State.Sum, a.Asset)), dim(fmt.Sprint(a.Debits.Count)), plain(p.money(a.Debits.Sum, a.Asset)),
			dim(fmt.Sprint(a.Credits.Count)), plain(p.money(a.Credits.Sum, a.Asset)),
			{p.money(a.Difference(), a.Asset), tone},
		})
	}
	switch {
	case len(s.Assets) == 0:
	case p.Terminal && tableWidth(rows)+len("  ") > p.width():
		p.reconciledSides(s)
		p.line()
	default:
		p.table("  ", rows, 1, 2, 3, 4, 5, 6, 7)
		p.line()
	}
	p.table("  ", [][]span{
		{{"matched", toneGood}, plain(fmt.Sprint(s.Matched))},
		{plain("accepted by hand"), plain(fmt.Sprint(s.Accepted))},
		{{"not matched", toneBad}, plain(fmt.Sprint(s.Differ))},
	}, 1)
}

// reconciledSides writes a line for each side of an asset, for a screen that is too narrow for all of them in one.
func (p *page) reconciledSides(s *reconcile.Summary) {
	var rows [][]span
	for _, a := range s.Assets {
		tone := toneNone
		if !a.Difference().IsZero() {
			tone = toneBad
		}
		rows = append(rows,
			[]span{plain(a.Asset), dim("state"), dim(fmt.Sprint(a.State.Count)), plain(p.money(a.State.Sum, a.Asset))},
			[]span{plain(""), dim("debits"), dim(fmt.Sprint(a.Debits.Count)), plain(p.money(a.Debits.Sum, a.Asset))},
			[]span{plain(""), dim("credits"), dim(fmt.Sprint(a.Credits.Count)), plain(p.money(a.Credits.Sum, a.Asset))},
			[]span{plain(""), dim("debits - state"), dim(""), {p.money(a.Difference(), a.Asset), tone}},
		)
	}
	p.table("  ", rows, 2, 3)
}

// reconciledList is one heading and its transfers.
type reconciledList struct {
	title string
	count int
	lines []reconcile.Item
	tone  tone
}

// reconciledLists are the headings that have transfers, in the order of their weight.
func reconciledLists(s *reconcile.Summary) []reconciledList {
	var lists []reconciledList
	for _, b := range reconcile.Breaks() {
		if s.Gravest[b] > 0 {
			lists = append(lists, reconciledList{breakTitle(b), s.Gravest[b], s.Lists[b], toneBad})
		}
	}
	if s.Accepted > 0 {
		lists = append(lists, reconciledList{"Accepted by hand", s.Accepted, s.AcceptedLines, toneStrong})
	}
	if len(s.MatchedLines) > 0 {
		lists = append(lists, reconciledList{"Matched", s.Matched, s.MatchedLines, toneGood})
	}
	return lists
}

func (p *page) reconciledBreaks(s *reconcile.Summary, o ReconciliationOptions) {
	isCut := false
	for _, list := range reconciledLists(s) {
		p.line()
		p.paragraph("", fmt.Sprintf("%s: %d", list.title, list.count), list.tone)
		if more := list.write(p, o.ShowAll); more > 0 {
			p.line(dim(fmt.Sprintf("  and %d more", more)))
			isCut = true
		}
	}
	if isCut && o.Command != "" {
		p.line()
		p.line(plain("To see every one:"))
		for _, face := range []string{"--show=all", "--csv"} {
			p.command("", o.Command+" "+face)
		}
	}
}

// write writes the first transfers, or all that the list holds, and counts the others.
func (l reconciledList) write(p *page, isAll bool) (more int) {
	shown := l.lines
	if !isAll {
		shown = shown[:min(len(shown), reconciledShown)]
	}
	for i := range shown {
		p.reconciledLine(&shown[i])
	}
	return l.count - len(shown)
}

// reconciledLine writes a transfer, and below it its breaks.
func (p *page) reconciledLine(l *reconcile.Item) {
	name := l.RefID
	if name == "" {
		name = "(no ref_id) group_id " + l.GroupID
	}
	p.line(plain("  "+name), plain("  "+p.Scales.Shown(l.Amount, l.Asset)+" "+l.Asset))
	for _, fact := range reconciledFacts(l, p.Scales.Shown) {
		p.paragraph("      ", Visible(fact), toneNone)
	}
	if l.Next != "" {
		p.command("  ", p.here(l.Next))
	}
}

// shownNumber writes a number of an asset, for a person or for a program.
type shownNumber func(number, asset string) string

func plainNumber(number, _ string) string { return number }

// reconciledFacts describe the breaks of a transfer, a sentence each.
func reconciledFacts(l *reconcile.Item, show shownNumber) []string {
	var facts []string
	add := func(format string, args ...any) {
		facts = append(facts, strings.TrimSpace(fmt.Sprintf(format, args...))) // a space at its start would make it a command
	}
	for _, d := range reconciledDifferences(l, show) {
		add("%s", d)
	}
	if l.Has(reconcile.SameID) {
		add("The debit and the credit have one id: %s.", l.Debit.ID)
	}
	if l.Has(reconcile.Unbalanced) {
		add("The debit is %s %s, the credit %s %s.", show(l.Debit.Amount, l.Debit.Asset), l.Debit.Asset, show(l.Credit.Amount, l.Credit.Asset), l.Credit.Asset)
	}
	if l.Has(reconcile.OneSide) {
		missing, there := "debit", l.Credit
		if l.Debit != nil {
			missing, there = "credit", l.Debit
		}
		add("The %s is missing. There is: %s.", missing, sideText(there, show))
	}
	if l.Has(reconcile.StateOnly) && l.State != nil {
		add("%s", stateText(l))
	}
	if l.Has(reconcile.ServiceOnly) {
		for _, side := range []*reconcile.Side{l.Debit, l.Credit} {
			if side != nil {
				add("%s.", sideText(side, show))
			}
		}
	}
	for i := range l.More {
		add("Also there: %s.", sideText(&l.More[i], show))
	}
	if l.Reason != "" {
		add("%s", strings.TrimSuffix(l.Reason, ".")+".")
	}
	if len(l.Breaks) > 1 {
		add("As well: %s.", breakTexts(l.Breaks[1:]))
	}
	return facts
}

// stateText is what the state has of a transfer, as a sentence.
func stateText(l *reconcile.Item) string {
	text := "The state has it as " + l.State.Status.String()
	if l.State.RecordStatus != "" {
		text += ", " + string(l.State.RecordStatus)
	}
	if l.State.RecordID != "" {
		text += ", id " + l.State.RecordID
	}
	if l.Stored.IsZero() {
		return fmt.Sprintf("%s, last sent or settled %s.", text, momentOrNone(l.At()))
	}
	return fmt.Sprintf("%s, created %s.", text, moment(l.Stored))
}

// breakTexts are titles of breaks in a sentence.
func breakTexts(breaks []reconcile.Break) string {
	texts := make([]string, len(breaks))
	for i, b := range breaks {
		title := breakTitle(b)
		texts[i] = strings.ToLower(title[:1]) + title[1:]
	}
	return strings.Join(texts, "; ")
}

// sideText is a record in words.
func sideText(s *reconcile.Side, show shownNumber) string {
	text := fmt.Sprintf("%s of %s %s, profile_id %s, %s, id %s", s.Direction, show(s.Amount, s.Asset), s.Asset, s.ProfileID, s.Status, s.ID)
	if s.GroupID != "" {
		text += ", group_id " + s.GroupID
	}
	return text + ", created " + moment(s.CreatedAt) + inBrackets(s.Place)
}

// reconciledDifferences are the differences in words: those that both sides have are told once.
func reconciledDifferences(l *reconcile.Item, show shownNumber) []string {
	type key struct {
		transfer.Difference
		accepted bool
	}
	sides := make(map[key][]string)
	var order []key
	for _, d := range l.Differences {
		k := key{d.Difference, d.Accepted}
		if sides[k] == nil {
			order = append(order, k)
		}
		sides[k] = append(sides[k], strings.ToLower(string(d.Side))+inBrackets(d.Place))
	}
	var texts []string
	for _, k := range order {
		number := func(text string) string {
			if k.Field == amountField {
				return show(text, l.Asset)
			}
			return text
		}
		text := fmt.Sprintf("%s: %s in the state, %s at the service: %s", k.Field, orNothing(number(k.Asked)), orNothing(number(k.Answered)), strings.Join(sides[k], ", "))
		if k.accepted {
			text += "; accepted by hand"
		}
		texts = append(texts, text)
	}
	return texts
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}
