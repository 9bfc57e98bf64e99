//go:build unix

package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"remit/executor"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// readAdvice is what remit status prints as the next command for each transfer that asks for a person, or
// as the remedy of a plan that can't be applied. It runs as an event.
func (p *process) readAdvice() (map[string]advised, error) {
	ctx, w := context.Background(), p.world
	snapshot, err := p.journal.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	plan, err := planner.New(ctx, w.author.transfers(), snapshot, w.planControls(snapshot, p), p.Now())
	if err != nil {
		return nil, err
	}
	says := make(map[string]advised)
	for _, obstacle := range plan.Obstacles {
		for _, refID := range obstacle.RefIDs {
			if obstacle.Kind == planner.ObstacleConflict && obstacle.Remedy != "" { // it is about the first of them
				says[refID] = advised{obstacle.Detail, strings.ReplaceAll(obstacle.Remedy, obstacle.RefIDs[0], refID)}
			}
		}
	}
	for _, group := range plan.StatusGroups() {
		for i := range group.First {
			c := &group.First[i]
			if c.Next != "" {
				says[c.RefID] = advised{c.Reason, c.Next}
			} else if group.Next != "" {
				says[c.RefID] = advised{c.Reason, strings.ReplaceAll(group.Next, "REF_ID", c.RefID)}
			}
		}
	}
	return says, nil
}

// advised is what remit says about a transfer: a sentence, and the command to type.
type advised struct{ said, next string }

// advice is what somebody makes of what remit says about one transfer: nothing but the words that are printed decides.
type advice struct {
	process *process
	given   executor.Resolution
	truth   []transfer.Record // the records that the bank's portal shows, which stand for FILE
}

// follow types what is printed, and what that prints, until a command prints no next one. It returns how many commands that
// were. The error is that of the last one.
func (a *advice) follow(ctx context.Context, first advised) (commands int, err error) {
	for one := first; one.next != ""; {
		if commands++; commands > commandsMax {
			return commands, err
		}
		if one, err = a.typed(ctx, one); err != nil && one.next == "" {
			return commands, err
		}
	}
	return commands, err
}

// typed types a command, and returns what it prints.
func (a *advice) typed(ctx context.Context, one advised) (advised, error) {
	refID := a.given.RefID
	words := wordsOf(one.next)
	if len(words) == 4 && slices.Equal(words[:3], []string{"remit", "state", "show"}) && words[3] == refID {
		return a.shown()
	}
	if len(words) < 3 || words[0] != "remit" || words[1] != "resolve" || words[2] != refID {
		return advised{}, fmt.Errorf("nobody can type %q about %s", one.next, refID)
	}
	var t typedWord
	if err := t.read(words[3:]); err != nil {
		return advised{}, fmt.Errorf("%q: %w", one.next, err)
	}
	isWord := t.isRecorded || t.isAccepted || t.isNotMade
	if isWord && t.reason == "" {
		return advised{}, fmt.Errorf("%q lacks the --reason that remit asks for", one.next)
	}
	if t.isRecorded && len(a.truth) == 0 { // there is none to give
		if !strings.Contains(one.said, "--not-made") {
			return advised{}, fmt.Errorf("the bank has no record to give, and nothing else is said: %q %q", one.said, one.next)
		}
		t = typedWord{isNotMade: true}
	}
	if !isWord && !a.process.world.traits.hasLookup {
		return a.shown() // which says what resolve does
	}
	err := a.resolve(ctx, t)
	if err == nil {
		return advised{}, nil
	}
	more, next := executor.Remedy(err, refID, "FILE")
	return advised{err.Error() + ". " + more, next}, err
}

// resolve is remit resolve with these flags.
func (a *advice) resolve(ctx context.Context, t typedWord) error {
	var err error
	switch {
	case t.isNotMade:
		_, err = executor.ResolveNotMade(ctx, a.given)
	case t.isAccepted && t.isRecorded:
		_, err = executor.ResolveAcceptRecord(ctx, a.given, a.truth)
	case t.isAccepted:
		_, err = executor.ResolveAcceptRecord(ctx, a.given, nil)
	case t.isRecorded:
		_, err = executor.ResolveRecorded(ctx, a.given, a.truth)
	default:
		if _, err = a.process.client.Ready(ctx); err == nil {
			_, err = executor.ResolveByLookup(ctx, a.given, finder{a.process})
		}
	}
	return err
}

// shown is what remit state show, or remit resolve without a flag where nothing can be looked up, says of a transfer in
// doubt.
func (a *advice) shown() (advised, error) {
	p, refID := a.process, a.given.RefID
	snapshot, err := gated{p}.Snapshot(context.Background())
	if err != nil {
		return advised{}, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	details, err := snapshot.Details(context.Background(), refID)
	switch {
	case err != nil:
		return advised{}, err
	case len(details) == 0 || details[0].Status != state.InDoubt:
		return advised{}, nil // it is settled
	}
	d := doubt.Of(&details[0], p.world.traits.hasLookup)
	if !d.Hold.Holds() && p.world.traits.holdDoubt {
		d.Hold = doubt.OnDoubt()
	}
	return advised{d.Sentence(), d.Next()}, nil
}

// typedWord are the flags of a remit resolve.
type typedWord struct {
	isRecorded, isAccepted, isNotMade bool
	reason                            string
}

// read reads the words after the ref_id.
func (t *typedWord) read(words []string) error {
	for len(words) > 0 {
		name, value, hasValue := strings.Cut(words[0], "=")
		words = words[1:]
		takesValue := name == "--recorded" || name == "--reason"
		if takesValue && !hasValue {
			if len(words) == 0 {
				return fmt.Errorf("%s lacks its value", name)
			}
			value, words = words[0], words[1:]
		}
		switch name {
		case "--recorded":
			if t.isRecorded = value == "FILE"; !t.isRecorded {
				return fmt.Errorf("there is no file %q", value)
			}
		case "--reason":
			t.reason = value
		case "--accept-record":
			t.isAccepted = true
		case "--not-made":
			t.isNotMade = true
		default:
			return fmt.Errorf("nobody knows the flag %s", name)
		}
	}
	return nil
}

// wordsOf are the words of a command line, as a shell reads them that knows two kinds of quotes.
func wordsOf(line string) []string {
	var words []string
	var word strings.Builder
	quote, isOpen := rune(0), false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, isOpen = r, true
		case quote == 0 && r == ' ':
			if isOpen {
				words = append(words, word.String())
			}
			word.Reset()
			isOpen = false
		default:
			word.WriteRune(r)
			isOpen = true
		}
	}
	if isOpen {
		words = append(words, word.String())
	}
	return words
}

// prints notes what the end of an apply says about each transfer that it names.
func (p *process) prints(s *executor.Summary) {
	printed := make(map[string]advised)
	for i := range s.Exceptions {
		e := &s.Exceptions[i]
		printed[e.RefID] = advised{e.Reason, e.Next}
	}
	if p.killed.Err() == nil { // else nobody sees it
		p.world.printed.Store(&printed) // as no event: what happens stays as it is
	}
}

// asksForPerson reports whether remit status names a transfer, and so has to say what to do about it.
func asksForPerson(row state.Transfer) bool {
	return row.Status == state.InDoubt || row.Status == state.Conflict || row.Status == state.Unverified
}
