package view

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/reconcile"
	"remit/internal/accounts/report"
	"remit/internal/text/english"
)

// ReportOptions say how to show a report.
type ReportOptions struct {
	Screen
	Made  time.Time         // when the report was made
	Names map[string]string // of profiles, by profile_id

	Reconciled *reconcile.Summary // of the period; nil where no export was given
	Files      []ReconciledFile   // the exports
}

// ReportStart is how a file of [ReportHTML] begins, so that one is known again.
const ReportStart = "<!doctype html>\n<html lang=\"en\" data-remit=\"report\">"

// ReportHTML writes a period as a page like that of [PlanHTML], which loads nothing, can be read without its
// script, and prints on A4: the totals of each asset, payments over time, to whom and in which batches, the
// exceptions that a person should look at, and the runs with those who approved them. It returns only errors of w.
func ReportHTML(w io.Writer, r *report.Report, o ReportOptions) error {
	h := &htmlReport{htmlPage: newHTMLPage(w, o.Screen), r: r, o: o}
	h.begin("report", h.title()+", "+r.Meta.Environment)
	h.head(h.pageHead())
	h.totals()
	h.overTime()
	h.listFilters()
	h.exceptions()
	h.rows("Batches", "batch", func(a *report.Asset) []report.Subtotal { return a.Batches })
	h.rows("Destinations", "destination", func(a *report.Asset) []report.Subtotal { return a.Destinations })
	h.runs()
	h.reconciliation()
	h.method()
	return h.end(h.title() + ". Made " + momentOrNone(o.Made) + ".")
}

// htmlReport is the page of one report.
type htmlReport struct {
	htmlPage
	r *report.Report
	o ReportOptions
}

func (h *htmlReport) day(t time.Time) string { return t.In(h.r.Period.Zone).Format("2006-01-02") }

// moment is a time of the report's zone, to the minute.
func (h *htmlReport) moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.In(h.r.Period.Zone).Format("2006-01-02 15:04")
}

// last is the last day of the period.
func (h *htmlReport) last() time.Time { return h.r.Period.Until.Add(-time.Second) }

// title names a whole month by its name.
func (h *htmlReport) title() string {
	from, until := h.r.Period.From.In(h.r.Period.Zone), h.r.Period.Until.In(h.r.Period.Zone)
	if from.Day() == 1 && from.AddDate(0, 1, 0).Equal(until) {
		return "Payments of " + from.Format("January 2006")
	}
	if h.day(from) == h.day(h.last()) {
		return "Payments of " + h.day(from)
	}
	return "Payments from " + h.day(from) + " to " + h.day(h.last())
}

func (h *htmlReport) pageHead() *pageHead {
	meta := h.r.Meta
	text, tone := h.lead()
	head := &pageHead{
		isSandbox: meta.Service.IsSandbox(), environment: meta.Environment, service: meta.Service,
		title: h.title(), said: span{text, tone}, counted: "Count and sum of what was paid", none: "Nothing was paid.",
		calm: "Nothing of what was sent: no transfer is in doubt, in conflict or unverified.",
		about: []field{
			{"period", fmt.Sprintf("%s to %s, both days included, in %s", h.day(h.r.Period.From), h.day(h.last()), h.r.Period.Zone)},
			{"as of", h.asOf()},
			{"state", meta.Lineage},
			{"journal", fmt.Sprintf("%s, head %s", english.Plural(int(meta.Serial), "event"), meta.Head)},
		},
	}
	if paid := h.r.Totals[report.Paid]; paid.Count() > 0 {
		head.sums = []totalsRow{{[]span{{string(report.Paid), toneGood}}, &paid}}
		if hash := hashTotalShown(&paid); hash != "" {
			head.sumsNote = []string{"Hash total " + hash}
		}
	}
	for _, s := range exceptionsOrder() {
		if n := h.r.Totals[s].Count() + h.r.Older[s]; n > 0 && s.IsOpen() {
			title, _, command := exceptionsHead(s)
			head.needs = append(head.needs, need{text: fmt.Sprintf("%s: %s", title, english.Plural(n, "transfer")), tone: standingTone(s), command: command})
		}
	}
	if s := h.o.Reconciled; s != nil && !s.Agrees() {
		head.needs = append(head.needs, need{text: reconciledVerdict(s).text, tone: toneBad})
	}
	return head
}

