package view

import (
	"fmt"
	"io"
	"slices"

	"remit/internal/service/contract"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

// CertifyOptions say how to show the trial of a service.
type CertifyOptions struct {
	Screen
	Destination string // where the money moves
	Resume      bool   // nothing new is made
	Sandbox     bool
	Next        string // the command to type later; "" for none
}

// Certifying writes what a trial is about to send.
func Certifying(w io.Writer, sent *transfer.Totals, o CertifyOptions) error {
	p := newPage(w, o.Screen)
	if o.Sandbox {
		p.line(strong("SANDBOX: no money moves"))
		p.line()
	}
	if o.Resume {
		p.paragraph("", fmt.Sprintf("remit certify sends again, to %s, what an earlier trial kept for that: at most 3 requests. "+
			"Where the service has forgotten a ref_id, it makes a second transfer.", o.Destination), toneNone)
		return p.Flush()
	}
	p.paragraph("", fmt.Sprintf("remit certify makes %s at %s: %s. It sends some of these requests again: a service that does not "+
		"protect ref_ids makes up to 7 more.", english.Plural(sent.Count(), "transfer"), o.Destination, o.sums(sent)), toneNone)
	return p.Flush()
}

// Certified writes what a trial found: each row, and what remit does where it differs.
func Certified(w io.Writer, r contract.Report, o CertifyOptions) error {
	p := newPage(w, o.Screen)
	width := 0
	for _, f := range r.Findings {
		width = max(width, displayWidth(f.Row.Name))
	}
	for _, part := range contract.Parts() {
		p.line(strong(string(part)))
		for _, f := range r.Findings {
			if f.Row.Part == part {
				p.finding(f, width)
			}
		}
		p.line()
	}
	p.line(strong(fmt.Sprintf("%d hold, %d differ, %d unknown.",
		r.Count(contract.Holds), r.Count(contract.Differs), r.Count(contract.Unknown))))
	if r.Series > 0 {
		p.paragraph("", fmt.Sprintf("Series %d sent %s, of which the service made %s.", r.Series, english.Plural(r.Requests, "request"), english.Plural(r.Made, "transfer")), toneNone)
	}
	if n := len(r.LeftOpen); n > 0 {
		p.paragraph("", fmt.Sprintf("In doubt: %s. The next remit certify settles first what it can.", some(r.LeftOpen, n)), toneDoubt)
	}
	if o.Next != "" {
		p.line()
		p.line(plain("Once replay_window is over:"))
		p.command("", o.Next)
	}
	return p.Flush()
}

// finding writes one row: the verdict, its name, the need, and the observations.
func (p *page) finding(f contract.Finding, width int) {
	tones := map[contract.Verdict]tone{contract.Holds: toneGood, contract.Differs: toneBad, contract.Unknown: toneDoubt}
	label := []span{{"  " + pad(string(f.Verdict), len(contract.Differs)) + "  ", tones[f.Verdict]}, plain(pad(f.Row.Name, width) + "  ")}
	indent := ""
	for _, s := range label {
		indent += gap("", displayWidth(s.text))
	}
	for i, part := range Wrap(f.Row.Needs, p.width()-len(indent)) {
		if i > 0 {
			label = []span{plain(indent)}
		}
		p.line(append(slices.Clone(label), plain(part))...)
	}
	if f.Seen != "" {
		p.paragraph(indent, f.Seen, tones[f.Verdict])
	}
	if f.Verdict == contract.Differs {
		p.paragraph(indent, f.Row.Otherwise, toneDim)
	}
}
