//go:build unix

package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
	"time"

	"remit/internal/sandbox"
	"remit/internal/transfer"
)

const (
	tokenPath  = "/oauth2/token"
	lookupPath = "/v2/transfers"
	customer   = "c0ffee00-0000-4000-8000-000000000001"
)

// movement is a transfer that the bank made.
type movement struct {
	message
	request    transfer.Request
	at         time.Time
	seen       time.Time // at, by the bank's clock
	number     int
	isFailed   bool      // it moved nothing
	completeAt time.Time // until then PENDING
	amount     string    // that was really moved
	sick       map[sandbox.FaultKind]bool
	shown      map[string]bool // ids of debit sides that anybody was shown
	// isShownWhole says that anybody was shown a record with all that it must have.
	isShownWhole bool
	isShownTrue  bool // anybody was shown one that agrees with the request
}

// bank is the service. It is the truth about the money.
type bank struct {
	world  *world
	made   map[string][]*movement // by ref_id, in order
	count  int
	tokens map[string]time.Time // when each ends to be good
	issued int
	jumps  []jump // of its clock, in order
}

// grant issues a token.
func (b *bank) grant() reply {
	if b.world.faulty(sandbox.TokenError) {
		return reply{status: 503, body: `{"error":"temporarily_unavailable"}`}
	}
	b.issued++
	name := fmt.Sprintf("token-%d", b.issued)
	life := b.world.kernel.between(time.Minute, time.Hour)
	b.tokens[name] = b.world.kernel.Now().Add(life)
	return reply{status: 200, body: fmt.Sprintf(`{"access_token":%q,"token_type":"bearer","expires_in":%d}`, name, int(life.Seconds()))}
}

func problem(status int, kind, meta string) reply {
	if meta != "" {
		meta = `,"meta":` + meta
	}
	return reply{status: status, body: fmt.Sprintf(`{"type":"https://bank.example/problems/%s","title":"%s","status":%d%s}`, kind, kind, status, meta)}
}

// create answers a request to create: the answer, and the fate of the answer.
func (b *bank) create(m message) (reply, fate) {
	w := b.world
	if r, refused := b.refuse(m); refused {
		return r, arrives
	}
	operation := transfer.Platform
	if m.path == transfer.DefaultOperator.Path(transfer.Internal) {
		operation = transfer.Internal
	}
	request, err := transfer.ParseRequest(operation, []byte(m.body), w.traits.fingerprintKey)
	if err != nil {
		return problem(400, "unreadable", ""), arrives
	}
	r, made := b.replay(m)
	if !made {
		r = reply{status: 201, body: b.record(b.make(m, request), transfer.Debit)}
	}
	return b.spoil(m, r)
}

// hasForgotten reports whether the bank made a transfer and would make it again.
func (b *bank) hasForgotten(refID string) bool {
	list := b.made[refID]
	return len(list) > 0 && b.forgets(list[0])
}

// forgets reports whether the bank does not know a ref_id any more. It counts by its own clock, whatever that is set to,
// where it says in a Date what it is set to; else by a clock that nobody sets, as no client could know better.
func (b *bank) forgets(m *movement) bool {
	w := b.world
	age := b.clock().Sub(m.seen)
	if w.traits.clocks.noDate {
		age = w.kernel.Now().Sub(m.at)
	}
	return w.traits.forgets && age > w.traits.replayWindow
}

