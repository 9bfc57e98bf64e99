package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/doubt"
	"remit/internal/text/english"
	"remit/internal/transfer"
)

const (
	findAnswerMax = 8 << 20 // bytes of one page
	findSplitsMax = 32      // times that ref_ids are asked for in halves
	findPagesMax  = 100
	findTries     = 4 // of one page
	findPause     = 500 * time.Millisecond
	findPauseMax  = 30 * time.Second
)

// Find looks at most [executor.FindMax] ref_ids up and returns their records by ref_id: none, one or both
// sides of each. A lookup changes nothing, so it is tried again a few times where the
// service or the network fails. Ref_ids that make an address of more than 4,000 bytes, or one that the
// service or a proxy calls too long (413, 414, 431), are asked for in halves; the length that was
// too much is remembered. So are more than [Options.LookupMax]. Where an answer has something that can't be read, and not
// even its ref_id, the ref_ids are asked for in halves until it is known whose it is. A credit side without a
// ref_id belongs to the ref_id that the list has under its group_id. A record whose
// ref_id is another one's but for capitals, spaces around it or its Unicode form can't be read either, and nor can one that
// is not listed where others are that were not asked for. An unreadable
// record hurts its own ref_id alone: see [executor.Finder]. Find panics where more are asked for, or where the service
// has no lookup.
func (c *Client) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	if !c.HasLookup() || len(refIDs) > executor.FindMax {
		panic(fmt.Sprintf("service: lookup of %d ref_ids at %q", len(refIDs), c.lookupPath))
	}
	s := &search{
		client: c, found: make(map[string][]transfer.Record), unreadable: make(map[string]string),
		listed: make(map[string]bool), splits: findSplitsMax,
	}
	if len(refIDs) == 0 {
		return s.found, nil
	}
	if err := s.look(ctx, refIDs); err != nil {
		return nil, fmt.Errorf("look up %s: %w", english.Plural(len(refIDs), "ref_id"), err)
	}
	s.holdTwins(refIDs)
	if len(s.unreadable) == 0 {
		return s.found, nil
	}
	for refID := range s.unreadable {
		delete(s.found, refID) // one side may be readable, and decide nothing
	}
	return s.found, fmt.Errorf("look up %s: %w", english.Plural(len(refIDs), "ref_id"), &executor.UnreadableError{Reasons: s.unreadable})
}

// search is one call of Find.
type search struct {
	client     *Client
	found      map[string][]transfer.Record
	unreadable map[string]string // why, by ref_id
	listed     map[string]bool   // ref_ids that came back: those asked for, and their twins
	splits     int               // that are left
}

// look asks for all of refIDs at once, and in halves where their address is too long or something
// comes back of which nobody can say whose it is.
func (s *search) look(ctx context.Context, refIDs []string) error {
	isTooMany := len(refIDs) > s.client.lookupMax || len(refIDs) > 1 && s.client.lookups.alone.Load()
	if isTooMany || len(refIDs) > 1 && !s.client.lookups.fits(s.findTarget(refIDs, "")) {
		return s.lookInHalves(ctx, refIDs)
	}
	all, err := s.findAll(ctx, refIDs)
	if tooLong, ok := errors.AsType[*tooLongError](err); ok && len(refIDs) > 1 {
		s.client.lookups.shorten(tooLong.bytes)
		return s.lookInHalves(ctx, refIDs)
	}
	if err != nil {
		return err
	}
	s.take(all, refIDs)
	switch {
	case all.stray == "" && all.again:
		return s.lookAgain(ctx, refIDs, all)
	case all.stray == "":
		return s.lookTurned(ctx, refIDs, all)
	case len(refIDs) == 1 || s.splits == 0:
		for _, refID := range refIDs {
			s.unreadable[refID] = all.stray
		}
		return nil
	}
	s.splits--
	return s.lookInHalves(ctx, refIDs)
}

// take takes from a list what it has of refIDs, unless nobody can say whose an item of it is.
func (s *search) take(list page, refIDs []string) {
	maps.Copy(s.unreadable, list.unreadable)
	for _, refID := range list.listed {
		s.listed[refID] = true
	}
	if list.stray != "" {
		return
	}
	for _, f := range list.records {
		if slices.Contains(refIDs, f.of) {
			s.found[f.of] = append(s.found[f.of], f.Record)
		}
	}
}

