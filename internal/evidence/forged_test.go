package evidence_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"

	"remit/internal/approval"
	"remit/internal/evidence"
	"remit/state"
)

// packLine is a line of a pack's journal, as remit writes it.
type packLine struct {
	Seq      int64           `json:"seq"`
	Digest   string          `json:"digest,omitempty"`
	Time     time.Time       `json:"time,omitzero"`
	Kind     state.Kind      `json:"kind,omitempty"`
	RefID    string          `json:"ref_id,omitempty"`
	RunID    string          `json:"run_id,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	Previous string          `json:"previous,omitempty"`
	Hash     string          `json:"hash,omitempty"`
}

func (l *packLine) event() state.Event {
	return state.Event{Seq: l.Seq, Time: l.Time, Kind: l.Kind, RefID: l.RefID, RunID: l.RunID, Data: l.Data}
}

// forge changes the lines of a pack's journal, chains them anew, and writes the manifest: what an author of a pack
// could do who knows how one is made.
func forge(t *testing.T, dir string, change func([]packLine) []packLine) {
	t.Helper()
	var lines []packLine
	for text := range strings.Lines(read(t, dir)[evidence.JournalFile]) {
		var l packLine
		check(t, json.Unmarshal([]byte(text), &l))
		lines = append(lines, l)
	}
	lines = change(lines)
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	head := lines[0].Previous
	for _, l := range lines {
		if l.Digest == "" {
			e := l.event()
			l.Previous, l.Hash = head, e.Chain(head)
			head = l.Hash
		} else {
			raw, err := hex.DecodeString(l.Digest)
			check(t, err)
			head = state.EventDigest(raw).Follow(head)
		}
		check(t, to.Encode(l))
	}
	put(t, dir, evidence.JournalFile, out.String())
	seal(t, dir)
}

// at is where the event of a kind stands that is of a run and, unless it is "", of a ref_id.
func at(t *testing.T, lines []packLine, kind state.Kind, runID, refID string) int {
	t.Helper()
	i := slices.IndexFunc(lines, func(l packLine) bool {
		return l.Kind == kind && l.RunID == runID && (refID == "" || l.RefID == refID)
	})
	if i < 0 {
		t.Fatalf("no %s of run %s", kind, runID)
	}
	return i
}

// TestAForgedJournalIsFoundByWhatItSays changes a pack's journal so that its chain holds: numbers, places and
// contents of its events then tell that nobody's journal is like it.
func TestAForgedJournalIsFoundByWhatItSays(t *testing.T) {
	h := newHistory(t)
	whole := h.journal.events
	for name, test := range map[string]struct {
		change func(t *testing.T, lines []packLine) []packLine
		text   string
	}{
		"nothing changed": {func(_ *testing.T, lines []packLine) []packLine { return lines }, ""},
		"a number left out": {func(_ *testing.T, lines []packLine) []packLine {
			for i := range lines[4:] {
				lines[4+i].Seq++
			}
			return lines
		}, "event 10 follows event 8"},
		"a number below one": {func(_ *testing.T, lines []packLine) []packLine {
			first := lines[0].Seq
			for i := range lines {
				lines[i].Seq -= first
			}
			return lines
		}, "it does not begin with an event in full"},
		"a number twice": {func(_ *testing.T, lines []packLine) []packLine {
			return slices.Insert(lines, 3, lines[3])
		}, "follows event"},
		"a beginning that is withheld": {func(_ *testing.T, lines []packLine) []packLine {
			e := lines[0].event()
			lines[0] = packLine{Seq: e.Seq, Digest: e.Digest().String()}
			return lines
		}, "it does not begin with an event in full"},
		"an event of a later run in full": {func(t *testing.T, lines []packLine) []packLine {
			last := &lines[len(lines)-1]
			e := whole[len(whole)-1]
			if last.Digest == "" || last.Seq != e.Seq {
				t.Fatalf("the last line is %+v", last)
			}
			*last = packLine{Seq: e.Seq, Time: e.Time, Kind: e.Kind, RefID: e.RefID, RunID: e.RunID, Data: e.Data}
			return lines
		}, "although it comes after the run"},
		"an event of a later run in full, of no run and no ref_id": {func(_ *testing.T, lines []packLine) []packLine {
			e := state.Event{Seq: lines[len(lines)-1].Seq + 1, Time: noon, Kind: state.KindUnlocked, Data: json.RawMessage(`{}`)}
			return append(lines, packLine{Seq: e.Seq, Time: e.Time, Kind: e.Kind, Data: e.Data})
		}, "although it comes after the run"},
		"an event that is withheld, and its ref_id is told": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].RefID = "rent"
			return lines
		}, "it has a digest in place of its content, and content"},
		"an event that is withheld, and its kind is told": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].Kind = state.KindOutcome
			return lines
		}, "it has a digest in place of its content, and content"},
		"an event that is withheld, and its time is told": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].Time = noon
			return lines
		}, "it has a digest in place of its content, and content"},
		"an event that is withheld, and its run is told": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].RunID = "third"
			return lines
		}, "it has a digest in place of its content, and content"},
		"an event that is withheld, and its payload is told": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].Data = json.RawMessage(`{}`)
			return lines
		}, "it has a digest in place of its content, and content"},
		"an event that is withheld, and its hash is told": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].Hash = whole[len(whole)-1].Hash
			return lines
		}, "it has a digest in place of its content, and content"},
		"an event that is withheld, and the hash before it is told": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].Previous = whole[len(whole)-2].Hash
			return lines
		}, "it has a digest in place of its content, and content"},
		"a digest with more behind it": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].Digest += "00"
			return lines
		}, "its digest is none"},
		"a digest in capitals": {func(_ *testing.T, lines []packLine) []packLine {
			lines[len(lines)-1].Digest = strings.ToUpper(lines[len(lines)-1].Digest)
			return lines
		}, "it is not as remit writes it"},
		"an intent under the number of another transfer": {func(t *testing.T, lines []packLine) []packLine {
			lines[at(t, lines, state.KindIntent, "second", "water")].RefID = "rent"
			return lines
		}, "its payload is of another ref_id or run"},
		"an outcome under another run": {func(t *testing.T, lines []packLine) []packLine {
			lines[at(t, lines, state.KindOutcome, "second", "rent")].RunID = "first"
			return lines
		}, "its payload is of another ref_id or run"},
		"the end of another run": {func(t *testing.T, lines []packLine) []packLine {
			end := &lines[at(t, lines, state.KindEnded, "second", "")]
			end.RunID, end.Data = "third", bytes.ReplaceAll(end.Data, []byte(`"second"`), []byte(`"third"`))
			return lines
		}, "it is the end of another run"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := h.export(t, "second")
			forge(t, dir, func(lines []packLine) []packLine { return test.change(t, lines) })
			report := verify(t, dir)
			if test.text != "" {
				requireFinding(t, report, evidence.JournalFile, test.text)
			} else if !report.Whole() {
				t.Errorf("an untouched pack that was chained anew: %v", report.Findings)
			}
		})
	}
}

// TestAFindingNamesItsEvent has a mistake in one event of a pack's journal, and in each way in which an event may be wrong.
func TestAFindingNamesItsEvent(t *testing.T) {
	h := newHistory(t)
	for name, change := range map[string]func(lines []packLine, i int){
		"its content":              func(lines []packLine, i int) { lines[i].RefID = "rent" },
		"a digest in its place":    func(lines []packLine, i int) { lines[i] = packLine{Seq: lines[i].Seq, Digest: sum(nil)} },
		"a digest that is none":    func(lines []packLine, i int) { lines[i] = packLine{Seq: lines[i].Seq, Digest: sum(nil) + "00"} },
		"a number that is too big": func(lines []packLine, i int) { lines[i].Seq++ },
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := h.export(t, "second")
			var want evidence.Finding
			forge(t, dir, func(lines []packLine) []packLine {
				i := at(t, lines, state.KindIntent, "second", "water")
				change(lines, i)
				want = evidence.Finding{File: evidence.JournalFile, Line: i + 1, Event: lines[i].Seq}
				return lines
			})
			for _, f := range verify(t, dir).Findings {
				if f.File == want.File {
					if f.Line != want.Line || f.Event != want.Event {
						t.Errorf("%s; want line %d, event %d", f, want.Line, want.Event)
					}
					return
				}
			}
			t.Error("nothing is found")
		})
	}
}

// TestManyKeysHideNoMistake has more approvals by keys of nobody than are told, and a plan that is not the run's.
func TestManyKeysHideNoMistake(t *testing.T) {
	h := newHistory(t)
	h.retell(t, func(entry state.Entry) state.Entry {
		begun, ok := entry.(state.Begun)
		if !ok || begun.RunID != "second" {
			return entry
		}
		begun.Controls = sum([]byte("others"))
		for i := range 101 {
			begun.Approvals = append(begun.Approvals, approved(t, h.plan, state.RoleApprover, fmt.Sprintf("p%d", i)))
		}
		return begun
	})
	signers, mistakes := approval.ParseSigners([]byte("ada "+approval.SSHKey(signer(t, "ada").PublicKey()).Text()), time.UTC)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	dir, _ := h.export(t, "second")
	report := verify(t, dir, func(o *evidence.Options) { o.Signers = signers })
	if len(report.Findings) != 100 || report.Findings[0].Key == "" || report.OnlyKeys() {
		t.Errorf("%d findings, the first %v, of keys alone: %v", len(report.Findings), report.Findings[0], report.OnlyKeys())
	}
	requireFinding(t, report, evidence.PlanFile, "its controls is")
}

// TestTheSignatureOfAManifest says whose one counts, for what use, and over what.
func TestTheSignatureOfAManifest(t *testing.T) {
	dir, _ := newHistory(t).export(t, "second")
	manifest := read(t, dir)[evidence.ManifestFile]
	signed := func(name, namespace, text string) string {
		sig, err := sshsig.Sign(strings.NewReader(text), signer(t, name), sshsig.HashSHA512, namespace)
		check(t, err)
		return string(sshsig.Armor(sig))
	}
	line := func(principal, options string) string {
		return principal + options + " " + approval.SSHKey(signer(t, principal).PublicKey()).Text() + "\n"
	}
	known := line("ada", "") + line("bob", "")
	for name, test := range map[string]struct{ signature, signers, by, text string }{
		"an auditor's":              {signed("eve", evidence.Namespace, manifest), known + line("eve", ""), "eve", ""},
		"nobody says whose keys":    {signed("eve", evidence.Namespace, manifest), "", "SHA256:", ""},
		"a key of nobody":           {signed("eve", evidence.Namespace, manifest), known, "", "allowed_signers does not have its key"},
		"a key for another use":     {signed("eve", evidence.Namespace, manifest), known + line("eve", ` namespaces="remit-plan"`), "", "for other namespaces"},
		"a signature of a plan":     {signed("eve", approval.Namespace, manifest), known + line("eve", ""), "", `the namespace "remit-plan"`},
		"a signature for any file":  {signed("eve", "file", manifest), known + line("eve", ""), "", `the namespace "file"`},
		"one over another manifest": {signed("eve", evidence.Namespace, manifest+"x"), known + line("eve", ""), "", "it is no signature of SHA256SUMS"},
		"one without end":           {strings.Repeat("x", 1<<20), known, "", "it cannot be read: it is too long"},
		"no signature at all":       {"hello\n", known, "", "it is no SSH signature"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, dir, evidence.ManifestSignature, test.signature)
			report := verify(t, dir, func(o *evidence.Options) {
				if test.signers == "" {
					return
				}
				signers, mistakes := approval.ParseSigners([]byte(test.signers), time.UTC)
				if len(mistakes) > 0 {
					t.Fatal(mistakes)
				}
				o.Signers = signers
			})
			if test.text != "" {
				requireFinding(t, report, evidence.ManifestSignature, test.text)
				return
			}
			if !report.Whole() || !strings.HasPrefix(report.SignedBy, test.by) || report.SignedBy == "" {
				t.Errorf("signed by %q: %v", report.SignedBy, report.Findings)
			}
		})
	}
}

// TestAHashThatIsNotThatOfItsEventIsFound changes what one event says of its own hash, or of that before it, and nothing of which a
// hash is made.
func TestAHashThatIsNotThatOfItsEventIsFound(t *testing.T) {
	h := newHistory(t)
	for _, member := range []string{`"hash":"`, `"previous":"`} {
		dir, _ := h.export(t, "second")
		lines := strings.SplitAfter(read(t, dir)[evidence.JournalFile], "\n")
		before, after, _ := strings.Cut(lines[4], member)
		lines[4] = before + member + sum(nil) + after[len(sum(nil)):]
		put(t, dir, evidence.JournalFile, strings.Join(lines, ""))
		seal(t, dir)
		const want = "journal.jsonl, line 5, event 9: its hash is not that of its content after the event before it"
		if got := verify(t, dir).Findings; len(got) != 1 || got[0].String() != want {
			t.Errorf("another %s: %v, want %s", member, got, want)
		}
	}
}