// asOf is when the page was made. A month that goes on is not closed by it.
func (h *htmlReport) asOf() string {
	if !h.o.Made.IsZero() && h.o.Made.Before(h.r.Period.Until) {
		return momentOrNone(h.o.Made) + ", before the end of the period"
	}
	return momentOrNone(h.o.Made)
}

// listFilters are for the lists of exceptions, batches, destinations and runs.
func (h *htmlReport) listFilters() {
	count := min(h.r.RunCount, len(h.r.Runs))
	for _, e := range h.r.Exceptions {
		count += len(e.Lines)
	}
	for i := range h.r.Assets {
		count += len(h.r.Assets[i].Batches) + len(h.r.Assets[i].Destinations)
	}
	if count > 0 {
		h.filters("Search the lists below: name, ref_id, batch or destination", count, "row")
	}
}

// lead is the report in a sentence.
func (h *htmlReport) lead() (string, tone) {
	paid := h.r.Totals[report.Paid]
	text := "Nothing was paid."
	if paid.Count() > 0 {
		text = english.Plural(paid.Count(), "transfer") + " paid."
	}
	t := toneGood
	switch s := h.o.Reconciled; {
	case s == nil:
	case s.Contradicts():
		text += " The service's export says otherwise of their sum."
		t = toneBad
	case !s.Agrees():
		text += " The service's export says otherwise of " + english.Plural(s.Differ, "transfer") + "."
		t = toneBad
	case s.Transfers() > 0:
		text += " The service's export agrees."
	}
	open := h.r.NeedsPerson()
	if open == 0 {
		return text + " Nothing is in doubt, in conflict or unverified.", t
	}
	var parts []string
	for _, s := range report.Standings() {
		if n := h.r.Totals[s].Count() + h.r.Older[s]; n > 0 && s.IsOpen() {
			parts = append(parts, fmt.Sprintf("%d %s", n, standingPhrase(s)))
		}
	}
	verb := " need"
	if open == 1 {
		verb = " needs"
	}
	return text + " " + english.Plural(open, "transfer") + verb + " action: " + strings.Join(parts, ", ") + ".", toneBad
}

// standingPhrase is a standing behind "is".
func standingPhrase(s report.Standing) string {
	if s == report.Conflict {
		return "in conflict"
	}
	if s == report.Unknown {
		return "of an unknown status"
	}
	return string(s)
}

// amount is a number of an asset with the decimals of its most precise amount at least.
func (h *htmlReport) amount(d decimal.Decimal, a *report.Asset) string {
	return h.o.Scales.Shown(d.StringFixed(max(a.Scale, -d.Exponent(), 0)), a.Code)
}

// placesMost are the decimals of the most precise asset, as they are shown.
func (h *htmlReport) placesMost() int {
	most := 0
	for i := range h.r.Assets {
		most = max(most, places(h.amount(decimal.Zero, &h.r.Assets[i])))
	}
	return most
}

func (h *htmlReport) totals() {
	h.put("<section>\n<h2>Totals</h2>\n")
	if h.r.Empty() {
		h.put("<p>The state has no transfer of this period.</p>\n")
	} else {
		t := h.table("narrow fit", "Each transfer is counted once", column{title: "Asset"}, column{title: "Standing"}, column{title: "Transfers", isNumber: true}, column{title: "Sum", isNumber: true})
		most := h.placesMost()
		for i := range h.r.Assets {
			h.assetTotals(t, &h.r.Assets[i], most)
		}
		t.end()
	}
	paid := h.r.Totals[report.Paid]
	if paid.Count() > 0 {
		h.put("<p>Control totals of what was paid: %.</p>\n", h.o.controlText(&paid))
	}
	if n := h.r.Reversals.Count(); n > 0 {
		h.put("<p>Among what was paid, %: %.</p>\n", english.Plural(n, "reversal"), h.o.sums(&h.r.Reversals))
	}
	h.put("</section>\n")
}

