package view

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/reconcile"
	"remit/internal/accounts/report"
	"remit/planner"
)

//go:embed report.css
var reportStyle string

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

// ReportHTML writes a period as a page that loads nothing, has no script, and prints on A4: the
// totals of each asset, payments over time, to whom and in which batches, the exceptions that a person
// should look at, and the runs with those who approved them. It returns only errors of w.
func ReportHTML(w io.Writer, r *report.Report, o ReportOptions) error {
	h := &htmlReport{htmlPage: newHTMLPage(w), r: r, o: o}
	h.beginAs("report", h.title()+", "+r.Meta.Environment, reportStyle, "")
	h.head()
	h.put("<main>\n")
	h.totals()
	h.overTime()
	h.rows("Batches", "batch", func(a *report.Asset) []report.Row { return a.Batches })
	h.rows("Destinations", "destination", func(a *report.Asset) []report.Row { return a.Destinations })
	h.exceptions()
	h.runs()
	h.reconciliation()
	h.method()
	h.put("</main>\n<footer><p>%. Made %.</p></footer>\n", h.title(), momentOrNone(o.Made))
	return h.finish()
}

// htmlReport is the page of one report.
type htmlReport struct {
	htmlPage
	r *report.Report
	o ReportOptions
}

// finish closes a page without a script.
func (h *htmlReport) finish() error {
	h.put("</body>\n</html>\n")
	return h.Flush()
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

func (h *htmlReport) head() {
	meta := h.r.Meta
	h.put("<header>\n")
	if meta.Service.IsSandbox() {
		h.put("<p class=\"environment good\">SANDBOX: no money moves</p>\n")
	} else {
		h.put("<p class=\"environment\">Environment: <strong>%</strong> (%)</p>\n", meta.Environment, serviceName(planner.Header{Service: meta.Service}))
	}
	h.put("<h1>%</h1>\n", h.title())
	text, tone := h.lead()
	h.put("<p class=\"lead %\">%</p>\n<dl>\n", tone.class(), text)
	for _, f := range []field{
		{"period", fmt.Sprintf("%s to %s, both days included, in %s", h.day(h.r.Period.From), h.day(h.last()), h.r.Period.Zone)},
		{"as of", momentOrNone(h.o.Made)},
		{"state", meta.Lineage},
		{"journal", fmt.Sprintf("%s, head %s", plural(int(meta.Serial), "event"), meta.Head)},
	} {
		h.put("<dt>%</dt><dd>%</dd>\n", f.name, f.value)
	}
	h.put("</dl>\n</header>\n")
}

// lead is the report in a sentence.
func (h *htmlReport) lead() (string, tone) {
	paid := h.r.Totals[report.Paid]
	text := "Nothing was paid."
	if paid.Count() > 0 {
		text = plural(paid.Count(), "transfer") + " paid."
	}
	t := toneGood
	if s := h.o.Reconciled; s != nil && !s.Agrees() {
		text += " The service's export says otherwise of " + plural(s.Differ, "transfer") + "."
		t = toneBad
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
	return text + " " + plural(open, "transfer") + verb + " action: " + strings.Join(parts, ", ") + ".", toneBad
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

// money writes [htmlReport.amount].
func (h *htmlReport) money(d decimal.Decimal, a *report.Asset) { h.put("%", h.amount(d, a)) }

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
		h.put("<table class=\"narrow\">\n<caption>Each transfer is counted once</caption>\n")
		h.put("<thead><tr><th scope=\"col\">Asset</th><th scope=\"col\">Standing</th><th scope=\"col\" class=\"number\">Transfers</th><th scope=\"col\" class=\"number\">Sum</th></tr></thead>\n")
		most := h.placesMost()
		for i := range h.r.Assets {
			h.assetTotals(&h.r.Assets[i], most)
		}
		h.put("</table>\n")
	}
	paid := h.r.Totals[report.Paid]
	if paid.Count() > 0 {
		h.put("<p>Control totals of what was paid: %.</p>\n", h.o.controlText(&paid))
	}
	if n := h.r.Reversals.Count(); n > 0 {
		h.put("<p>Among what was paid, %: %.</p>\n", plural(n, "reversal"), h.o.sums(&h.r.Reversals))
	}
	h.put("</section>\n")
}

// assetTotals writes the lines of one asset: the paid ones always, the other standings where
// they occur.
func (h *htmlReport) assetTotals(a *report.Asset, most int) {
	var lines []report.Standing
	for _, s := range report.Standings() {
		if s == report.Paid || a.OfStanding(s).Count > 0 {
			lines = append(lines, s)
		}
	}
	var fees []report.Standing
	for _, s := range report.Standings() {
		if a.Fees[s].Count > 0 {
			fees = append(fees, s)
		}
	}
	h.put("<tbody>\n")
	for i, s := range lines {
		h.put("<tr>")
		if i == 0 {
			h.put("<th scope=\"rowgroup\" rowspan=\"%\">%</th>", strconv.Itoa(len(lines)+len(fees)), a.Code)
		}
		h.totalsRow(standingTone(s).class(), string(s), a.OfStanding(s), a, most)
	}
	for _, s := range fees {
		h.put("<tr>")
		h.totalsRow("", "fees of what is "+string(s), a.Fees[s], a, most)
	}
	h.put("</tbody>\n")
}

// totalsRow writes the rest of a line of the totals.
func (h *htmlReport) totalsRow(class, name string, s report.Sum, a *report.Asset, most int) {
	h.put("<td class=\"%\">%</td><td class=\"number\">%</td><td class=\"number\">", class, name, strconv.Itoa(s.Count))
	h.number(h.amount(s.Sum, a), most)
	h.put("</td></tr>\n")
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
		h.chart(i, a)
		h.bucketTable(i, a)
	}
	if !some {
		h.put("<p>Nothing was paid.</p>\n")
	}
	h.put("</section>\n")
}