// lookAgain asks once more for ref_ids that a list lacks which ended with a page that came again: the service
// shows the first page alone. A page of fewer ref_ids is the shorter.
func (s *search) lookAgain(ctx context.Context, refIDs []string, list page) error {
	lacking := list.lacking(refIDs)
	switch {
	case len(lacking) == 0:
		return nil
	case len(lacking) < len(refIDs):
		return s.look(ctx, lacking)
	case len(lacking) > 1:
		return s.lookInHalves(ctx, lacking)
	}
	s.unreadable[lacking[0]] = "the service answered one page again in place of the next one, so that nobody can say what the further ones have. " +
		"Have the operator answer page_cursor, or no next_page_cursor behind the last page"
	return nil
}

func (s *search) lookInHalves(ctx context.Context, refIDs []string) error {
	half := len(refIDs) / 2
	if err := s.look(ctx, refIDs[:half]); err != nil {
		return err
	}
	return s.look(ctx, refIDs[half:])
}

// findAll gets all pages of one lookup.
func (s *search) findAll(ctx context.Context, refIDs []string) (page, error) {
	all := page{unreadable: make(map[string]string), groups: make(map[string]string)}
	alike := newTwins(refIDs)
	at := newTurner()
	for {
		p, err := s.findPage(ctx, refIDs, at)
		if err != nil {
			return page{}, err
		}
		all.records = append(all.records, p.records...)
		for _, refID := range p.listed {
			if alike[transfer.FoldRefID(refID)] != nil {
				all.listed = append(all.listed, refID)
			}
		}
		maps.Copy(all.unreadable, p.unreadable)
		maps.Copy(all.groups, p.groups)
		all.items += p.items
		all.envelopes = append(all.envelopes, p.envelopes...)
		all.others = append(all.others, p.others...)
		all.ofAsked = append(all.ofAsked, p.ofAsked...)
		all.nameless = append(all.nameless, p.nameless...)
		all.stray = cmp.Or(all.stray, p.stray)
		isLast, err := at.turn(p.next)
		if err != nil {
			return page{}, err
		}
		if isLast {
			all.again = at.again
			if err := all.checkWhole(refIDs); err != nil {
				return page{}, err
			}
			all.nameCredits(refIDs)
			all.holdUnlisted(refIDs, alike)
			return all, nil
		}
	}
}

type page struct {
	records    []named           // of ref_ids that were asked for
	unreadable map[string]string // of these, why a record can't be read
	listed     []string          // ref_ids of items, asked for or not
	stray      string            // why it can't be told whose an item is; "" where it can
	next       string            // cursor of the next page; "" on the last
	again      bool              // the list ended with a page that came again

	others  []other  // items of ref_ids that were not asked for
	ofAsked []string // group_ids of items of those that were

	items     int // how many it has, those that came before included
	envelopes []envelope

	groups   map[string]string // ref_ids of items, by group_id
	nameless []transfer.Record // credit sides without a ref_id
}

// named is a record with the ref_id that it belongs to: its own, or that of its group.
type named struct {
	transfer.Record
	of string
}

// other is an item of a ref_id that was not asked for; its groupID may be "".
type other struct{ refID, groupID string }

// holdUnlisted says of ref_ids that the list does not have that they can't be read, where it has one that was not asked for:
// it is a list of others, such as that of a service that does not know the parameter and lists its newest
// transfers, and no word of absence. A twin, and a side of a transfer that was asked for, are no others.
func (p *page) holdUnlisted(refIDs []string, alike twins) {
	at := slices.IndexFunc(p.others, func(o other) bool {
		return alike[transfer.FoldRefID(o.refID)] == nil && (o.groupID == "" || !slices.Contains(p.ofAsked, o.groupID))
	})
	if at < 0 {
		return
	}
	for _, refID := range refIDs {
		if !slices.Contains(p.listed, refID) && p.unreadable[refID] == "" {
			p.unreadable[refID] = fmt.Sprintf("the service listed %q, which was not asked for, and not this one: the list is not of what was asked, "+
				"so nobody can say that it was not made. Correct lookup_path, or have the operator answer ref_ids alone", p.others[at].refID)
		}
	}
}

// errNameless says of an item that it does not say whose it is.
var errNameless = errors.New("an item has no ref_id that can be read")

