package planner

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
	"remit/state"
)

// Alone computes of a saved plan what it allows by itself, where the state is not at hand, and compares:
// its actions, its look-alikes among each other, control totals, limits and policies, accepted exceptions, its totals
// and its digest. The facts that the state alone knows are the file's word: the records that its lines name, the
// marks that come of them, the transfers of a limit's day, and the amounts that reversals give back. No sentence of
// the returned plan is the file's. Under other controls than the plan was made, its limits and policies are its word
// as well.
//
// The error is a *[DifferentError], a *[ControlBlockError], or that of a failed read. Alone does not say that the plan may
// be applied: see [Plan.CheckHeader].
func (p *Plan) Alone(ctx context.Context, under Controls) (*Plan, error) {
	if p.isUnderOther(under) {
		under.Declared = config.Controls{}
	}
	under.TooOld = nil // how old a doubt is, the state knows
	if err := p.agreesWithItself(); err != nil {
		return nil, err
	}
	return p.compute(ctx, newSaid(p), under)
}

// agreesWithItself checks the parts that no rule makes: the windows of lines are those of the header, and
// a transfer without a line is of a batch with a control block, or of none.
func (p *Plan) agreesWithItself() error {
	for _, c := range p.Changes.All() {
		for _, name := range c.Windows {
			if p.Header.Window(name) == nil {
				return &DifferentError{fmt.Sprintf("the Windows of %q", c.RefID), fmt.Sprintf("%q", name), "that it is not known when that one is open"}
			}
		}
	}
	for i := range p.Kept {
		k := &p.Kept[i]
		if k.Batch != "" && !slices.ContainsFunc(p.Batches, func(b Batch) bool { return b.Name == k.Batch && b.Controlled }) {
			return &DifferentError{fmt.Sprintf("the batch of %q, which has no line", k.RefID), fmt.Sprintf("%q", k.Batch), "that it has no control block"}
		}
	}
	return nil
}

// isUnderOther reports whether a plan was made under other controls.
func (p *Plan) isUnderOther(under Controls) bool {
	return p.Header.Controls != under.Declared.Digest()
}

// said is a record as a saved plan has it: the records that its lines name, those that it keeps
// without a line, and those that its lines are said to look like. Nobody knows the others.
type said struct {
	meta    state.Meta
	details map[string]*state.Detail
	order   []string // of the ref_ids
	// isFirst says, of each destination of lines, whether nothing was paid to it.
	isFirst map[transfer.Destination]bool
	// otherwise are those that lines look like by their records alone.
	otherwise map[string]*otherwiseMade
	// unclear are those that may have been made, as the lines say: their details or their history do.
	unclear map[string]bool
}

func newSaid(p *Plan) *said {
	h := &p.Header
	s := &said{
		meta:    state.Meta{Environment: h.Environment, Lineage: h.Lineage, Serial: h.Serial, Service: h.Service},
		details: make(map[string]*state.Detail), isFirst: make(map[transfer.Destination]bool), otherwise: make(map[string]*otherwiseMade),
		unclear: make(map[string]bool),
	}
	due := make(map[string]time.Time) // of dates of schedules
	isLine := make(map[string]bool)
	for _, c := range p.Changes.All() {
		isLine[c.RefID], due[c.RefID] = true, c.Due
		if c.Recorded != nil {
			s.details[c.RefID] = c.saidDetail()
			s.unclear[c.RefID] = c.Action == Conflict && c.Recorded.Status == state.Tombstone
		}
	}
	for i := range p.Kept {
		k := &p.Kept[i]
		due[k.RefID] = k.Due
		if k.Request == nil && !isLine[k.RefID] {
			d := &state.Detail{Transfer: state.Transfer{RefID: k.RefID, Status: state.Recorded, RecordStatus: transfer.Completed, IntendedAt: longAgo}}
			d.Fingerprint[0] = 1                // it is not imported
			d.Amount = transfer.MustAmount("1") // no total of recorded transfers is computed
			s.details[k.RefID] = d
		}
	}
	s.addTwins(p, isLine, due)
	s.order = slices.Sorted(maps.Keys(s.details))
	return s
}

