package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"remit/internal/rehearsal"
)

// fundsMax is how many accounts are listed unless all are asked for.
const fundsMax = 20

// FundsOptions say how to show what profiles have.
type FundsOptions struct {
	Screen
	ShowAll bool
	Names   map[string]string // of profiles, by profile_id
	At      time.Time         // when it was asked for, by the earliest clock
}

// Funds writes for a person the balances of profiles as the service has them, the amounts that a plan takes, and the rest
// at the lowest. An unreadable balance is named with the reason. It returns only errors of w.
func Funds(w io.Writer, funds []rehearsal.Fund, o FundsOptions) error {
	p := newPage(w, o.Screen)
	p.line()
	p.paragraph("", "Balances, as the service said at "+moment(o.At)+". They are advice: others may pay too.", toneStrong)
	listed := slices.DeleteFunc(slices.Clone(funds), func(f rehearsal.Fund) bool { return f.Unread != "" })
	more := 0
	if !o.ShowAll && len(listed) > fundsMax {
		most := fundsMax
		for most < len(listed) && listed[most].IsShort() { // these come first
			most++
		}
		more, listed = len(listed)-most, listed[:most]
	}
	p.fundsTable(listed, o.Names)
	if more > 0 {
		p.line(dim("  and " + moreAccounts(more, "has enough", "have enough")))
	}
	p.unreadFunds(funds, o.Names)
	return p.Flush()
}

func (p *page) fundsTable(listed []rehearsal.Fund, names map[string]string) {
	var available, takes, left point
	for i := range listed {
		f := &listed[i]
		available.fit(p.money(f.Available, f.Asset))
		takes.fit(p.money(f.Takes, f.Asset))
		left.fit(p.money(f.Left(), f.Asset))
	}
	var rows [][]span
	for i := range listed {
		f := &listed[i]
		t := toneNone
		if f.Left().IsNegative() {
			t = toneDoubt
		}
		if f.IsShort() && !f.Accepted {
			t = toneBad
		}
		rows = append(rows, []span{
			plain(profileText(f.ProfileID, names)),
			plain(Visible(f.Asset)),
			plain("available " + available.align(p.money(f.Available, f.Asset))),
			plain("taken " + takes.align(p.money(f.Takes, f.Asset))),
			{"left " + left.align(p.money(f.Left(), f.Asset)), t},
			dim(p.fundRemark(f)),
		})
	}
	p.table("  ", rows)
}

// fundRemark is the remark beside the numbers of an account.
func (s Screen) fundRemark(f *rehearsal.Fund) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if f.Left().IsNegative() && !f.IsLeast {
		add("or more: the dependencies are too many to say")
	}
	if f.IsShort() && f.Accepted {
		add("the shortfall is accepted")
	}
	if !f.Covered.IsZero() {
		add("%s of it is covered by what comes in before", s.money(f.Covered, f.Asset))
	}
	if !f.Fees.IsZero() {
		add("taken with fees of %s, as the newest records have them", s.money(f.Fees, f.Asset))
	}
	if !f.InDoubt.IsZero() {
		add("%s of it is in doubt, and may be debited already", s.money(f.InDoubt, f.Asset))
	}
	return strings.Join(parts, "; ")
}

// unreadFunds says once of each reason which profiles it is about.
func (p *page) unreadFunds(funds []rehearsal.Fund, names map[string]string) {
	var reasons []string
	about := make(map[string][]string)
	for i := range funds {
		f := &funds[i]
		if f.Unread == "" {
			continue
		}
		if about[f.Unread] == nil {
			reasons = append(reasons, f.Unread)
		}
		about[f.Unread] = append(about[f.Unread], profileText(f.ProfileID, names)+" "+Visible(f.Asset))
	}
	for _, reason := range reasons {
		p.paragraph("  ", fmt.Sprintf("Not known, which stops nothing: %s. The reason: %s.", some(about[reason], len(about[reason])), Visible(reason)), toneDoubt)
	}
}

type balanceLine struct {
	Type       string    `json:"type"` // "balance"
	At         time.Time `json:"at"`
	ProfileID  string    `json:"profile_id"`
	Asset      string    `json:"asset"`
	Available  string    `json:"available,omitempty"`
	Takes      string    `json:"takes"`
	Fees       string    `json:"fees,omitempty"`     // of takes
	InDoubt    string    `json:"in_doubt,omitempty"` // of takes
	Covered    string    `json:"covered,omitempty"`  // of takes, by money that comes in before
	Left       string    `json:"left,omitempty"`
	Short      bool      `json:"short"`
	Accepted   bool      `json:"accepted,omitempty"`
	Unreadable string    `json:"unreadable,omitempty"` // why the balance is not known
}

// Funds writes a "balance" for each account. It returns the first error of writing.
func (j *JSON) Funds(funds []rehearsal.Fund, o FundsOptions) error {
	for i := range funds {
		f := &funds[i]
		line := balanceLine{
			Type: "balance", At: o.At, ProfileID: f.ProfileID, Asset: f.Asset, Takes: sum(f.Takes),
			Short: f.IsShort(), Accepted: f.IsShort() && f.Accepted, Unreadable: f.Unread,
		}
		if f.Unread == "" {
			line.Available, line.Left = sum(f.Available), sum(f.Left())
		}
		if !f.Fees.IsZero() {
			line.Fees = sum(f.Fees)
		}
		if !f.InDoubt.IsZero() {
			line.InDoubt = sum(f.InDoubt)
		}
		if !f.Covered.IsZero() {
			line.Covered = sum(f.Covered)
		}
		j.write(line)
	}
	return j.end()
}