// assetTotals writes the lines of one asset: the paid ones always, the other standings where
// they occur.
func (h *htmlReport) assetTotals(t *htmlTable, a *report.Asset, most int) {
	var lines, fees []report.Standing
	for _, s := range report.Standings() {
		if s == report.Paid || a.OfStanding(s).Count > 0 {
			lines = append(lines, s)
		}
		if a.Fees[s].Count > 0 {
			fees = append(fees, s)
		}
	}
	row := func(class, name string, s report.Sum) {
		t.at = 1
		t.cellOf(class, func() { h.put("%", name) })
		t.count(s.Count)
		t.number(h.amount(s.Sum, a), most)
	}
	t.body()
	for i, s := range lines {
		t.row()
		if i == 0 {
			h.put("<th scope=\"rowgroup\" rowspan=\"%\">%</th>", strconv.Itoa(len(lines)+len(fees)), a.Code)
		}
		row(standingTone(s).class(), string(s), a.OfStanding(s))
	}
	for _, s := range fees {
		t.row()
		row("none", "fees of what is "+string(s), a.Fees[s])
	}
}

func standingTone(s report.Standing) tone {
	switch s {
	case report.Paid:
		return toneGood
	case report.InDoubt, report.Unverified, report.Unknown, report.Pending, report.Late:
		return toneDoubt
	case report.Conflict, report.Conversion, report.Unreadable, report.Failed, report.Refused:
		return toneBad
	case report.NotMade:
	}
	return toneNone
}

// bucket names a day or a month.
func (h *htmlReport) bucket(i int) string {
	if h.r.AreMonths {
		return h.r.Buckets[i].Format("2006-01")
	}
	return h.r.Buckets[i].Format("Mon 2006-01-02")
}

func (h *htmlReport) bucketWord() string {
	if h.r.AreMonths {
		return "month"
	}
	return "day"
}

// overTime writes a chart for each asset, and the table that it draws.
func (h *htmlReport) overTime() {
	h.put("<section>\n<h2>Paid over time</h2>\n")
	some := false
	for i := range h.r.Assets {
		a := &h.r.Assets[i]
		if a.OfStanding(report.Paid).Count == 0 {
			continue
		}
		some = true
		h.put("<h3 id=\"time-%\">%</h3>\n", strconv.Itoa(i), a.Code)
		h.charts(i, a)
		h.bucketTable(a)
	}
	if !some {
		h.put("<p>Nothing was paid.</p>\n")
	}
	h.put("</section>\n")
}

// bucketTable writes the days on which something was paid, and their total.
func (h *htmlReport) bucketTable(a *report.Asset) {
	bucket := strings.ToUpper(h.bucketWord()[:1]) + h.bucketWord()[1:]
	t := h.table("narrow fit days", a.Code+" by "+h.bucketWord(), column{title: bucket}, column{title: "Transfers", isNumber: true}, column{title: "Paid", isNumber: true}, column{title: "Paid so far", isNumber: true})
	most := places(h.amount(decimal.Zero, a))
	soFar := decimal.Zero
	for i, s := range a.Buckets {
		if s.Count == 0 {
			continue
		}
		soFar = soFar.Add(s.Sum)
		t.row()
		t.head(h.bucket(i))
		t.count(s.Count)
		t.number(h.amount(s.Sum, a), most)
		t.numberOf("dim", h.amount(soFar, a), most)
	}
	paid := a.OfStanding(report.Paid)
	t.foot()
	t.row()
	t.head("Total")
	t.count(paid.Count)
	t.number(h.amount(paid.Sum, a), most)
	t.cell("")
	t.end()
}

// rows writes the largest batches or destinations of each asset, each with its share and its
// days.
func (h *htmlReport) rows(title, word string, of func(*report.Asset) []report.Subtotal) {
	h.put("<section>\n<h2>%</h2>\n", title)
	some := false
	for i := range h.r.Assets {
		a := &h.r.Assets[i]
		if rows := of(a); len(rows) > 0 {
			some = true
			h.rowTable(fmt.Sprintf("%s-%d", word, i), word, a, rows)
		}
	}
	if !some {
		h.put("<p>Nothing was paid.</p>\n")
	}
	h.put("</section>\n")
}

