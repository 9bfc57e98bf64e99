package view

import (
	"fmt"
	"strconv"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/report"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

// The picture of an asset over time, in its own units.
const (
	chartTop    = 14
	chartBottom = 26
	chartLines  = 4 // of the scale, at most
)

// chartSize is that of a picture, which is drawn once for a phone, so that its text stays readable there.
type chartSize struct {
	name, class   string
	width, height int
	left          int // for the numbers of the scale
}

// charts draws the payments in one asset, for both.
func (h *htmlReport) charts(n int, a *report.Asset) {
	h.chart(n, a, chartSize{"chart", "off-phone", 900, 230, 110})
	h.chart(n, a, chartSize{"small-chart", "on-phone off-paper", 360, 200, 84})
}

// chart draws the payments in one asset as a column for each day or month.
func (h *htmlReport) chart(n int, a *report.Asset, size chartSize) {
	most, at := decimal.Zero, 0
	for i, s := range a.Buckets {
		if s.Sum.GreaterThan(most) {
			most, at = s.Sum, i
		}
	}
	step := scaleStep(most)
	top := step
	for top.LessThan(most) {
		top = top.Add(step)
	}
	id := size.name + "-" + strconv.Itoa(n)
	h.put("<svg class=\"chart %\" role=\"img\" aria-labelledby=\"% %\" viewBox=\"0 0 % %\">\n<title id=\"%\">% paid by %</title>\n",
		size.class, id+"-title", id+"-desc", strconv.Itoa(size.width), strconv.Itoa(size.height), id+"-title", a.Code, h.bucketWord())
	h.put("<desc id=\"%\">The most, %, was paid on %. The table below has every figure.</desc>\n", id+"-desc", h.amount(most, a), h.bucket(at))
	floor := size.height - chartBottom
	for line := decimal.Zero; line.LessThanOrEqual(top); line = line.Add(step) {
		y := strconv.Itoa(floor - pixels(line, top, floor-chartTop))
		class := "grid"
		if line.IsZero() {
			class = "axis"
		}
		h.put("<line class=\"%\" x1=\"%\" x2=\"%\" y1=\"%\" y2=\"%\"/><text x=\"%\" y=\"%\" dy=\"4\" text-anchor=\"end\">", class, strconv.Itoa(size.left), strconv.Itoa(size.width), y, y, strconv.Itoa(size.left-8), y)
		h.put("%", transfer.Grouped(line.StringFixed(max(0, -step.Exponent()))))
		h.put("</text>\n")
	}
	h.columns(a, top, floor, size)
	h.put("</svg>\n")
}

// columns draws the columns of a chart and names some of them, as many as have room.
func (h *htmlReport) columns(a *report.Asset, top decimal.Decimal, floor int, size chartSize) {
	const labelWidth = 30
	room := size.width - size.left
	every := (len(a.Buckets)*labelWidth + room - 1) / room
	for i, s := range a.Buckets {
		left, right := size.left+room*i/len(a.Buckets), size.left+room*(i+1)/len(a.Buckets)
		gap := min(12, (right-left)/5)
		if s.Count > 0 {
			height := max(1, pixels(s.Sum, top, floor-chartTop))
			h.put("<rect class=\"bar\" x=\"%\" y=\"%\" width=\"%\" height=\"%\"><title>%: % %, %</title></rect>\n",
				strconv.Itoa(left+gap), strconv.Itoa(floor-height), strconv.Itoa(max(1, right-left-2*gap)), strconv.Itoa(height),
				h.bucket(i), h.amount(s.Sum, a), a.Code, english.Plural(s.Count, "transfer"))
		}
		if i%max(1, every) == 0 {
			h.put("<text x=\"%\" y=\"%\" text-anchor=\"middle\">%</text>\n", strconv.Itoa((left+right)/2), strconv.Itoa(size.height-8), h.shortBucket(i))
		}
	}
}

// shortBucket is a day's number in its month, or a month's name.
func (h *htmlReport) shortBucket(i int) string {
	if h.r.AreMonths {
		return h.r.Buckets[i].Format("Jan")
	}
	return strconv.Itoa(h.r.Buckets[i].Day())
}

// pixels is part of whole as a share of a length, within it. It places marks: no figure comes from
// it, and a sum that was paid back has none.
func pixels(part, whole decimal.Decimal, length int) int {
	if whole.IsZero() {
		return 0
	}
	return min(length, max(0, int(part.Mul(decimal.NewFromInt(int64(length))).DivRound(whole, 0).IntPart())))
}

// scaleStep is the distance of a scale's lines: 1, 2 or 5 of a power of ten, so that there are
// four at most.
func scaleStep(most decimal.Decimal) decimal.Decimal {
	if !most.IsPositive() {
		return decimal.New(1, 0)
	}
	exponent := int32(most.NumDigits()) + most.Exponent() - 2
	for step := decimal.New(1, exponent); ; {
		for _, by := range []int64{1, 2, 5} {
			distance := step.Mul(decimal.NewFromInt(by))
			if !distance.Mul(decimal.NewFromInt(chartLines)).LessThan(most) {
				return distance
			}
		}
		step = step.Shift(1)
	}
}

const (
	sparkWidth  = 144
	sparkHeight = 22
)

// spark draws what one row was paid over time, each row to the scale of its own largest.
func (h *htmlReport) spark(row *report.Subtotal) {
	most := decimal.Zero
	for _, s := range row.Buckets {
		most = decimal.Max(most, s.Sum)
	}
	h.put("<svg class=\"spark\" aria-hidden=\"true\" viewBox=\"0 0 % %\" preserveAspectRatio=\"none\"><line class=\"axis\" x1=\"0\" x2=\"%\" y1=\"%\" y2=\"%\"/>",
		strconv.Itoa(sparkWidth), strconv.Itoa(sparkHeight), strconv.Itoa(sparkWidth), strconv.Itoa(sparkHeight-1), strconv.Itoa(sparkHeight-1))
	count := len(h.r.Buckets)
	for i := range count {
		s, has := row.Buckets[i]
		if !has {
			continue
		}
		left, right := sparkWidth*i/count, sparkWidth*(i+1)/count
		height := max(1, pixels(s.Sum, most, sparkHeight-2))
		h.put("<rect class=\"bar\" x=\"%\" y=\"%\" width=\"%\" height=\"%\"/>",
			strconv.Itoa(left), strconv.Itoa(sparkHeight-1-height), strconv.Itoa(max(1, right-left-1)), strconv.Itoa(height))
	}
	h.put("</svg>")
}

// share draws a part of a whole.
func (h *htmlReport) share(part, whole decimal.Decimal) {
	const width, height = 100, 10
	h.put("<svg class=\"share\" aria-hidden=\"true\" viewBox=\"0 0 % %\" preserveAspectRatio=\"none\"><rect width=\"%\" height=\"%\"/><rect class=\"bar\" width=\"%\" height=\"%\"/></svg>",
		strconv.Itoa(width), strconv.Itoa(height), strconv.Itoa(width), strconv.Itoa(height), strconv.Itoa(pixels(part, whole, width)), strconv.Itoa(height))
}

// exceptionsHead says what one standing among the exceptions means, and what to do.
func exceptionsHead(s report.Standing) (title, text, command string) {
	switch s {
	case report.InDoubt:
		return "In doubt", "May have been made. An apply settles them where it can; else settle each by hand.", "remit resolve REF_ID"
	case report.Conflict:
		return "In conflict", "What was asked and what was answered do not agree.", `remit resolve REF_ID --accept-record --reason="…"`
	case report.Conversion:
		return "In two assets", "The record has amounts of two assets and no rate, so that nothing here adds it up. Book it by hand.", "remit state show REF_ID"
	case report.Unreadable:
		return "Unreadable", "The record has an amount that is no plain decimal, or can't be read. Book it by hand.", "remit state show REF_ID"
	case report.Unverified:
		return "Unverified", "The service's record was not made by this state, and does not say whom it paid. Where a list alone says that it was made, also where a person accepted that, its record is missing: give it with --recorded FILE in place of --accept-record.", `remit resolve REF_ID --accept-record --reason="…"`
	case report.Failed:
		return "Failed", "The service's own status is FAILED. Ask the service whether no money moved before you pay it under a new ref_id.", ""
	case report.Refused:
		return "Refused", "The service said no. A corrected declaration is sent by the next apply.", ""
	case report.Late:
		return "Late", "Paid more than a day after the occurrence of its schedule was due. They stand among what was paid.", ""
	case report.Unknown:
		return "Unknown status", "The service calls them by a status that its document does not list. Ask its operator what that means.", "remit refresh"
	case report.Pending:
		return "Pending", "The service has them and has not finished them.", "remit refresh"
	case report.Paid, report.NotMade:
	}
	panic(fmt.Sprintf("%q is no exception", s))
}
