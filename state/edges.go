package state

// Edge is one way in which the status of a ref_id can change, or be confirmed.
type Edge struct {
	From    Status // zero: never intended
	Open    bool   // the latest attempt must have no outcome yet
	Doubted bool   // of InDoubt with Open: an earlier attempt is in doubt
	Source  Source // "" for an [Intent]
	Says    Status // of the [Outcome]; zero for an Intent
	Listed  bool   // the Outcome has what a list says in place of records
	To      Status
	Cause   string // in words, for people
}

// Edges lists every change that [Transfer.Apply] allows, once. An edge that is Open is for
// an open attempt only, with and without Doubted told apart; every other edge holds whether
// an attempt is open or not. An edge that is Listed is for the intent directly before it, or, from
// a status in which there is more than an intent, for a row that is [Transfer.IsListed]. A transfer that is
// not in the list is refused.
//
// One change is left out: a lookup that says unverified, with the fields in which the newer copy of the
// record falls short as its differences, makes a recorded or adopted transfer unverified.
func Edges() []Edge {
	var edges []Edge
	add := func(e Edge) { edges = append(edges, e) }

	for _, from := range []Status{0, Unsent, Refused} {
		add(Edge{From: from, To: InDoubt, Cause: "a request is about to be sent"})
	}
	add(Edge{From: InDoubt, To: InDoubt, Cause: "the recorded request is about to be sent again"})

	for _, doubted := range []bool{false, true} {
		answer := func(says, to Status, cause string) {
			add(Edge{From: InDoubt, Open: true, Doubted: doubted, Source: SourceAnswer, Says: says, To: to, Cause: cause})
		}
		answer(Recorded, Recorded, "the answer's record agrees")
		answer(Adopted, Adopted, "the answer's record agrees and is older than the intent")
		answer(Unverified, Unverified, "the answer's record agrees, is older than the intent and does not prove the destination")
		answer(Conflict, Conflict, "the answer's record disagrees")
		answer(InDoubt, InDoubt, "no answer, or one that says nothing")
		if doubted {
			answer(Refused, InDoubt, "the service said no, but an earlier attempt is in doubt")
			answer(Unsent, InDoubt, "nothing was written, but an earlier attempt is in doubt")
		} else {
			answer(Refused, Refused, "the service said no")
			answer(Unsent, Unsent, "nothing was written")
		}
	}
	return append(append(append(edges, lookupEdges()...), personEdges()...), listEdges()...)
}

func listEdges() []Edge {
	return []Edge{
		{Source: SourceImport, Says: Unverified, Listed: true, To: Unverified, Cause: "a list has it, with its amount, and nobody declares it"},
		{From: InDoubt, Open: true, Source: SourceImport, Says: Unverified, Listed: true, To: Unverified, Cause: "a list has what is declared; nothing was sent under the intent"},
		{From: InDoubt, Open: true, Source: SourceImport, Says: Conflict, Listed: true, To: Conflict, Cause: "a list has it otherwise than it is declared; nothing was sent under the intent"},
		{From: Unverified, Source: SourcePerson, Says: Adopted, Listed: true, To: Adopted, Cause: "a person takes the list's word for it, without a record"},
		{From: Conflict, Source: SourcePerson, Says: Adopted, Listed: true, To: Adopted, Cause: "a person takes the list's word for it, without a record"},
	}
}

func lookupEdges() []Edge {
	var edges []Edge
	lookup := func(from, says, to Status, cause string) {
		edges = append(edges, Edge{From: from, Source: SourceLookup, Says: says, To: to, Cause: cause})
	}
	lookup(InDoubt, Recorded, Recorded, "the record of our own intent was found and agrees")
	lookup(InDoubt, Adopted, Adopted, "a record that is older than the intent was found and agrees")
	lookup(InDoubt, Unverified, Unverified, "a record that is older than the intent was found and does not prove the destination")
	lookup(InDoubt, Conflict, Conflict, "a record was found that disagrees")
	lookup(InDoubt, InDoubt, InDoubt, "nothing was found that decides")
	for _, from := range []Status{Unsent, Refused} {
		lookup(from, Adopted, Adopted, "a record was found although nothing should have been made, and agrees")
		lookup(from, Unverified, Unverified, "a record was found although nothing should have been made, and does not prove the destination")
		lookup(from, Conflict, Conflict, "a record was found that disagrees")
	}
	for _, from := range []Status{Recorded, Adopted, Unverified} {
		for _, says := range []Status{Recorded, Adopted, Unverified} {
			if from == Unverified && says != Unverified {
				lookup(from, says, Adopted, "records were found that prove the destination")
				continue
			}
			lookup(from, says, from, "the same record was found again, perhaps with another status of the service")
		}
		lookup(from, Conflict, Conflict, "the record no longer agrees, or there is a second one")
	}
	for _, says := range []Status{Adopted, Unverified} {
		edges = append(edges, Edge{Source: SourceImport, Says: says, To: says, Cause: "an exported record was imported"})
	}
	return edges
}

func personEdges() []Edge {
	var edges []Edge
	person := func(from, says, to Status, cause string) {
		edges = append(edges, Edge{From: from, Source: SourcePerson, Says: says, To: to, Cause: cause})
	}
	for _, from := range Statuses() {
		for _, says := range []Status{Recorded, Adopted} {
			switch from {
			case Recorded, Adopted:
				person(from, says, from, "a person gave a newer copy of the record")
			case Unverified:
				person(from, says, Adopted, "a person accepted the record")
			case Conflict:
				person(from, says, says, "a person accepted it as the service has it")
			case Unsent, InDoubt, Refused, Tombstone:
				person(from, says, says, "a person gave the record")
			}
		}
		if from != Tombstone {
			person(from, Tombstone, Tombstone, "a person settled it as not made, or forgot it")
		}
	}
	return edges
}