// addTwins adds the recorded transfers of which signals say that lines look like them.
func (s *said) addTwins(p *Plan, isLine map[string]bool, due map[string]time.Time) {
	var byRecord []alike
	for _, c := range p.Changes.All() {
		for _, signal := range c.Signals {
			d := s.details[signal.RefID]
			if signal.Kind != LookAlike && signal.Kind != Rename || isLine[signal.RefID] && (d == nil || !d.MayBeMade() && !isUnclear(d)) {
				continue
			}
			s.unclear[signal.RefID] = true
			if signal.isByRecord() {
				byRecord = append(byRecord, alike{c.Request, signal})
				continue
			}
			if d == nil || d.Intent.Body == "" {
				d = saidTwin(&c.Request, signal)
				s.details[signal.RefID] = d
			}
			d.IntendedAt, d.Intent.Found = signal.saidTime()
			if strings.Contains(signal.Detail, markOfDate) {
				d.Intent.Due = due[signal.RefID]
			}
		}
	}
	for i := range byRecord {
		s.addByRecord(&byRecord[i])
	}
}

// alike is a request, and a signal that says what it looks like.
type alike struct {
	request transfer.Request
	signal  Signal
}

// addByRecord adds a transfer that a line looks like by its record alone. Where no line has its request, that is
// none that any line has.
func (s *said) addByRecord(a *alike) {
	d := s.details[a.signal.RefID]
	if d == nil || d.Intent.Body == "" {
		asked := a.request
		asked.FromProfileID = "\x00" // no line has such a letter
		d = saidTwin(&asked, a.signal)
		s.details[a.signal.RefID] = d
	}
	d.IntendedAt, d.Intent.Found = a.signal.saidTime()
	o := s.otherwise[a.signal.RefID]
	if o == nil {
		asked, err := newRecorded(d).Request()
		if err != nil {
			return // the line's own; reading it says so
		}
		o = &otherwiseMade{asked: asked}
		s.otherwise[a.signal.RefID] = o
	}
	o.made = append(o.made, a.request)
}

// isByRecord reports whether a look-alike is one by its record alone.
func (s *Signal) isByRecord() bool { return strings.Contains(s.Detail, byRecordDetail) }

// longAgo is before every window of look-alikes: what no line is said to look like was
// intended then.
var longAgo = time.UnixMilli(1)

// saidDetail is the record of what a line says is recorded.
func (c *Change) saidDetail() *state.Detail {
	r := c.Recorded
	request, err := c.Request, error(nil)
	if r.Body != "" {
		request, err = r.Request()
	}
	d := &state.Detail{
		Transfer: state.Transfer{
			RefID: c.RefID, Status: r.Status, RecordStatus: r.RecordStatus, GroupID: r.GroupID, RecordID: r.RecordID,
			RunID: r.RunID, SettledAt: r.At, IntendedAt: longAgo, Asset: request.Asset, Amount: request.Amount, FromLabel: c.FromLabel,
		},
		Intent: state.Intent{
			RefID: c.RefID, RunID: r.RunID, Operation: r.Operation, Path: r.Path, Body: r.Body,
			Fingerprint: r.Fingerprint, Address: r.Address, Place: r.Place, Batch: c.Batch, FromLabel: c.FromLabel,
		},
	}
	d.Fingerprint, _ = transfer.ParseFingerprint(r.Fingerprint) // another one is a difference
	if r.Body != "" && err == nil {
		d.Twin, d.Destination = request.Twin(), request.Destination()
	}
	if r.Reason != "" || r.Status == state.Conflict {
		d.Outcome = &state.Outcome{RefID: c.RefID, RunID: r.RunID, Status: r.Status, Reason: r.Reason}
	}
	if r.Status == state.Conflict {
		d.Outcome.Differences = c.Differences
	}
	return d
}

