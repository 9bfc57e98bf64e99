package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/internal/accounts/records"
	"remit/internal/cli/exit"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// Bounds of what is kept and named of what a state lacks.
const (
	lackingNamed = 3
	leftOutMax   = 10_000
)

// lacking is what the files name, and what the state does not have after the import: it is not complete then,
// whatever a person says.
type lacking struct {
	named   []string // the first ref_ids
	count   int
	untaken int // further ones, which the run told of
	left    leftOuts
}

func (l *lacking) name(refID string) {
	if l.count++; len(l.named) < lackingNamed {
		l.named = append(l.named, view.Visible(refID))
	}
}

// words say what is lacking, and what to do about it, in sentences; "" for nothing.
func (l *lacking) words() string {
	var parts []string
	if n := l.count + l.untaken; n > 0 {
		text := "The files name " + english.Plural(n, "transfer") + " that it does not have"
		if more := n - len(l.named); len(l.named) > 0 {
			text += ": " + strings.Join(l.named, ", ")
			if more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
		}
		parts = append(parts, text+". Follow the advice for each above.")
	}
	left, count := l.left.first()
	if count > 0 {
		text := fmt.Sprintf("They have a debit of the ref_id %q at %s, which no file can declare, and nobody can tell whether a transfer of yours made it.", left.refID, left.place)
		if count > 1 {
			text += fmt.Sprintf(" So it is with %d more.", count-1)
		}
		parts = append(parts, text+" Where it is of one that you declare, remit resolve with --recorded takes it.")
	}
	for _, file := range l.left.unnamed() {
		parts = append(parts, fmt.Sprintf("No debit in %s has a ref_id: have them exported with it.", view.Visible(file)))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " ") + " Take a record out of the files where no file of yours is to declare it."
}

// leftOuts are the debits of the files that are left out, since no file can declare their ref_ids, and that may be
// of a transfer of ours all the same: the service may have written another ref_id than it was given, or none.
type leftOuts struct {
	byID    map[string]leftOut
	byGroup map[string]string // record by group_id
	more    int               // that are not kept
	files   []debits
}

// leftOut is such a debit, and the profile that it was sent from.
type leftOut struct{ refID, place, from string }

// debits says whether a file's debits have ref_ids. Where some have, one without was made without.
type debits struct {
	file              string
	hasNamed, hasNone bool
}

// add takes note of a record of a file.
func (l *leftOuts) add(file string, r *records.Record) {
	if r.Direction != transfer.Debit || r.Type.IsRail() || r.Status == transfer.Failed {
		return
	}
	if len(l.files) == 0 || l.files[len(l.files)-1].file != file {
		l.files = append(l.files, debits{file: file})
	}
	of := &l.files[len(l.files)-1]
	of.hasNamed = of.hasNamed || r.RefID != ""
	of.hasNone = of.hasNone || r.RefID == ""
	switch {
	case r.RefID == "" || transfer.CheckRefID(r.RefID) == nil:
		return
	case transfer.CheckRefID(transfer.FoldRefID(r.RefID)) != nil:
		return // no service made that of a ref_id that can be declared
	case len(l.byID) == leftOutMax:
		l.more++
		return
	case l.byID == nil:
		l.byID, l.byGroup = make(map[string]leftOut), make(map[string]string)
	}
	id := strings.Clone(r.ID)
	l.byID[id] = leftOut{strings.Clone(r.RefID), fmt.Sprintf("%s:%d", file, r.Line), sender(r.ProfileID)}
	if r.GroupID != "" {
		l.byGroup[strings.Clone(r.GroupID)] = id
	}
}

// note takes note of a row of the state: its record is not lacking.
func (l *leftOuts) note(row *state.Transfer) {
	if len(l.byID) == 0 {
		return
	}
	delete(l.byID, row.RecordID)
	if id, has := l.byGroup[row.GroupID]; has && row.GroupID != "" {
		delete(l.byID, id)
	}
}

// keep lets those go that were sent from a profile from which nothing here is sent: they are another team's.
func (l *leftOuts) keep(senders map[string]bool) {
	maps.DeleteFunc(l.byID, func(_ string, left leftOut) bool { return !senders[left.from] })
}

