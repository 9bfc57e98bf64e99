package rehearsal

import "github.com/shopspring/decimal"

// workMax bounds the steps that lowestOfAll takes for all accounts: some seconds.
const workMax = 50_000_000

// lowestOfAll finds the lowest balance of each account over all orders that dependencies allow.
//
// A balance is lowest after some set of transfers that holds, with each of its transfers, all
// that it waits for. The set to find makes what the account pays, less what it must be paid
// before, as large as can be: a closure of greatest weight, whose complement is a minimum cut
// (Picard, "Maximal closure of a graph and applications to combinatorial problems", 1976). Transfers
// that wait for the same, and that the same wait for, are one class: dependencies between
// batches make few of them.
func (b *ledger) lowestOfAll() {
	classes := b.classify()
	work := 0
	for i := range b.accounts {
		a := &b.accounts[i]
		out, cut, known := classes.heaviest(int32(i), &work)
		a.LowestKnown = known
		a.LowestOfAll = a.Opening.Sub(out)
		if known {
			a.LowestOfAll = a.LowestOfAll.Add(cut)
		}
	}
}

// class is movements that wait for the same group and are members of the same groups.
type class struct {
	after int32 // none for nothing
	sums  map[int32]*sums
}

// sums are what the movements of a class pay into an account and out of it.
type sums struct{ in, out decimal.Decimal }

// classes are all classes, and how they hang together.
type classes struct {
	list    []class
	members [][]int32         // classes by groups
	of      map[int32][]int32 // classes by the accounts that they pay out of
}

func (b *ledger) classify() *classes {
	cs := &classes{members: make([][]int32, len(b.groups)), of: make(map[int32][]int32)}
	type signature struct {
		after int32
		in    string
	}
	numbers := make(map[signature]int32)
	for i := range b.movements {
		m := &b.movements[i]
		groups := b.inGroups[int32(i)]
		s := signature{m.after, textOf(groups)}
		n, isKnown := numbers[s]
		if !isKnown {
			n = int32(len(cs.list))
			numbers[s] = n
			cs.list = append(cs.list, class{after: m.after, sums: make(map[int32]*sums)})
			for _, g := range groups {
				cs.members[g] = append(cs.members[g], n)
			}
		}
		if m.from == m.to || m.left {
			continue // moves nothing between accounts
		}
		to := cs.list[n].of(m.to)
		to.in = to.in.Add(m.amount)
		if m.from == none {
			continue
		}
		from := cs.list[n].of(m.from)
		if from.out.IsZero() {
			cs.of[m.from] = append(cs.of[m.from], n)
		}
		from.out = from.out.Add(m.amount).Add(m.fee)
	}
	return cs
}

func (c *class) of(account int32) *sums {
	s := c.sums[account]
	if s == nil {
		s = new(sums)
		c.sums[account] = s
	}
	return s
}

// textOf makes a list of groups comparable.
func textOf(groups []int32) string {
	text := make([]byte, 0, 4*len(groups))
	for _, g := range groups {
		text = append(text, byte(g), byte(g>>8), byte(g>>16), byte(g>>24))
	}
	return string(text)
}

// heaviest returns all that is paid out of an account, and the least of it that can't be
// counted, or is made good by money that must come in before. Known is false where finding that
// takes too long; work counts the steps for all accounts so far.
func (cs *classes) heaviest(account int32, work *int) (out, cut decimal.Decimal, known bool) {
	n := network{classes: cs, account: account, work: work, groups: make(map[int32]*node), seen: make(map[int32]*node)}
	n.source, n.sink = new(node), new(node)
	for _, c := range cs.of[account] {
		class := &cs.list[c]
		paid := class.sums[account].out
		out = out.Add(paid)
		if class.after == none {
			continue
		}
		n.link(n.source, n.group(class.after), paid, false)
	}
	for len(n.open) > 0 {
		g := n.open[len(n.open)-1]
		n.open = n.open[:len(n.open)-1]
		n.expand(g)
		if *work > workMax {
			return out, cut, false
		}
	}
	if !n.drains {
		return out, cut, true // nothing must come in before
	}
	cut, known = n.flow()
	return out, cut, known
}

// network is the graph whose minimum cut is asked for, of one account.
type network struct {
	*classes
	account      int32
	work         *int
	source, sink *node
	groups       map[int32]*node
	seen         map[int32]*node // classes
	open         []int32         // groups that are not expanded yet
	drains       bool            // something flows into the sink
}

type node struct {
	edges []*edge
	from  *edge // by which a search came
	round int   // the latest search that came
}

// edge has a twin that leads back, which takes as much as flows here.
type edge struct {
	to, back *node
	twin     *edge
	left     decimal.Decimal // how much more it takes
	endless  bool
}

func (n *network) link(from, to *node, capacity decimal.Decimal, endless bool) {
	there := &edge{to: to, back: from, left: capacity, endless: endless}
	back := &edge{to: from, back: to, twin: there}
	there.twin = back
	from.edges, to.edges = append(from.edges, there), append(to.edges, back)
}

func (n *network) group(g int32) *node {
	at := n.groups[g]
	if at == nil {
		at = new(node)
		n.groups[g] = at
		n.open = append(n.open, g)
	}
	return at
}

// expand links a group with the classes of its members, and these with what they wait for.
func (n *network) expand(g int32) {
	for _, c := range n.members[g] {
		*n.work++
		at := n.seen[c]
		if at == nil {
			at = new(node)
			n.seen[c] = at
			class := &n.list[c]
			if class.after != none {
				n.link(at, n.group(class.after), decimal.Decimal{}, true)
			}
			if s := class.sums[n.account]; s != nil && s.in.IsPositive() {
				n.link(at, n.sink, s.in, false)
				n.drains = true
			}
		}
		n.link(n.groups[g], at, decimal.Decimal{}, true)
	}
}

// flow is the greatest flow from source to sink, along shortest ways first (Edmonds and Karp).
func (n *network) flow() (total decimal.Decimal, known bool) {
	for round := 1; ; round++ {
		if !n.search(round) {
			return total, true
		}
		if *n.work > workMax {
			return total, false
		}
		least := n.sink.from.left // an edge into the sink is never endless
		for e := n.sink.from; e != nil; e = e.back.from {
			if !e.endless && e.left.LessThan(least) {
				least = e.left
			}
		}
		for e := n.sink.from; e != nil; e = e.back.from {
			e.left, e.twin.left = e.left.Sub(least), e.twin.left.Add(least)
		}
		total = total.Add(least)
	}
}

// search finds a way from source to sink on which more can flow.
func (n *network) search(round int) bool {
	n.source.round, n.source.from = round, nil
	for queue := []*node{n.source}; len(queue) > 0; queue = queue[1:] {
		for _, e := range queue[0].edges {
			*n.work++
			if e.to.round == round || !e.endless && !e.left.IsPositive() {
				continue
			}
			e.to.round, e.to.from = round, e
			if e.to == n.sink {
				return true
			}
			queue = append(queue, e.to)
		}
	}
	return false
}