// saidTwin is the record of what a line is said to look like.
func saidTwin(like *transfer.Request, signal Signal) *state.Detail {
	request := *like
	request.RefID = signal.RefID
	if _, text, isCorrected := strings.Cut(signal.Detail, correctedDetail); isCorrected {
		amount, _, _ := strings.Cut(text, " ")
		if was, err := transfer.ParseAmount(amount); err == nil {
			request.Amount = was // else the computed marks differ from the file's
		}
	}
	status := signal.saidStatus()
	d := &state.Detail{
		Transfer: state.Transfer{
			RefID: request.RefID, Status: status, Fingerprint: request.Fingerprint(), Twin: request.Twin(), Destination: request.Destination(),
			Asset: request.Asset, Amount: request.Amount, RecordStatus: transfer.Completed,
		},
		Intent: state.Intent{
			RefID: request.RefID, Operation: request.Operation, Body: string(request.Body()),
			Fingerprint: request.Fingerprint().String(), Place: signal.Place,
		},
	}
	if status == state.InDoubt {
		d.RecordStatus = ""
	}
	return d
}

// saidStatus is the status that [builder.said] wrote into the detail of a look-alike.
func (s *Signal) saidStatus() state.Status {
	status := state.Recorded
	for _, known := range state.Statuses() {
		if known.MayBeMade() && strings.HasPrefix(s.Detail, known.String()) {
			status = known
		}
	}
	return status
}

// saidTime is the time that [builder.said] wrote there, zero where it wrote none, and whether that is the record's.
func (s *Signal) saidTime() (at time.Time, isMade bool) {
	status := s.saidStatus().String()
	_, text, found := strings.Cut(s.Detail, status+saidIntended)
	if !found {
		_, text, isMade = strings.Cut(s.Detail, status+saidMade)
	}
	if end := strings.IndexAny(text, ",; "); end >= 0 {
		text = text[:end]
	}
	at, _ = time.Parse(time.RFC3339, text) // else as one that the state does not know
	return at, isMade
}

// Meta implements [Record].
func (s *said) Meta() state.Meta { return s.meta }

// Holder implements [Record].
func (s *said) Holder() (state.Holder, bool) { return state.Holder{}, false }

// Outlines implements [Record].
func (s *said) Outlines(context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		for _, refID := range s.order {
			if !yield(s.details[refID].Outline(), nil) {
				return
			}
		}
	}
}

// Details implements [Record].
func (s *said) Details(_ context.Context, refIDs ...string) ([]state.Detail, error) {
	var found []state.Detail
	for _, refID := range refIDs {
		if d := s.details[refID]; d != nil {
			found = append(found, *d)
		}
	}
	return found, nil
}

// saysPaid are the marks of a line that come from earlier payments, which the plan alone does not have. Other marks
// are computed again. A new kind that comes from the state needs a line here: without it, no plan with such a mark
// passes without its state.
func (w *word) saysPaid(r *transfer.Request) []Signal {
	var all []Signal
	for _, s := range w.line.Signals {
		if s.Kind == FirstDestination {
			all = append(all, Signal{Kind: FirstDestination, Detail: firstDetail})
		}
		if asset, found := strings.CutPrefix(s.Detail, otherAssetDetail); s.Kind == OtherAsset && found && transfer.AssetSpelled(asset) != transfer.AssetSpelled(r.Asset) {
			all = append(all, otherAsset(s.RefID, asset))
		}
		if s.Kind != AmountOutOfLine {
			continue
		}
		_, text, _ := strings.Cut(s.Detail, outOfLineDetail)
		text, _, _ = strings.Cut(text, " ")
		if largest, err := transfer.ParseAmount(transfer.Ungrouped(text)); err == nil && isOutOfLine(r.Amount, largest) {
			all = append(all, Signal{Kind: AmountOutOfLine, RefID: s.RefID, Detail: outOfLineDetail + shownAmount(largest, r.Asset) + " " + r.Asset})
		}
	}
	return w.firstTogether(r, all)
}

