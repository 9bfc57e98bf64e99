package view

import (
	"strings"

	"remit/planner"
	"remit/state"
)

// block writes the lines below that of a transfer that needs more than one: both
// versions where two disagree, and the recorded request of one in doubt.
func (p *page) block(c *planner.Change) {
	const indent = "    "
	before, after := versions(c)
	if len(c.Differences) > 0 {
		p.differences(indent, c, before, after)
	}
	switch c.Action {
	case planner.Conflict:
		if c.Recorded != nil {
			p.recorded(indent, c)
		}
	case planner.Resolve:
		if c.Recorded != nil {
			p.recorded(indent, c)
			p.request(indent, c.Recorded)
		}
	case planner.Failed:
		if c.Recorded != nil && c.Recorded.GroupID != "" {
			p.line(dim(indent + "group_id " + c.Recorded.GroupID))
		}
	case planner.Submit, planner.None, planner.Wait, planner.Expired, planner.Undeclared:
	}
}

// versions names the two sides of a change's differences.
func versions(c *planner.Change) (asked, answered string) {
	switch {
	case c.Again:
		return "declared", "refused"
	case c.Recorded != nil && c.Recorded.Status == state.Conflict:
		return "asked", "answered"
	}
	return "declared", "recorded"
}

// differences writes every field that disagrees, both values, and both places: side by side
// where that fits, else one below the other.
func (p *page) differences(indent string, c *planner.Change, asked, answered string) {
	head := []span{dim("field"), dim(asked + at(c.Place)), dim(answered)}
	if c.Recorded != nil {
		head[2].text += at(c.Recorded.Place)
	}
	rows := [][]span{head}
	for _, d := range c.Differences {
		rows = append(rows, []span{plain(d.Field), value(p.valueOf(d.Field, d.Asked, c.Request.Asset)), value(p.valueOf(d.Field, d.Answered, c.Request.Asset))})
	}
	if tableWidth(rows)+len(indent) <= p.width() {
		p.table(indent, rows)
		return
	}
	for _, row := range rows[1:] {
		p.line(plain(indent), row[0])
		p.table(indent+"  ", [][]span{{head[1], row[1]}, {head[2], row[2]}})
	}
}

func tableWidth(rows [][]span) int {
	width := 0
	for column := range rows[0] {
		widest := 0
		for _, row := range rows {
			widest = max(widest, displayWidth(row[column].text))
		}
		width += widest + 2
	}
	return width - 2
}

// valueWidthMax bounds one value of a difference; the service's may be of any length.
const valueWidthMax = 300

// valueOf is one value of a difference: an amount as [Screen.amount] shows it, all else as it is.
func (s Screen) valueOf(field, text, asset string) string {
	if field == amountField {
		return s.Scales.Shown(text, asset)
	}
	return text
}

// amountField is the name that a difference of amounts has.
const amountField = "amount"

func value(text string) span {
	if text == "" {
		return dim("(none)")
	}
	return span{cutEnd(Visible(text), valueWidthMax), toneStrong}
}

func at(place string) string {
	if place == "" {
		return ""
	}
	return " at " + place
}

// recorded says what the state knows of a transfer. Its place is left out where it has been
// said already.
func (p *page) recorded(indent string, c *planner.Change) {
	r := c.Recorded
	text := "state: " + r.Status.String()
	if r.RecordStatus != "" {
		text += " " + string(r.RecordStatus)
	}
	if !r.At.IsZero() {
		text += ", " + moment(r.At)
	}
	place := r.Place
	if place == c.Place || len(c.Differences) > 0 {
		place = ""
	}
	for _, part := range []struct{ name, value string }{
		{"run", r.RunID}, {"group_id", r.GroupID}, {"declared at", place},
	} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	p.paragraph(indent, Visible(text), toneDim)
	if !strings.Contains(strings.ToLower(c.Reason), strings.ToLower(r.Reason)) { // it may be part of a text above
		p.paragraph(indent, Visible(r.Reason), toneNone)
	}
}

// request writes the recorded request to its last byte: it is what a later attempt sends.
func (p *page) request(indent string, r *planner.Recorded) {
	if r.Body == "" {
		return
	}
	p.line(dim(indent + "recorded request: POST " + r.Path))
	for _, part := range chop(Visible(r.Body), p.width()-len(indent)-2) {
		p.line(dim(indent + "  " + part))
	}
}