// refuse is the bank's step before it looks at its books.
func (b *bank) refuse(m message) (reply, bool) {
	w, k := b.world, b.world.kernel
	end, known := b.tokens[m.token]
	if w.faulty(sandbox.TokenExpired) {
		delete(b.tokens, m.token)
		known = false
	}
	switch {
	case !known || k.Now().After(end):
		return problem(401, "unauthorized", ""), true
	case w.faulty(sandbox.ErrorBefore):
		return problem([]int{500, 502, 503, 504, 408}[k.random.IntN(5)], "told-to-fail", ""), true
	case w.faulty(sandbox.Throttled):
		wait := []time.Duration{0, time.Second, 3 * time.Second, 20 * time.Second, 10 * time.Minute}[k.random.IntN(5)]
		if w.traits.shares.joins > 0 {
			wait = min(wait, 20*time.Second) // runners look after one another each second
		}
		r := problem(429, "too-many-requests", "")
		r.retryAfter = wait
		return r, true
	case w.faulty(sandbox.TooEarly):
		return problem(425, "too-early", ""), true
	case w.faulty(sandbox.Redirect):
		return reply{status: []int{301, 302, 303, 307, 308}[k.random.IntN(5)], location: "https://elsewhere.example/"}, true
	case w.faulty(sandbox.Refuse):
		if k.chance(0.1) {
			return reply{status: []int{404, 405}[k.random.IntN(2)], body: "nothing here"}, true
		}
		return problem([]int{400, 403, 404, 422}[k.random.IntN(4)], "told-to-refuse", ""), true
	}
	return reply{}, false
}

// replay answers a ref_id that the bank remembers.
func (b *bank) replay(m message) (reply, bool) {
	w := b.world
	list := b.made[m.refID]
	if len(list) == 0 {
		return reply{}, false
	}
	first := list[0]
	if b.forgets(first) {
		return reply{}, false
	}
	w.count("replay " + w.traits.replay)
	same := first.body == m.body && first.path == m.path
	switch {
	case w.traits.replay == sandbox.ReplayConflict, w.traits.replay == "" && !same:
		return problem(409, "already-exists", ""), true
	case w.traits.replay == sandbox.ReplayExisting:
		return problem(409, "conflict", `{"existing":`+b.record(first, transfer.Debit)+`}`), true
	}
	return reply{status: 200, body: b.record(first, transfer.Debit)}, true
}

// make moves money.
func (b *bank) make(m message, request transfer.Request) *movement {
	w := b.world
	b.count++
	made := &movement{
		message: m, request: request, at: w.kernel.Now(), seen: b.clock(), number: b.count, amount: request.Amount.String(),
		sick: make(map[sandbox.FaultKind]bool), shown: make(map[string]bool),
	}
	for _, kind := range recordFaults() {
		if w.faulty(kind) {
			made.sick[kind] = true
		}
	}
	if w.faulty(movedWrong) {
		made.amount = request.Amount.Decimal().Add(transfer.MustAmount("1").Decimal()).String()
		made.sick[movedWrong] = true
	}
	if made.isFailed = w.faulty(sandbox.Fail); made.isFailed {
		delete(made.sick, sandbox.NovelStatus) // which would hide it
	}
	if w.kernel.chance(w.traits.pending) {
		made.completeAt = made.at.Add(w.kernel.between(time.Second, 3*time.Minute))
	}
	b.made[m.refID] = append(b.made[m.refID], made)
	w.log("the bank makes %s: %s %s", m.refID, made.amount, request.Asset)
	w.oracle.made(made)
	return made
}

// spoil damages an answer after the books were written.
func (b *bank) spoil(m message, r reply) (reply, fate) {
	w := b.world
	switch {
	case w.faulty(sandbox.LostAnswer):
		return r, lost
	case w.faulty(sandbox.HangAfter):
		return r, hangs
	case w.faulty(sandbox.HalfAnswer):
		return r, halved
	case w.faulty(sandbox.ErrorAfter):
		return problem([]int{500, 502, 503, 504}[w.kernel.random.IntN(4)], "told-to-fail", ""), arrives
	case w.faulty(sandbox.Endless):
		return reply{status: 200, body: strings.Repeat("x", 1<<20+1)}, arrives
	case w.faulty(sandbox.Garbage):
		return reply{status: 200, body: "<html>It works!</html>"}, arrives
	case w.faulty(sandbox.Answer):
		if list := b.made[m.refID]; len(list) > 0 && w.kernel.chance(0.5) {
			return reply{status: 200, body: b.record(list[0], transfer.Credit)}, arrives
		}
		return reply{status: 204}, arrives
	}
	return r, arrives
}