// firstTogether holds that of all lines that pay one destination, each is marked as the first or none.
func (w *word) firstTogether(r *transfer.Request, signals []Signal) []Signal {
	at := slices.IndexFunc(signals, func(s Signal) bool { return s.Kind == FirstDestination })
	to := r.Destination()
	isFirst, known := w.said.isFirst[to]
	switch {
	case !known:
		w.said.isFirst[to] = at >= 0
	case isFirst && at < 0:
		return slices.Insert(signals, 0, Signal{Kind: FirstDestination, Detail: firstDetail})
	case !isFirst && at >= 0:
		return slices.Delete(signals, at, at+1)
	}
	return signals
}

// saysRenamed takes from the lines which of what they look like they were, under which words.
func (b *builder) saysRenamed(due []twinned) {
	b.renamed = make(map[int32]*renaming)
	known := make(map[string]*row)
	for _, r := range b.rows.all() {
		known[b.rows.refID(r)] = r
	}
	for _, d := range due {
		line := b.word.lineOf(b.plan.Changes.At(int(d.number)).RefID)
		was, count, isAlone := (*renaming)(nil), 0, false
		for _, s := range line.Signals {
			r := known[s.RefID]
			isAlone = isAlone || s.Kind == LookAlike && r != nil && !r.is(markDeclared)
			if s.Kind != Rename || r == nil || r.is(markDeclared) || strings.Contains(s.Detail, correctedDetail) {
				continue
			}
			count++
			_, words, found := strings.Cut(s.Detail, ", by ")
			if was == nil || found {
				was = &renaming{row: r, words: cmp.Or(andMore.ReplaceAllString(words, ""), "other words")}
			}
		}
		if was != nil {
			was.more, was.isAlone = count-1, isAlone
			b.renamed[d.number] = was
		}
	}
}

// andMore is how a detail counts the rest that it does not show.
var andMore = lazyregexp.New(`; and [0-9]+ more$`)

// lineOf is the line of the file with a ref_id that has one.
func (w *word) lineOf(refID string) *Change {
	if w.find == nil {
		w.find = w.plan.Changes.Find()
	}
	number, _ := w.find(refID)
	c := w.plan.Changes.At(number)
	return &c
}

// saysNewest takes from lines that come late, although not by their catch_up, for when their block has
// paid.
func (b *builder) saysNewest(dated []int) {
	for _, i := range dated {
		c := b.plan.Changes.At(i)
		if b.facts.at(i).row != nil || !b.word.lineOf(c.RefID).isLate() {
			continue
		}
		newest := c.Due.Add(1)
		for _, s := range b.word.lineOf(c.RefID).Signals {
			_, text, found := strings.Cut(s.Detail, paidForDetail)
			text, _, _ = strings.Cut(text, " ")
			if at, err := time.Parse(time.RFC3339, text); s.Kind == Late && found && err == nil && at.After(newest) {
				newest = at
			}
		}
		if lateness(&c, time.Time{}, b.now) == "" {
			b.noteNewest(b.blockFactsOf(i).block, newest)
		}
	}
}

// saysRemainder takes the totals of a batch with a control block from the file, where transfers without a line
// can make the rest of them: so many, and a positive amount of each.
func (w *word) saysRemainder(known *transfer.Totals, said *Batch) *DifferentError {
	kept := 0
	for i := range w.plan.Kept {
		if k := &w.plan.Kept[i]; k.Batch == said.Name && k.Request == nil {
			kept++
		}
	}
	isOlder := w.plan.Header.FormatVersion == 0 // which does not say which transfers have no line
	if kept == 0 && !isOlder {
		return nil
	}
	fits := isOlder && said.Totals.Count() >= known.Count() || said.Totals.Count() == known.Count()+kept
	counts := make(map[string]int)
	for t := range known.All() {
		counts[t.Asset] = t.Count
	}
	for t := range said.Totals.All() {
		rest, sum := t.Count-counts[t.Asset], t.Sum.Sub(known.Sum(t.Asset))
		fits = fits && rest >= 0 && (rest == 0) == sum.IsZero() && !sum.IsNegative()
		delete(counts, t.Asset)
	}
	if !fits || len(counts) > 0 {
		return &DifferentError{
			fmt.Sprintf("the totals of batch %q", said.Name), totalsText(&said.Totals),
			fmt.Sprintf("%s of its lines, and %d more", totalsText(known), kept),
		}
	}
	*known = said.Totals
	return nil
}