// nameCredits gives each credit side without a ref_id to the ref_id that an item of the same list has
// under its group_id: it is the client that names the debit side, and some services write its ref_id on no
// other. Whose another one is, nobody can say.
func (p *page) nameCredits(refIDs []string) {
	for _, record := range p.nameless {
		refID, isKnown := p.groups[record.GroupID]
		switch {
		case !isKnown:
			p.stray = cmp.Or(p.stray, errNameless.Error())
		case slices.Contains(refIDs, refID):
			p.records = append(p.records, named{record, refID})
		}
	}
}

// findPage gets one page, in several tries.
func (s *search) findPage(ctx context.Context, refIDs []string, at *turner) (page, error) {
	target := s.findTarget(refIDs, at.cursor)
	s.client.respell(target)
	ex, err := s.client.getPatiently(ctx, call{target: target, answerMax: findAnswerMax, refIDs: s.client.witness.ifSeen(refIDs)},
		func(ex exchange) error { return s.findError(ex, target) })
	if err != nil {
		return page{}, err
	}
	p, err := readPage(ex, refIDs, at, s.client.time.answeredAt(ex.header))
	if err == nil && s.client.witness.watchList != nil {
		l := p.list(refIDs, target)
		l.Alone = s.client.lookups.alone.Load()
		s.client.witness.watchList(l)
	}
	return p, err
}

// getPatiently asks for something that changes nothing, in several tries, until the answer is 200 and of the service itself:
// another 2xx does not say that it is whole, and that of a cache is of an earlier time. Other answers are for refused.
func (c *Client) getPatiently(ctx context.Context, what call, refused func(exchange) error) (exchange, error) {
	what.method = http.MethodGet
	var last error
	renewed := false
	for try := range findTries {
		with, err := c.tokens.get(ctx, 0)
		if err != nil {
			return exchange{}, err
		}
		ex := c.do(ctx, what, with)
		var old error
		if ex.err == nil {
			old = c.time.checkFresh(ex.header)
		}
		switch {
		case old != nil:
			last = old
		case ex.err == nil && ex.status == http.StatusOK:
			return ex, nil
		case ex.status == http.StatusUnauthorized && !renewed:
			renewed = true
			if _, err := c.tokens.replace(ctx, with); err != nil {
				return exchange{}, err
			}
			last = errors.New("the service refused the token")
			continue
		case ex.err != nil:
			last = errors.New(c.wording.describe(ex.err))
		default:
			last = refused(ex)
		}
		if ex.err == nil && old == nil && !mayPass(ex.status) {
			return exchange{}, last
		}
		if try < findTries-1 && !sleep(ctx, c.findPause(try, ex)) {
			return exchange{}, ctx.Err()
		}
	}
	return exchange{}, last
}

// mayPass reports whether a request that changes nothing, and was answered with this status, may
// succeed when it is tried again.
func mayPass(status int) bool {
	return status >= 500 || doubt.IsCut(status) || status == http.StatusTooEarly || status == http.StatusTooManyRequests
}