// sender is a profile_id in one spelling. Capitals of an ID that is no UUID are not told apart either: a record too many
// is asked about, and none too few.
func sender(profileID string) string { return strings.ToLower(transfer.PartySpelled(profileID)) }

// senders are the profiles from which transfers are sent here: of the address book, of the declared transfers, and of those
// that the state has and that were declared.
func senders(ctx context.Context, loaded *config.Configuration, snapshot state.Snapshot, plan *planner.Plan) (map[string]bool, error) {
	all := make(map[string]bool)
	for _, profileID := range config.ProfileIDs(loaded) {
		all[sender(profileID)] = true
	}
	for _, c := range plan.Changes.All() {
		all[sender(c.Request.FromProfileID)] = true
	}
	for d, err := range state.AllDetails(ctx, snapshot) {
		if err != nil {
			return nil, err
		}
		if d.Intent.Found && d.Intent.Address == "" {
			continue // an import took it over that nobody declared
		}
		if request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), ""); err == nil {
			all[sender(request.FromProfileID)] = true
		}
	}
	return all, nil
}

// first is the first of them by its place, and count how many there are.
func (l *leftOuts) first() (first leftOut, count int) {
	for _, left := range l.byID {
		if first.place == "" || left.place < first.place {
			first = left
		}
	}
	return first, len(l.byID) + l.more
}

// unnamed are the files whose debits have no ref_ids at all.
func (l *leftOuts) unnamed() []string {
	var files []string
	for _, of := range l.files {
		if of.hasNone && !of.hasNamed && !slices.Contains(files, of.file) {
			files = append(files, of.file)
		}
	}
	return files
}

// complete has a state that lacked events lack none any more, where the person who has the service's records says that
// they are all. Records alone don't say so: an export of before the missing events has nothing that the state lacks.
// Nor is the state complete while the files name what it does not have: an apply would send that.
func (i *importing) complete(w *opened, journal state.Journal, meta state.Meta, ended error) error {
	completer, isOne := journal.(state.Completer)
	if !meta.MayLack() || !isOne {
		return ended
	}
	again := w.dir.Command("import " + i.words() + " --complete")
	if !i.isComplete {
		newest := "They have no record that says when it was made."
		if !i.newest.IsZero() {
			newest = fmt.Sprintf("The newest record in them is of %s.", i.newest.UTC().Format(time.RFC3339))
		}
		_, err := fmt.Fprintf(w.streams.Err, "Notice: The state still lacks events: these files may be older than what it lacks. %s Where they have every transfer that was made until now, say so:\n\n    %s\n",
			newest, again)
		return errors.Join(err, exit.WithCode(ended, exit.Look))
	}
	if words := i.lacking.words(); words != "" {
		_, err := fmt.Fprintf(w.streams.Err, "Notice: The state still lacks events, and --complete does not end that. %s Then import them again:\n\n    %s\n", words, again)
		return errors.Join(err, exit.WithCode(ended, exit.Look))
	}
	if err := completer.Complete(); err != nil {
		return w.state.Error(err)
	}
	streams := w.streams
	was := "was restored from a dump"
	if meta.LacksAll() {
		was = "was made in place of one that is gone"
	} else if meta.Lacks > 0 {
		was = fmt.Sprintf("lacked event %d", meta.Lacks)
	}
	_, err := fmt.Fprintf(streams.Err, "Notice: The state %s. It counts as complete now: apply sends whatever is not recorded. Look at the plan before.\n", was)
	return errors.Join(err, ended)
}

// emptyError says of files without a record that they complete nothing, and how a state that lacks events is completed
// without a file. Reading such a state warns of it.
func (i *importing) emptyError(ctx context.Context, w *opened, empty error) error {
	empty = fmt.Errorf("%w. Nothing was changed. An empty file does not prove that nothing was made: if it was cut off, an apply would pay everything again", empty)
	_, done, err := w.state.Read(ctx)
	if err != nil {
		return empty
	}
	done()
	if !w.state.MayLack {
		return exit.WithHint(fmt.Errorf("%w. The state lacks no events, so that it needs no --complete", empty), w.dir.Command("plan"))
	}
	return exit.WithHint(fmt.Errorf("%w. Where nothing was ever sent, the warning about the state says how to end that without a file", empty),
		w.dir.Command("status"))
}