// saysOf adds the obstacles of a kind that the file has, of which the state alone could tell.
func (b *builder) saysOf(kind ObstacleKind) {
	for _, o := range b.word.plan.Obstacles {
		if o.Kind == kind {
			b.addSaid(o)
		}
	}
}

func (b *builder) addSaid(obstacles ...Obstacle) {
	for _, o := range obstacles {
		b.plan.Obstacles = append(b.plan.Obstacles, Obstacle{
			Kind: o.Kind, Address: o.Address, RefIDs: o.RefIDs, Count: o.Count,
			Detail: fmt.Sprintf("The file says that there is an obstacle of the kind %q. What it is hangs on the state or on controls that are not here, so it was not computed again.", o.Kind),
		})
	}
}

// isAlone reports whether a saved plan is computed again without the state.
func (b *builder) isAlone() bool { return b.word != nil && b.word.said != nil }

// saysLimits takes from the file which limits of a day are exceeded, as far as the plan alone does not
// exceed them, and all of limits and policies where those of the plan are not at hand.
func (b *builder) saysLimits() {
	isOther := b.word.plan.isUnderOther(b.controls)
	isSaid := func(name string) bool {
		if b.limits == nil {
			return isOther
		}
		at := slices.IndexFunc(b.limits.limits, func(l limitCount) bool { return l.Name == name })
		return at >= 0 && b.limits.limits[at].Per.IsDaily() && !slices.Contains(b.plan.Header.Accepted, overriding(name)) &&
			!slices.ContainsFunc(b.plan.Obstacles, func(o Obstacle) bool { return o.Kind == ObstacleLimit && o.Address == limitAddress(name) })
	}
	var obstacles []Obstacle
	for _, o := range b.word.plan.Obstacles {
		b.saysWhom(&o)
		if o.Kind == ObstaclePolicy && isOther || o.Kind == ObstacleLimit && isSaid(strings.TrimPrefix(o.Address, limitAddress(""))) {
			obstacles = append(obstacles, o)
		}
	}
	for _, accepted := range b.word.plan.Header.Accepted {
		if name, ok := strings.CutPrefix(accepted, overriding("")); ok && isSaid(name) {
			b.plan.Header.Accepted = append(b.plan.Header.Accepted, accepted)
		}
	}
	slices.Sort(b.plan.Header.Accepted)
	b.addSaid(obstacles...)
}

// saysWhom takes from the file to whom too much goes on a day, where that are more than the plan alone says.
func (b *builder) saysWhom(said *Obstacle) {
	for i := range b.plan.Obstacles {
		o := &b.plan.Obstacles[i]
		if o.Kind == ObstacleLimit && said.Kind == o.Kind && said.Address == o.Address && len(o.RefIDs) > 0 && said.Count > o.Count {
			o.RefIDs, o.Count = said.RefIDs, said.Count
		}
	}
}

func limitAddress(name string) string { return (&config.Limit{Name: name}).Address() }

// saysMore takes from the file how many more look-alikes there are than those that a line shows.
func (p *Plan) saysMore(w *word) {
	for i, c := range p.Changes.All() {
		last := len(c.Signals) - 1
		if last < 0 {
			continue
		}
		for n, s := range w.lineOf(c.RefID).Signals {
			if more := andMore.FindString(s.Detail); more != "" && n <= last && !andMore.MatchString(c.Signals[n].Detail) {
				p.Changes.Update(i, func(c *Change) {
					c.Signals = slices.Clone(c.Signals)
					c.Signals[n].Detail += more
				})
			}
		}
	}
}