// bucketTable writes the days on which something was paid, and their total.
func (h *htmlReport) bucketTable(n int, a *report.Asset) {
	h.put("<table class=\"narrow\" aria-labelledby=\"time-%\">\n<thead><tr><th scope=\"col\">%</th><th scope=\"col\" class=\"number\">Transfers</th><th scope=\"col\" class=\"number\">Paid</th><th scope=\"col\" class=\"number\">Paid so far</th></tr></thead>\n<tbody>\n",
		strconv.Itoa(n), strings.ToUpper(h.bucketWord()[:1])+h.bucketWord()[1:])
	soFar := decimal.Zero
	for i, s := range a.Buckets {
		if s.Count == 0 {
			continue
		}
		soFar = soFar.Add(s.Sum)
		h.put("<tr><th scope=\"row\">%</th><td class=\"number\">%</td><td class=\"number\">", h.bucket(i), strconv.Itoa(s.Count))
		h.money(s.Sum, a)
		h.put("</td><td class=\"number dim\">")
		h.money(soFar, a)
		h.put("</td></tr>\n")
	}
	paid := a.OfStanding(report.Paid)
	h.put("</tbody>\n<tfoot><tr><th scope=\"row\">Total</th><td class=\"number\">%</td><td class=\"number\">", strconv.Itoa(paid.Count))
	h.money(paid.Sum, a)
	h.put("</td><td></td></tr></tfoot>\n</table>\n")
}

// rows writes the largest batches or destinations of each asset, each with its share and its
// days.
func (h *htmlReport) rows(title, word string, of func(*report.Asset) []report.Row) {
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

func (h *htmlReport) rowTable(id, word string, a *report.Asset, rows []report.Row) {
	paid := a.OfStanding(report.Paid)
	h.put("<h3 id=\"%\">%</h3>\n<div class=\"wide\" role=\"region\" aria-label=\"% by %\" tabindex=\"0\">\n<table aria-labelledby=\"%\">\n", id, a.Code, a.Code, word, id)
	h.put("<thead><tr><th scope=\"col\">%</th><th scope=\"col\" class=\"number\">Transfers</th><th scope=\"col\" class=\"number\">Paid</th><th scope=\"col\" class=\"number\">Share</th><td></td><th scope=\"col\">By %</th></tr></thead>\n<tbody>\n",
		strings.ToUpper(word[:1])+word[1:], h.bucketWord())
	for i := range rows {
		row := &rows[i]
		h.put("<tr><th scope=\"row\">")
		h.rowName(word, row)
		h.put("</th><td class=\"number\">%</td><td class=\"number\">", strconv.Itoa(row.Count))
		h.money(row.Sum.Sum, a)
		h.put("</td><td class=\"number\">%</td><td>", percent(row.Sum.Sum, paid.Sum))
		h.share(row.Sum.Sum, paid.Sum)
		h.put("</td><td>")
		h.spark(row)
		h.put("</td></tr>\n")
	}
	h.put("</tbody>\n<tfoot><tr><th scope=\"row\">Total</th><td class=\"number\">%</td><td class=\"number\">", strconv.Itoa(paid.Count))
	h.money(paid.Sum, a)
	h.put("</td><td class=\"number\">100.0%</td><td></td><td></td></tr></tfoot>\n</table>\n</div>\n", "%")
	h.figures(word, a, rows)
}

// rowName names a row: a destination by its name in the address book and its IDs.
func (h *htmlReport) rowName(word string, row *report.Row) {
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
func (h *htmlReport) figures(word string, a *report.Asset, rows []report.Row) {
	h.put("<details>\n<summary>Figures by % of these charts</summary>\n<table class=\"narrow\">\n<thead><tr><th scope=\"col\">%</th><th scope=\"col\">%</th><th scope=\"col\" class=\"number\">Transfers</th><th scope=\"col\" class=\"number\">Paid</th></tr></thead>\n",
		h.bucketWord(), strings.ToUpper(word[:1])+word[1:], strings.ToUpper(h.bucketWord()[:1])+h.bucketWord()[1:])
	for i := range rows {
		row := &rows[i]
		h.put("<tbody>\n")
		first := true
		for n := range h.r.Buckets {
			s, has := row.Buckets[n]
			if !has {
				continue
			}
			h.put("<tr>")
			if first {
				h.put("<th scope=\"rowgroup\" rowspan=\"%\">", strconv.Itoa(len(row.Buckets)))
				h.rowName(word, row)
				h.put("</th>")
				first = false
			}
			h.put("<td>%</td><td class=\"number\">%</td><td class=\"number\">", h.bucket(n), strconv.Itoa(s.Count))
			h.money(s.Sum, a)
			h.put("</td></tr>\n")
		}
		h.put("</tbody>\n")
	}
	h.put("</table>\n</details>\n")
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
		h.put(" Of % nothing says when they were made: they are in no period.", plural(h.r.Undated, "transfer"))
	}
	h.put("</p>\n</section>\n")
}
