package view

import (
	"fmt"
	"io"
	"slices"
	"time"

	"remit/planner"
)

// statusShown is how many transfers of a group are listed.
const statusShown = 10

// Status writes the status for a person: transfers that need one, due ones, waiting ones and their
// dependencies, and the next one. It returns only errors of w.
func Status(w io.Writer, plan *planner.Plan, o PlanOptions) error {
	o.Scales = plan.Header.Scales
	page := newPage(w, o.Screen)
	page.headWith(plan, o, nil, unknownReadWarnings(plan))
	page.line(plain("As of " + moment(plan.Header.Created)))
	page.line()
	groups := plan.StatusGroups()
	if len(groups) == 0 {
		page.paragraph("", "Nothing is due, nothing waits, nothing is in doubt.", toneStrong)
	}
	for _, s := range groups {
		page.statusGroup(&s)
	}
	page.unmade(plan)
	page.obstacles(plan)
	if (len(groups) > 0 || o.MayLack) && plan.Applicable() {
		page.nextStep(groups, o.MayLack)
	}
	return page.Flush()
}

func (p *page) statusGroup(s *planner.StatusGroup) {
	title := fmt.Sprintf("%s: %d", string(s.Group), s.Totals.Count())
	for total := range s.Totals.All() {
		title += fmt.Sprintf(", %s %s", Visible(total.Asset), p.money(total.Sum, total.Asset))
	}
	p.paragraph("", title, groupTone(s.Group))
	shown := s.First[:min(len(s.First), statusShown)]
	var rows [][]span
	for i := range shown {
		c := &shown[i]
		rows = append(rows, []span{
			plain(Visible(c.RefID)), plain(p.amount(c.Request.Amount, c.Request.Asset)), plain(Visible(c.Request.Asset)), dim(groupTime(c, s.Group)),
		})
		why := groupReason(c, s.Group)
		if i+1 < len(shown) && groupReason(&shown[i+1], s.Group) == why {
			continue // it is said once, below the last of them
		}
		if why != "" {
			p.table("  ", rows, 1)
			p.paragraph("      ", why, toneDim)
			rows = nil
		}
	}
	p.table("  ", rows, 1)
	if more := s.Totals.Count() - len(shown); more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more", more)))
	}
	if s.Next != "" {
		p.command("  ", p.here(s.Next))
	}
	p.line()
}

// groupTime is the time that counts in a group; "" for none.
func groupTime(c *planner.Change, g planner.Group) string {
	switch g {
	case planner.GroupNext:
		return due(c.Until)
	case planner.GroupPending:
		if c.Recorded != nil && !c.Recorded.At.IsZero() {
			return statusWord(c.Recorded.RecordStatus) + " since " + moment(c.Recorded.At)
		}
	case planner.GroupUnknown:
		return statusWord(c.Recorded.RecordStatus)
	case planner.GroupDue, planner.GroupLate:
		if !c.Due.IsZero() {
			return "due " + due(c.Due)
		}
	case planner.GroupConflict, planner.GroupInDoubt, planner.GroupUnverified, planner.GroupFailed, planner.GroupSettled, planner.GroupRefused,
		planner.GroupExpired, planner.GroupNever, planner.GroupInFlight, planner.GroupWaiting:
	}
	return ""
}

// groupReason says on what a transfer waits, or why it needs a person; "" where the status needs no
// more words.
func groupReason(c *planner.Change, g planner.Group) string {
	switch {
	case g == planner.GroupRefused:
		return refusal(c)
	case len(c.After) > 0:
		return "after " + Visible(some(c.After, 0))
	case g == planner.GroupWaiting && !c.Until.IsZero():
		return "until " + due(c.Until) + ": " + Visible(c.Reason)
	}
	return Visible(c.Reason)
}

func groupTone(g planner.Group) tone {
	if g.NeedsPerson() {
		return toneDoubt
	}
	return toneStrong
}