func (h *htmlReport) rowTable(id, word string, a *report.Asset, rows []report.Subtotal) {
	paid := a.OfStanding(report.Paid)
	h.put("<div data-group>\n<h3 id=\"%\">%</h3>\n", id, a.Code)
	t := h.wideTable(a.Code+" by "+word, "rows stack", "", column{title: strings.ToUpper(word[:1]) + word[1:]}, column{title: "Transfers", isNumber: true}, column{title: "Paid", isNumber: true},
		column{title: "Share", isNumber: true}, column{}, column{title: "By " + h.bucketWord()})
	most := places(h.amount(decimal.Zero, a))
	for i := range rows {
		row := &rows[i]
		t.row()
		t.headOf(func() { h.rowName(word, row) })
		t.count(row.Count)
		t.number(h.amount(row.Sum.Sum, a), most)
		t.number(percent(row.Sum.Sum, paid.Sum), 0)
		t.cellOf("off-phone", func() { h.share(row.Sum.Sum, paid.Sum) })
		t.cellOf("", func() { h.spark(row) })
	}
	t.foot()
	t.row()
	t.head("Total")
	t.count(paid.Count)
	t.number(h.amount(paid.Sum, a), most)
	t.number("100.0%", 0)
	t.cell("")
	t.cell("")
	t.end()
	h.figures(word, a, rows)
	h.put("</div>\n")
}

// rowName names a row: a destination by its name in the address book and its IDs.
func (h *htmlReport) rowName(word string, row *report.Subtotal) {
	switch {
	case row.Others > 0:
		h.put("<span class=\"dim\">% others</span>", strconv.Itoa(row.Others))
	case word == "destination" && row.Party.ProfileID == "":
		h.put("<span class=\"dim\">not known: adopted without its other side</span>")
	case word == "destination":
		h.party(party{profile: row.Party.ProfileID, identity: row.Party.IdentityID, account: row.Party.AccountID}, h.o.Names)
	case row.Name == "":
		h.put("<span class=\"dim\">in no batch</span>")
	default:
		h.put("%", row.Name)
	}
}

// figures is the table behind the small charts.
func (h *htmlReport) figures(word string, a *report.Asset, rows []report.Subtotal) {
	bucket := strings.ToUpper(h.bucketWord()[:1]) + h.bucketWord()[1:]
	h.put("<details class=\"figures\">\n<summary>Figures by % of these charts</summary>\n", h.bucketWord())
	t := h.table("narrow stack", "", column{title: strings.ToUpper(word[:1]) + word[1:]}, column{title: bucket}, column{title: "Transfers", isNumber: true}, column{title: "Paid", isNumber: true})
	most := places(h.amount(decimal.Zero, a))
	for i := range rows {
		row := &rows[i]
		t.body()
		first := true
		for n := range h.r.Buckets {
			s, has := row.Buckets[n]
			if !has {
				continue
			}
			t.row()
			if first {
				h.put("<th scope=\"rowgroup\" rowspan=\"%\">", strconv.Itoa(len(row.Buckets)))
				h.rowName(word, row)
				h.put("</th>")
				first = false
			}
			t.at = 1
			t.cell(h.bucket(n))
			t.count(s.Count)
			t.number(h.amount(s.Sum, a), most)
		}
	}
	t.end()
	h.put("</details>\n")
}

// percent is a share with one decimal, rounded half to even.
func percent(part, whole decimal.Decimal) string {
	if whole.IsZero() {
		return ""
	}
	share := part.Mul(decimal.New(100, 0)).DivRound(whole, 6)
	if share.IsPositive() && share.LessThan(decimal.New(5, -2)) {
		return "< 0.1%"
	}
	return share.RoundBank(1).StringFixed(1) + "%"
}

// method says how was counted.
func (h *htmlReport) method() {
	h.put("<section>\n<h2>How this was counted</h2>\n<p>A transfer belongs to the day on which the service's record says that it was created, in %, and one without a record to the day of its first attempt. "+
		"Paid is what the service calls COMPLETED. Sums are exact. Shares are rounded.", h.r.Period.Zone.String())
	if h.r.Undated > 0 {
		h.put(" Of % nothing says when they were made: they are in no period.", english.Plural(h.r.Undated, "transfer"))
	}
	h.put("</p>\n</section>\n")
}