// record writes one side of a movement as the bank shows it.
func (b *bank) record(m *movement, side transfer.Direction) string {
	sick := m.sick
	if b.world.healed {
		sick = nil
	}
	if sick[sandbox.WrongCustomer] && !b.world.oracle.knowsCustomer() {
		sick = maps.Clone(sick)
		delete(sick, sandbox.WrongCustomer) // the first record names the customer
	}
	id := fmt.Sprintf("%s-%d", strings.ToLower(string(side)), m.number)
	profile, metadata := m.request.FromProfileID, m.request.SentMetadata()
	if side == transfer.Credit {
		profile = m.request.ToProfileID
		if m.request.Operation == transfer.Platform {
			metadata = m.request.RecipientMetadata
		}
	}
	created := m.seen
	fields := map[string]any{
		"id": id, "customer_id": customer, "profile_id": profile, "amount": m.amount, "total": m.amount, "fee": "0",
		"asset": m.request.Asset, "direction": string(side), "type": string(transfer.DefaultOperator.RecordType(m.request.Operation, side)),
		"status": string(b.status(m)), "ref_id": m.refID, "group_id": groupOf(m.number),
	}
	if len(metadata) > 0 {
		pairs := make(map[string]string)
		for _, p := range metadata {
			pairs[p.Key] = p.Value
		}
		fields["metadata"] = pairs
	}
	if sick[sandbox.Backdated] {
		created = created.Add(-time.Hour)
	}
	fields["created_at"], fields["updated_at"] = created.UTC().Format(time.RFC3339Nano), created.UTC().Format(time.RFC3339Nano)
	spoilFields(fields, sick)
	if side == transfer.Debit {
		shown, _ := fields["id"].(string)
		m.shown[shown] = true
		m.isShownWhole = m.isShownWhole || len(sick) == 0
		m.isShownTrue = m.isShownTrue || !lies(sick)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err) // strings
	}
	return string(text)
}

// lies reports whether a record with these faults says something else than was asked for. Of a wrong ref_id
// a lookup by the right one says nothing.
func lies(sick map[sandbox.FaultKind]bool) bool {
	return sick[sandbox.WrongAmount] || sick[sandbox.WrongAsset] || sick[sandbox.WrongProfile] || sick[sandbox.WrongCustomer] || sick[wrongMetadata]
}

func groupOf(number int) string { return fmt.Sprintf("group-%d", number) }

func spoilFields(fields map[string]any, sick map[sandbox.FaultKind]bool) {
	for _, kind := range recordFaults() {
		if sick[kind] {
			spoilField(fields, kind)
		}
	}
}

func spoilField(fields map[string]any, kind sandbox.FaultKind) {
	amount, _ := fields["amount"].(string)
	switch kind { //nolint:exhaustive // the others are not of a record's fields
	case sandbox.Rescaled:
		if !strings.Contains(amount, ".") {
			amount += "."
		}
		fields["amount"] = amount + "0000"
	case sandbox.WrongAmount:
		fields["amount"] = "1" + amount
	case sandbox.WrongAsset:
		fields["asset"] = "XAU"
	case sandbox.WrongProfile:
		fields["profile_id"] = "somebody"
	case sandbox.WrongRefID:
		fields["ref_id"] = "another"
	case sandbox.WrongCustomer:
		fields["customer_id"] = "somebody"
	case sandbox.SameID:
		fields["id"] = "the-only-id"
	case wrongMetadata:
		fields["metadata"] = map[string]string{"what": "ever"}
	case noGroup:
		delete(fields, "group_id")
	case foreignGroup:
		fields["group_id"] = groupOf(1)
	case wrongTotal:
		fields["fee"], fields["total"] = "1.00", "9"+amount
	case feeOnTop, feeWithin:
		fee := transfer.MustAmount("0.01").Decimal()
		total := transfer.MustAmount(amount).Decimal().Add(fee)
		if kind == feeWithin {
			total = total.Sub(fee).Sub(fee)
		}
		fields["fee"], fields["total"] = "0.01", total.String()
	case sandbox.Bare:
		delete(fields, "metadata")
		delete(fields, "group_id")
		delete(fields, "ref_id")
	case sandbox.Novel:
		fields["mood"], fields["crypto_network"] = map[string]any{"is": "good"}, "MOON"
	case sandbox.NovelStatus:
		fields["status"] = "ON_HOLD"
	}
}