// nextStep says what the next apply does by itself, or what a person has to do.
func (p *page) nextStep(groups []planner.StatusGroup, mayLack bool) {
	beyondUnknown := func(s planner.StatusGroup) bool { return s.Group.NeedsPerson() && s.Group != planner.GroupUnknown }
	switch {
	case mayLack:
		p.paragraph("", "Action needed: the state may lack transfers that were sent. Import the service's export of all transfer records; --complete is your word that they are all:", toneStrong)
		p.command("", p.here("remit import FILE --complete"))
	case !needsPerson(groups):
		p.paragraph("", "No action needed.", toneStrong)
	case !slices.ContainsFunc(groups, beyondUnknown):
		p.paragraph("", "Action needed: ask the operator of the service what its status means.", toneStrong)
	default:
		p.paragraph("", "Action needed. To see it in full:", toneStrong)
		p.command("", p.here("remit plan"))
	}
}

func needsPerson(groups []planner.StatusGroup) bool {
	return slices.ContainsFunc(groups, func(s planner.StatusGroup) bool { return s.Group.NeedsPerson() })
}

// groupedLine is one transfer that something is to be said about.
type groupedLine struct {
	Type   string        `json:"type"` // "standing"
	Group  planner.Group `json:"group"`
	RefID  string        `json:"ref_id"`
	Batch  string        `json:"batch,omitempty"`
	Amount string        `json:"amount"`
	Asset  string        `json:"asset"`
	Place  string        `json:"place,omitempty"`
	Due    time.Time     `json:"due,omitzero"`
	Until  time.Time     `json:"until,omitzero"`
	After  []string      `json:"after,omitempty"`
	Reason string        `json:"reason,omitempty"`
	Next   string        `json:"next,omitempty"`
	Status string        `json:"record_status,omitempty"` // the service's own, where remit does not know it
	Since  time.Time     `json:"since,omitzero"`          // of the latest attempt at a pending transfer
}

// statusLine is the end of a status.
type statusLine struct {
	Type        string             `json:"type"` // "status"
	Environment string             `json:"environment"`
	Protected   bool               `json:"protected,omitempty"`
	AsOf        time.Time          `json:"as_of"`
	Applicable  bool               `json:"applicable"`
	Person      bool               `json:"needs_person"`
	Groups      []statusTotals     `json:"groups"`
	Obstacles   []planner.Obstacle `json:"obstacles,omitempty"`
}

type statusTotals struct {
	Group planner.Group `json:"group"`
	totalsLine
	Next string `json:"next,omitempty"`
}

// Status writes a "standing" for the first transfers of each group, and a "status" at the end.
// It returns the first error of writing.
func (j *JSON) Status(plan *planner.Plan) error {
	groups := plan.StatusGroups()
	end := statusLine{
		Type: "status", Environment: plan.Header.Environment, Protected: j.protected, AsOf: plan.Header.Created, Applicable: plan.Applicable(),
		Person: needsPerson(groups) || !plan.Applicable(), Groups: []statusTotals{}, Obstacles: plan.Obstacles,
	}
	for _, s := range groups {
		end.Groups = append(end.Groups, statusTotals{s.Group, totalsOf(&s.Totals), j.command(s.Next)})
		for i := range s.First {
			c := &s.First[i]
			after := c.After
			var since time.Time
			status := ""
			if s.Group == planner.GroupPending && c.Recorded != nil {
				since = c.Recorded.At
			}
			if s.Group == planner.GroupUnknown {
				since, status = c.Recorded.At, string(c.Recorded.RecordStatus)
			}
			j.write(groupedLine{
				Type: "standing", Group: s.Group, RefID: c.RefID, Batch: c.Batch, Amount: c.Request.Amount.String(),
				Asset: c.Request.Asset, Place: c.Place, Due: c.Due, Until: c.Until,
				After: after[:min(len(after), planner.StatusGroupMax)], Reason: c.Reason, Next: j.command(c.Next), Since: since, Status: status,
			})
		}
	}
	j.write(end)
	return j.end()
}