func (c *Client) findPause(try int, ex exchange) time.Duration {
	if ex.header != nil {
		if asked := c.retryAfter(ex.header); asked > 0 {
			return min(asked, findPauseMax)
		}
	}
	return findPause << try
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// findTarget returns the address of one page of a lookup.
func (s *search) findTarget(refIDs []string, cursor string) *url.URL {
	target, err := s.client.target(s.client.lookupPath)
	if err != nil {
		panic(err) // New has checked it
	}
	query := url.Values{"ref_ids": refIDs}
	if cursor != "" {
		query.Set("page_cursor", cursor)
	}
	target.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // a space: some read a + as itself
	return target
}

// answerWords describes an answer, with the service's own words of a problem.
func answerWords(ex exchange) string {
	text := "the service answered " + statusWords(ex.status)
	if p, ok := parseProblem(ex.body); ok {
		text += " (" + p.words() + ")"
	}
	return text
}

// findError says what an answer other than a list means for a lookup, and what to look at.
func (s *search) findError(ex exchange, target *url.URL) error {
	text := answerWords(ex)
	switch ex.status {
	case http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		return &tooLongError{text: text, bytes: len(target.RequestURI())}
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		if n := len(target.Query()["ref_ids"]); n > 1 {
			text += fmt.Sprintf("; %d ref_ids were asked for at once: where the service takes fewer, write lookup_max", n)
		}
	case http.StatusForbidden:
		text += fmt.Sprintf("; check that scopes holds the one that allows to read transfers, such as transfer:read_transfer, and that lookup_path, which is %q, is right", s.client.lookupPath) + s.client.lackingWords()
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		text += fmt.Sprintf("; check lookup_path, which is %q, and that scopes holds the one that allows to read transfers, such as transfer:read_transfer", s.client.lookupPath)
	}
	return errors.New(text)
}

// readPage reads {"items":[record…],"next_page_cursor":"…"}. An answer without items, or with
// two lists of them, is an error: taken for an empty list it would say that nothing was made.
// So would an item without a ref_id, if it was left out. Records of ref_ids that were not asked for are, whatever
// they look like; only that they are listed is kept, see holdUnlisted. An item that came before, byte for byte, is passed over.
func readPage(ex exchange, refIDs []string, at *turner, answeredAt time.Time) (page, error) {
	if isEmpty(ex.body) {
		return page{}, fmt.Errorf("the service answered %s with an empty body", statusWords(ex.status))
	}
	in, err := ex.object()
	if err != nil {
		return page{}, err
	}
	raw, ok := in["items"]
	var items []json.RawMessage
	if !ok || json.Unmarshal(raw, &items) != nil || items == nil { // null is no list
		return page{}, errors.New("the answer has no list of items")
	}
	p := page{unreadable: make(map[string]string), groups: make(map[string]string)}
	if raw, ok := in["next_page_cursor"]; ok && json.Unmarshal(raw, &p.next) != nil {
		return page{}, errors.New("next_page_cursor is not a string")
	}
	if name := transfer.PartOf(in, p.next); name != "" {
		return page{}, fmt.Errorf("the list says by its field %s that it is not whole", name)
	}
	delete(in, "items")
	p.items, p.envelopes = len(items), []envelope{{ex.header, in}}
	if p.next == "" && hasNextLink(ex.header) {
		return page{}, errors.New("the list says by its header Link that it is not whole")
	}
	for _, item := range items {
		if at.isNew(item) {
			p.take(item, refIDs, answeredAt)
		}
	}
	return p, nil
}

// take reads an item of a page that the service answered at the given time.
func (p *page) take(item json.RawMessage, refIDs []string, answeredAt time.Time) {
	refID, groupID, err := whoseIs(item)
	if credit := recordIn(item); errors.Is(err, errNameless) && credit != nil && credit.Direction == transfer.Credit && credit.GroupID != "" {
		credit.AnsweredAt = answeredAt
		p.nameless = append(p.nameless, *credit)
		return
	}
	if err != nil {
		p.stray = err.Error()
		return
	}
	p.listed = append(p.listed, refID)
	if groupID != "" {
		p.groups[groupID] = refID
	}
	if !slices.Contains(refIDs, refID) {
		p.others = append(p.others, other{refID, groupID})
		return
	}
	if groupID != "" {
		p.ofAsked = append(p.ofAsked, groupID)
	}
	record, err := transfer.ParseRecord(item)
	if err != nil {
		p.unreadable[refID] = err.Error()
		return
	}
	record.AnsweredAt = answeredAt
	p.records = append(p.records, named{record, refID})
}

// list returns the description of the page for a watcher.
func (p *page) list(refIDs []string, target *url.URL) List {
	l := List{Asked: len(refIDs), Length: len(target.RequestURI()), Items: len(p.listed) + len(p.nameless), More: p.next != ""}
	for _, refID := range p.listed {
		if !slices.Contains(refIDs, refID) {
			l.Others++
		}
	}
	return l
}

// whoseIs reads the ref_id of an item, and its group_id where it has one.
func whoseIs(item json.RawMessage) (refID, groupID string, err error) {
	fields, err := transfer.ObjectFields(item)
	if err != nil {
		return "", "", fmt.Errorf("an item cannot be read as a transfer record: %w", err)
	}
	if json.Unmarshal(fields["group_id"], &groupID) != nil {
		groupID = ""
	}
	if json.Unmarshal(fields["ref_id"], &refID) != nil || refID == "" {
		return "", "", errNameless
	}
	return refID, groupID, nil
}