func (b *bank) status(m *movement) transfer.RecordStatus {
	switch {
	case m.isFailed:
		return transfer.Failed
	case b.world.kernel.Now().Before(m.completeAt):
		return transfer.Pending
	}
	return transfer.Completed
}

// item is one side of a movement in the answer to a lookup.
type item struct {
	refID, text string
	isTorn      bool // it can't be read
}

// find answers a lookup of a process, which from then on knows what of it can't be read.
func (b *bank) find(p *process, m message) reply {
	w := b.world
	if w.faulty(sandbox.LookupError) {
		return problem(400, "told-to-fail", "") // of those that are tried again the client waits in real time
	}
	query, err := url.ParseQuery(m.query)
	if err != nil {
		return problem(400, "unreadable", "")
	}
	items := b.list(query["ref_ids"])
	const page = 3
	from := 0
	if cursor := query.Get("page_cursor"); cursor != "" {
		_, _ = fmt.Sscan(cursor, &from) // the bank wrote it
	}
	next := ""
	if len(items) > from+page {
		next = fmt.Sprint(from + page)
	}
	items = items[min(from, len(items)):min(from+page, len(items))]
	w.log("lookup of %v finds %d", query["ref_ids"], len(items))
	p.heard.found(query["ref_ids"], items, from == 0, next == "")
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.text
	}
	return reply{status: 200, body: fmt.Sprintf(`{"items":[%s],"next_page_cursor":%q}`, strings.Join(texts, ","), next)}
}

// list is what the bank shows of ref_ids.
func (b *bank) list(refIDs []string) []item {
	w := b.world
	var items []item
	for _, refID := range refIDs {
		for _, made := range b.made[refID] {
			if !w.healed && w.kernel.Now().Sub(made.at) < w.traits.late {
				w.count(string(sandbox.Late))
				continue
			}
			for _, text := range b.sides(made) {
				shown := item{refID: refID, text: text}
				if w.faulty(torn) {
					pieces := []string{`null`, `{"ref_id":7}`, fmt.Sprintf(`{"ref_id":%q}`, refID)}
					shown.text, shown.isTorn = pieces[w.kernel.random.IntN(len(pieces))], true
				}
				items = append(items, shown)
			}
		}
	}
	return items
}

// sides are the records of a movement that a lookup shows.
func (b *bank) sides(m *movement) []string {
	mode := b.world.traits.lookupShows
	if b.world.healed {
		mode = ""
	}
	show := func(side transfer.Direction) string {
		text := b.record(m, side)
		if m.sick[sandbox.Bare] || m.sick[sandbox.WrongRefID] { // a lookup by ref_id names it
			var fields map[string]any
			if err := json.Unmarshal([]byte(text), &fields); err != nil {
				panic(err) // it was just written
			}
			fields["ref_id"] = m.refID
			again, err := json.Marshal(fields)
			if err != nil {
				panic(err) // strings
			}
			text = string(again)
		}
		return text
	}
	switch mode {
	case "debit":
		return []string{show(transfer.Debit)}
	case "credit":
		return []string{show(transfer.Credit)}
	}
	return []string{show(transfer.Debit), show(transfer.Credit)}
}
