package evidence_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"remit/config"
	"remit/executor"
	"remit/internal/approval"
	"remit/internal/evidence"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
	"remit/state/statetest"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// journal is a state's journal in memory, chained as a store chains it.
type journal struct {
	meta   state.Meta
	events []state.Event
}

func (j *journal) append(t testing.TB, entries ...state.Entry) {
	t.Helper()
	for _, entry := range entries {
		draft, err := state.NewDraft(entry)
		if err != nil {
			t.Fatal(err)
		}
		refID, runID := entry.Subject()
		j.meta.Serial++
		e := state.Event{
			Seq: j.meta.Serial, Time: noon.Add(time.Duration(j.meta.Serial) * time.Second),
			Kind: entry.Kind(), RefID: refID, RunID: runID, Data: draft.Data,
		}
		e.Hash = e.Chain(j.meta.Head)
		j.meta.Head = e.Hash
		j.events = append(j.events, e)
	}
}

func (j *journal) Meta() state.Meta { return j.meta }

func (j *journal) Events(_ context.Context, after int64, refID string) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, e := range j.events {
			if e.Seq > after && (refID == "" || e.RefID == refID) && !yield(e, nil) {
				return
			}
		}
	}
}

// nothing is a record of nothing, for a first plan.
type nothing struct{}

func (nothing) Meta() state.Meta {
	return state.Meta{Environment: "test", Lineage: statetest.Created().Lineage, Service: statetest.Created().Service}
}
func (nothing) Holder() (state.Holder, bool) { return state.Holder{}, false }
func (nothing) Outlines(context.Context) iter.Seq2[state.Outline, error] {
	return func(func(state.Outline, error) bool) {}
}
func (nothing) Details(context.Context, ...string) ([]state.Detail, error) { return nil, nil }
func (nothing) Names(context.Context) iter.Seq2[state.Name, error] {
	return func(func(state.Name, error) bool) {}
}

// doubting is a record of one transfer, in doubt or made.
type doubting struct {
	intent state.Intent
	made   *state.Outcome // nil of one in doubt
}

func (doubting) Meta() state.Meta             { return nothing{}.Meta() }
func (doubting) Holder() (state.Holder, bool) { return state.Holder{}, false }

func (d doubting) detail() (state.Detail, error) {
	draft, err := state.NewDraft(d.intent)
	if err != nil {
		return state.Detail{}, err
	}
	row, err := state.Transfer{}.Apply(draft, 1, noon.Add(-time.Hour))
	if err == nil && d.made != nil {
		draft, err = state.NewDraft(*d.made)
		if err == nil {
			row, err = row.Apply(draft, 2, noon.Add(-time.Hour))
		}
	}
	return state.Detail{Transfer: row, Intent: d.intent, Outcome: d.made}, err
}

func (d doubting) Outlines(context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		detail, err := d.detail()
		yield(detail.Outline(), err)
	}
}

func (doubting) Names(context.Context) iter.Seq2[state.Name, error] {
	return func(func(state.Name, error) bool) {}
}

func (d doubting) Details(context.Context, ...string) ([]state.Detail, error) {
	detail, err := d.detail()
	return []state.Detail{detail}, err
}

// savedPlan is a first plan of transfers of 10.00 USD, as a file.
func savedPlan(t testing.TB, refIDs ...string) ([]byte, *planner.Plan) {
	t.Helper()
	return savedPlanOver(t, nothing{}, refIDs...)
}

// savedPlanOver is savedPlan where something is recorded.
func savedPlanOver(t testing.TB, record planner.Record, refIDs ...string) ([]byte, *planner.Plan) {
	t.Helper()
	declared := func(yield func(config.Transfer) bool) {
		for i, refID := range refIDs {
			if !yield(config.Transfer{
				Request: statetest.Request(refID, "10.00"), Address: "transfer.internal.test", Block: "transfer.internal.test",
				Place: config.Place{File: "test.hcl", Line: i + 1}, DuplicateWithin: 0,
			}) {
				return
			}
		}
	}
	plan, err := planner.New(t.Context(), declared, record, planner.Controls{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	plan.Header.PlanID = "plan-1"
	var b bytes.Buffer
	if err := plan.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), plan
}

func signer(t testing.TB, name string) ssh.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func approved(t testing.TB, plan []byte, role state.ApprovalRole, name string) state.Approval {
	t.Helper()
	s := signer(t, name)
	digest := approval.NewDigest()
	_, _ = digest.Write(plan) // never fails
	sig, err := approval.Sign(digest, s)
	if err != nil {
		t.Fatal(err)
	}
	return state.Approval{
		Role: role, Principal: name, Fingerprint: ssh.FingerprintSHA256(s.PublicKey()), Key: approval.SSHKey(s.PublicKey()).Text(),
		File: "november.plan." + name + ".sig", SHA256: sum(sig), Signature: string(sig),
	}
}

func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:])
}

// history is a journal with three runs, of which the second is the one to prove, and its plan:
// a transfer that was recorded, one that was in doubt since the first run and refused in the
// second, and others of the other runs.
type history struct {
	journal *journal
	plan    []byte
}

func newHistory(t testing.TB) *history {
	t.Helper()
	created := statetest.Created()
	begun := func(run string) state.Begun {
		return state.Begun{
			RunID: run, By: statetest.Holder("remit apply"), Digest: "d-" + run,
			Environment: created.Environment, Lineage: created.Lineage, Service: created.Service,
			Origin: state.Origin{Commit: "c0ffee", Files: []state.FileDigest{{Name: "main.hcl", SHA256: "ab"}}},
		}
	}
	j := &journal{meta: state.Meta{Environment: created.Environment, Lineage: created.Lineage, Service: created.Service}}
	j.append(t, created, begun("first"),
		statetest.Intent("other-1", "first", "10.00"), statetest.Outcome("other-1", "first", state.SourceAnswer, state.Recorded),
		statetest.Intent("doubt", "first", "10.00"), statetest.Outcome("doubt", "first", state.SourceAnswer, state.InDoubt),
		state.Ended{RunID: "first", Complete: false})
	text, plan := savedPlan(t, "rent", "heating", "water")
	second := begun("second")
	second.PlanID, second.Digest, second.Controls = plan.Header.PlanID, plan.Digest, plan.Header.Controls
	second.PlanFile, second.PlanSHA256 = "november.plan", sum(text)
	second.Approvals = []state.Approval{approved(t, text, state.RoleAuthor, "ada"), approved(t, text, state.RoleApprover, "bob")}
	refused := statetest.Outcome("heating", "second", state.SourceAnswer, state.Refused)
	refused.Reason = "no funds"
	j.append(t, second,
		statetest.Outcome("doubt", "second", state.SourceLookup, state.Recorded),
		statetest.Intent("rent", "second", "10.00"), statetest.Intent("heating", "second", "10.00"), statetest.Intent("water", "second", "10.00"),
		refused, statetest.Outcome("rent", "second", state.SourceAnswer, state.Recorded),
		state.Ended{RunID: "second", Outcomes: map[string]int{"recorded": 1}, Error: "stopped"},
		begun("third"), statetest.Intent("other-3", "third", "10.00"), statetest.Outcome("other-3", "third", state.SourceAnswer, state.Recorded),
		state.Ended{RunID: "third", Complete: true})
	return &history{j, text}
}

// faces are those of show --run.
func faces() []evidence.Face {
	options := func(past *executor.PastRun) view.PastOptions {
		return view.PastOptions{Meta: state.Meta{Environment: past.Run.Begun.Environment}}
	}
	return []evidence.Face{
		{File: evidence.LinesFile, Write: func(w io.Writer, past *executor.PastRun) error {
			return view.NewJSON(w, "0.1.0").Past(past, options(past))
		}},
		{File: evidence.RegisterFile, Write: func(w io.Writer, past *executor.PastRun) error { return view.PastCSV(w, past, options(past)) }},
	}
}

func (h *history) export(t testing.TB, run string) (string, *evidence.Exported) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "pack")
	from := evidence.Material{Journal: h.journal, RunID: run, Faces: faces(), Version: "0.1.0"}
	if run == "second" {
		from.Plan = filepath.Join(t.TempDir(), "november.plan")
		if err := os.WriteFile(from.Plan, h.plan, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exported, err := evidence.Export(t.Context(), dir, from)
	if err != nil {
		t.Fatal(err)
	}
	return dir, exported
}

func verify(t testing.TB, dir string, edits ...func(*evidence.Options)) *evidence.Report {
	t.Helper()
	o := evidence.Options{Faces: faces(), Version: "0.1.0"}
	for _, edit := range edits {
		edit(&o)
	}
	report, err := evidence.Verify(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func read(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(content)
	}
	return files
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// seal writes the manifest anew, as who changed a file on purpose would.
func seal(t testing.TB, dir string) {
	t.Helper()
	var b strings.Builder
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if entry.Name() == evidence.ManifestFile {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s  %s\n", sum(content), entry.Name())
	}
	put(t, dir, evidence.ManifestFile, b.String())
}

func TestExportAndVerify(t *testing.T) {
	h := newHistory(t)
	dir, exported := h.export(t, "second")
	again, other := h.export(t, "second")
	if diff := cmp.Diff(read(t, dir), read(t, again)); diff != "" {
		t.Errorf("two exports differ:\n%s", diff)
	}
	if exported.Manifest != other.Manifest || exported.Manifest != sum([]byte(read(t, dir)[evidence.ManifestFile])) {
		t.Error("the hash of the manifest is not that")
	}
	report := verify(t, dir, func(o *evidence.Options) { o.Manifest, o.Head = exported.Manifest, h.journal.meta.Head })
	if !report.Whole() || !report.HeadProven || report.Files != 8 {
		t.Errorf("an untouched pack: %+v", report)
	}
	results := map[executor.Result]int{}
	for _, r := range report.Facts.Results {
		results[r.Result] = r.Count
	}
	want := map[executor.Result]int{executor.ResultRecorded: 2, executor.ResultRefused: 1, executor.ResultInDoubt: 1}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("other results (-want +got):\n%s", diff)
	}
	journal := read(t, dir)[evidence.JournalFile]
	for _, other := range []string{"other-1", "other-3"} {
		if strings.Contains(journal, other) {
			t.Errorf("the pack shows %s, which is of another run", other)
		}
	}
	if n := strings.Count(journal, `"ref_id":"doubt"`); n == 0 || !strings.Contains(journal, `"first"`) {
		t.Error("the pack lacks what a transfer of the run had behind it")
	}
}

// TestRunsWithoutAPlanOrAnEnd are those that planned by themselves, or died.
func TestRunsWithoutAPlanOrAnEnd(t *testing.T) {
	h := newHistory(t)
	dir, exported := h.export(t, "third")
	if report := verify(t, dir); !report.Whole() || exported.Facts.Plan.Absent == "" {
		t.Errorf("a direct apply: %+v", report)
	}
	put(t, dir, evidence.PlanFile, string(h.plan))
	seal(t, dir)
	requireFinding(t, verify(t, dir), evidence.PlanFile, "the run has no such file")
	died := statetest.Intent("late", "fourth", "10.00")
	h.journal.append(t, state.Begun{RunID: "fourth", Digest: "d"}, died)
	dir, exported = h.export(t, "fourth")
	if report := verify(t, dir); !report.Whole() || !exported.Facts.Run.Ended.IsZero() || exported.Facts.Journal.Last != h.journal.meta.Serial {
		t.Errorf("a run that died: %+v", report)
	}
	if r := exported.Facts.Results; len(r) != 1 || r[0].Result != executor.ResultInDoubt || r[0].Count != 1 {
		t.Errorf("a run that died after one request: %+v", r)
	}
	h.journal.append(t, state.Begun{RunID: "fifth", Digest: "d"}, state.Ended{RunID: "fifth"})
	dir, exported = h.export(t, "fourth")
	if report := verify(t, dir); !report.Whole() || exported.Facts.Journal.Last != h.journal.meta.Serial-2 {
		t.Errorf("a run that died before another: %+v, %+v", report, exported.Facts.Journal)
	}
}

// flipEvery is how many bytes of a file one stands for in TestOneFlippedByte, so that it takes
// seconds; with 1 it takes minutes.
const flipEvery = 11

// TestOneFlippedByte changes bytes of each file, one at a time. The file is named; with the manifest written
// anew as well, what the journal, the plan and the signatures say of each other finds it.
func TestOneFlippedByte(t *testing.T) {
	suite.Slow(t)
	pristine, _ := newHistory(t).export(t, "second")
	for name, content := range read(t, pristine) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(pristine)); err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(content); i += flipEvery {
				changed := []byte(content)
				changed[i] ^= 1 << (i % 8)
				put(t, dir, name, string(changed))
				report := verify(t, dir)
				if report.Whole() || !names(report, name) && name != evidence.ManifestFile {
					t.Fatalf("byte %d of %s: found %v", i, name, report.Findings)
				}
				if name == evidence.ManifestFile {
					continue
				}
				seal(t, dir)
				report = verify(t, dir)
				if report.Whole() && !isVersion(content, i) {
					t.Fatalf("byte %d of %s, and the manifest: nothing found", i, name)
				}
				if name == evidence.JournalFile && !isWithheld(content, i) && report.Findings[0].Event == 0 {
					t.Fatalf("byte %d of %s, and the manifest: no event is named: %v", i, name, report.Findings)
				}
				put(t, dir, evidence.ManifestFile, read(t, pristine)[evidence.ManifestFile])
			}
		})
	}
}

// isVersion reports whether a byte is of what nothing but the manifest proves: which version of
// remit wrote the pack.
func isVersion(content string, i int) bool {
	start := strings.Index(content, `"remit": "`)
	return start >= 0 && i >= start && i < start+len(`"remit": "0.1.0`)
}

// isWithheld reports whether a byte is of an event that the pack has as its digest: another digest
// leads to another head, which no event of the pack contradicts.
func isWithheld(content string, i int) bool {
	line := content[strings.LastIndex(content[:i], "\n")+1:]
	return strings.Contains(line[:min(len(line), 40)], `"digest":`)
}

func names(r *evidence.Report, file string) bool {
	for _, f := range r.Findings {
		if f.File == file {
			return true
		}
	}
	return false
}

func TestFilesThatAreMissingOrAdded(t *testing.T) {
	h := newHistory(t)
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		file   string
		text   string
	}{
		"an added file": {func(t *testing.T, dir string) { put(t, dir, "more.txt", "x") }, "more.txt", "it was added"},
		"a directory":   {func(t *testing.T, dir string) { check(t, os.Mkdir(filepath.Join(dir, "more"), 0o700)) }, "more", "no regular file"},
		"a link in the place of a file": {func(t *testing.T, dir string) {
			check(t, os.Rename(filepath.Join(dir, "plan.jsonl"), filepath.Join(t.TempDir(), "p")), os.Symlink("/etc/hosts", filepath.Join(dir, "plan.jsonl")))
		}, "plan.jsonl", "no regular file"},
		"an added file that the manifest lists": {func(t *testing.T, dir string) { put(t, dir, "more.txt", "x"); seal(t, dir) }, "more.txt", "the run has no such file"},
		"a pipe in the place of the manifest": {func(t *testing.T, dir string) {
			remove("SHA256SUMS")(t, dir)
			check(t, syscall.Mkfifo(filepath.Join(dir, "SHA256SUMS"), 0o600))
		}, "SHA256SUMS", "no regular file"},
		"a pipe in the place of the manifest's signature": {func(t *testing.T, dir string) {
			check(t, syscall.Mkfifo(filepath.Join(dir, "SHA256SUMS.sig"), 0o600))
		}, "SHA256SUMS.sig", "no regular file"},
		"a manifest without end": {func(t *testing.T, dir string) { put(t, dir, "SHA256SUMS", strings.Repeat("x", 2<<20)) }, "SHA256SUMS", "it is too long"},
		"a column twice, under the name of another version": {func(t *testing.T, dir string) {
			edit(t, dir, "evidence.json", `"remit": "`, `"remit": "0.`)
			rows := strings.SplitAfter(strings.TrimSuffix(read(t, dir)["outcomes.csv"], "\n"), "\n")
			put(t, dir, "outcomes.csv", "amount,"+strings.Join(rows, "1.00,")+"\n")
			seal(t, dir)
		}, "outcomes.csv", `has "amount" twice`},
		"a column twice, the second at the end": {func(t *testing.T, dir string) {
			edit(t, dir, "evidence.json", `"remit": "`, `"remit": "0.`)
			rows := strings.Split(strings.TrimSuffix(read(t, dir)["outcomes.csv"], "\n"), "\n")
			put(t, dir, "outcomes.csv", rows[0]+",amount\n"+strings.Join(rows[1:], ",1.00\n")+",1.00\n")
			seal(t, dir)
		}, "outcomes.csv", `has "amount" twice`},
		"another amount in the register of another version": {func(t *testing.T, dir string) {
			edit(t, dir, "evidence.json", `"remit": "`, `"remit": "0.`)
			edit(t, dir, "outcomes.csv", "10.00", "90.00")
			seal(t, dir)
		}, "outcomes.csv", `its "amount" is 90.00, and the journal says 10.00`},
		"a plan with a line end more": {func(t *testing.T, dir string) {
			put(t, dir, "plan.jsonl", read(t, dir)["plan.jsonl"]+"\n")
			seal(t, dir)
		}, "plan.jsonl", "it was changed: its SHA-256 is"},
		"a field twice, under the name of another version": {func(t *testing.T, dir string) {
			edit(t, dir, "evidence.json", `"remit": "`, `"remit": "0.`)
			edit(t, dir, "outcomes.jsonl", `"amount":`, `"amount":"1.00","amount":`)
			seal(t, dir)
		}, "outcomes.jsonl", `has "amount" twice`},
		"a face without its last line": {func(t *testing.T, dir string) {
			lines := strings.SplitAfter(strings.TrimSuffix(read(t, dir)["outcomes.jsonl"], "\n"), "\n")
			put(t, dir, "outcomes.jsonl", strings.Join(lines[:len(lines)-1], ""))
			seal(t, dir)
		}, "outcomes.jsonl", "it is cut off here"},
		"a face with a row more": {func(t *testing.T, dir string) {
			text := read(t, dir)["outcomes.csv"]
			rows := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
			put(t, dir, "outcomes.csv", text+rows[len(rows)-1]+"\n")
			seal(t, dir)
		}, "outcomes.csv", "it was added to"},
		"a face in another spacing": {func(t *testing.T, dir string) {
			put(t, dir, "outcomes.jsonl", strings.Replace(read(t, dir)["outcomes.jsonl"], "{", "{ ", 1))
			seal(t, dir)
		}, "outcomes.jsonl", "it is not as remit writes it"},
		"facts that say a thing twice": {func(t *testing.T, dir string) {
			edit(t, dir, "evidence.json", `"remit": "`, `"remit": "another","remit": "`)
			seal(t, dir)
		}, "evidence.json", "it is not as remit writes it"},
		"a manifest in another order": {func(t *testing.T, dir string) {
			lines := strings.SplitAfter(strings.TrimSuffix(read(t, dir)["SHA256SUMS"], "\n"), "\n")
			put(t, dir, "SHA256SUMS", strings.Join(lines[1:], "")+"\n"+lines[0])
		}, "SHA256SUMS", "it is not as remit writes it"},
		"a signature that was cut off": {func(t *testing.T, dir string) {
			put(t, dir, "approval-02.sig", strings.TrimSuffix(read(t, dir)["approval-02.sig"], "\n"))
			seal(t, dir)
		}, "approval-02.sig", "it was changed: it is not what the journal has"},
		"an empty allowed_signers": {func(t *testing.T, dir string) {
			put(t, dir, "allowed_signers", "")
			seal(t, dir)
		}, "allowed_signers", "it was changed: it is not what the journal has"},
		"no manifest":                       {remove("SHA256SUMS"), "SHA256SUMS", "it is missing"},
		"no journal":                        {remove("journal.jsonl"), "journal.jsonl", "it is missing"},
		"no plan":                           {remove("plan.jsonl"), "plan.jsonl", "it is missing"},
		"no plan, nor in the manifest":      {func(t *testing.T, dir string) { remove("plan.jsonl")(t, dir); seal(t, dir) }, "plan.jsonl", "it is missing"},
		"no signature, nor in the manifest": {func(t *testing.T, dir string) { remove("approval-02.sig")(t, dir); seal(t, dir) }, "approval-02.sig", "it is missing"},
		"an empty journal":                  {func(t *testing.T, dir string) { put(t, dir, "journal.jsonl", ""); seal(t, dir) }, "journal.jsonl", "it has no run"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := h.export(t, "second")
			c.change(t, dir)
			report := verify(t, dir)
			for _, f := range report.Findings {
				if f.File == c.file && strings.Contains(f.Text, c.text) {
					return
				}
			}
			t.Errorf("want %s: %s, got %v", c.file, c.text, report.Findings)
		})
	}
}

func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// edit replaces a text of a file wherever it stands.
func edit(t *testing.T, dir, name, old, with string) {
	t.Helper()
	content := read(t, dir)[name]
	if !strings.Contains(content, old) {
		t.Fatalf("%s does not have %q", name, old)
	}
	put(t, dir, name, strings.ReplaceAll(content, old, with))
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { check(t, os.Remove(filepath.Join(dir, name))) }
}

// TestAPackMadeUpAsAWhole is what a pack alone cannot prove, and a hash that was kept elsewhere
// does.
func TestAPackMadeUpAsAWhole(t *testing.T) {
	h := newHistory(t)
	_, exported := h.export(t, "second")
	made := &history{&journal{meta: h.journal.meta}, h.plan}
	made.journal.meta.Serial, made.journal.meta.Head = 0, ""
	for _, e := range h.journal.events {
		entry, err := e.Entry()
		check(t, err)
		if o, ok := entry.(state.Outcome); ok && o.RefID == "heating" {
			entry = statetest.Outcome("heating", "second", state.SourceAnswer, state.Recorded)
		}
		made.journal.append(t, entry)
	}
	dir, _ := made.export(t, "second")
	if report := verify(t, dir); !report.Whole() {
		t.Errorf("a journal that somebody wrote anew as a whole was told from one that was not: %v", report.Findings)
	}
	end := h.journal.events[14]
	if end.Kind != state.KindEnded || end.RunID != "second" {
		t.Fatal("the test looks at another event")
	}
	for name, edit := range map[string]func(*evidence.Options){
		"the head that the run printed":  func(o *evidence.Options) { o.Head = end.Hash },
		"a later head":                   func(o *evidence.Options) { o.Head = h.journal.meta.Head },
		"the hash of the manifest":       func(o *evidence.Options) { o.Manifest = exported.Manifest },
		"a head from before the run":     func(o *evidence.Options) { o.Head = made.journal.events[6].Hash },
		"a head from the midst of a run": func(o *evidence.Options) { o.Head = made.journal.events[9].Hash },
	} {
		if report := verify(t, dir, edit); report.Whole() || report.HeadProven {
			t.Errorf("with %s it is whole", name)
		}
	}
	strange := verify(t, dir, func(o *evidence.Options) { o.Head = sum([]byte("another journal")) })
	requireFinding(t, strange, "journal.jsonl", "none of its events has the hash")
	genuine, _ := h.export(t, "second")
	if report := verify(t, genuine, func(o *evidence.Options) { o.Head = end.Hash }); !report.Whole() || !report.HeadProven {
		t.Errorf("the run's own head does not prove it: %v", report.Findings)
	}
}

func TestKeysOfOthers(t *testing.T) {
	dir, _ := newHistory(t).export(t, "second")
	line := func(principal, key string) string {
		return principal + " " + approval.SSHKey(signer(t, key).PublicKey()).Text() + "\n"
	}
	for name, c := range map[string]struct {
		signers, revoked, want string
		why                    approval.Why
	}{
		"all known":                       {line("ada", "ada") + line("bob", "bob"), "", "", ""},
		"one unknown":                     {line("ada", "ada"), "", "approval-02.sig: the signature of \"bob\" does not count: allowed_signers does not have the key", approval.UnknownKey},
		"another's key":                   {line("ada", "ada") + line("carol", "bob"), "", "has its key for somebody else", approval.OtherPerson},
		"revoked":                         {line("ada", "ada") + line("bob", "bob"), approval.SSHKey(signer(t, "bob").PublicKey()).Text(), "approval-02.sig", approval.RevokedKey},
		"expired before the run":          {line("ada", "ada") + line(`bob valid-before="20261126"`, "bob"), "", "valid before", approval.ExpiredKey},
		"expired in the midst of the run": {line("ada", "ada") + line(`bob valid-before="20261127120010Z"`, "bob"), "", "", ""},
		"expired since the run":           {line("ada", "ada") + line(`bob valid-before="20261201"`, "bob"), "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			signers, mistakes := approval.ParseSigners([]byte(c.signers), time.UTC)
			revoked, more := approval.ParseRevoked([]byte(c.revoked + "\n# no more\n"))
			if len(mistakes)+len(more) > 0 {
				t.Fatal(mistakes, more)
			}
			report := verify(t, dir, func(o *evidence.Options) { o.Signers, o.Revoked = signers, revoked })
			got := ""
			for _, f := range report.Findings {
				got += f.String() + "\n"
			}
			if (c.want == "") != report.Whole() || !strings.Contains(got, c.want) {
				t.Errorf("want %q, got %q", c.want, got)
			}
			if report.OnlyKeys() != (c.why != "") || c.why != "" && report.Findings[0].Why != c.why {
				t.Errorf("want a key that does not count as %q: %+v", c.why, report.Findings)
			}
		})
	}
}

// TestAChangedPackIsNotExcusedByKeys has a signature of a key that nobody knows beside a file that was changed, and over other bytes.
func TestAChangedPackIsNotExcusedByKeys(t *testing.T) {
	signers, mistakes := approval.ParseSigners([]byte("ada "+approval.SSHKey(signer(t, "ada").PublicKey()).Text()), time.UTC)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	for _, file := range []string{evidence.LinesFile, evidence.PlanFile, evidence.FactsFile} {
		dir, _ := newHistory(t).export(t, "second")
		put(t, dir, file, read(t, dir)[file]+"\n")
		if report := verify(t, dir, func(o *evidence.Options) { o.Signers = signers }); report.Whole() || report.OnlyKeys() {
			t.Errorf("%s: %+v", file, report.Findings)
		}
	}
}

func TestExportRefuses(t *testing.T) {
	h := newHistory(t)
	dir := t.TempDir()
	plan := filepath.Join(t.TempDir(), "plan")
	put(t, filepath.Dir(plan), "plan", string(h.plan)+" ")
	from := evidence.Material{Journal: h.journal, RunID: "second", Plan: plan, Faces: faces(), Version: "0.1.0"}
	if _, err := evidence.Export(t.Context(), dir, from); !errors.Is(err, evidence.ErrOtherPlan) {
		t.Errorf("another plan: %v", err)
	}
	if left := read(t, dir); len(left) > 0 {
		t.Errorf("it left %v behind", left)
	}
	put(t, dir, "mine", "x")
	if _, err := evidence.Export(t.Context(), dir, from); !errors.Is(err, evidence.ErrNotEmpty) {
		t.Errorf("a directory with a file: %v", err)
	}
	if left := read(t, dir); len(left) != 1 {
		t.Errorf("it touched a directory that is not empty: %v", left)
	}
	from.Plan = ""
	whole := h.journal.meta
	for name, changed := range map[string]state.Meta{
		"an end that is gone":           {Serial: whole.Serial + 1, Head: sum([]byte("its hash"))},
		"another event in its place":    {Serial: whole.Serial, Head: sum([]byte("its hash"))},
		"a state that counts otherwise": {Serial: whole.Serial + 1, Head: whole.Head},
	} {
		h.journal.meta.Serial, h.journal.meta.Head = changed.Serial, changed.Head
		if _, err := evidence.Export(t.Context(), filepath.Join(dir, "new"), from); !errors.Is(err, state.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.journal.meta = whole
	h.journal.events[10].Data = bytes.Replace(h.journal.events[10].Data, []byte("10.00"), []byte("90.00"), 1)
	var broken *state.ChainError
	if _, err := evidence.Export(t.Context(), filepath.Join(dir, "new"), from); !errors.As(err, &broken) || broken.Seq != 11 {
		t.Errorf("a journal that was changed: %v", err)
	}
}

// FuzzVerify holds that no journal makes a check panic, and that none but the one that was
// exported is whole.
func FuzzVerify(f *testing.F) {
	h := newHistory(f)
	pristine, _ := h.export(f, "second")
	genuine := read(f, pristine)[evidence.JournalFile]
	f.Add(genuine)
	for line := range strings.Lines(genuine) {
		f.Add(strings.Replace(genuine, line, "", 1))
		f.Add(strings.Replace(genuine, line, line+line, 1))
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := t.TempDir()
		check(t, os.CopyFS(dir, os.DirFS(pristine)))
		put(t, dir, evidence.JournalFile, text)
		seal(t, dir)
		report := verify(t, dir, func(o *evidence.Options) { o.Head = h.journal.meta.Head })
		if report.Whole() && text != genuine {
			t.Errorf("another journal is whole:\n%s", text)
		}
	})
}

// TestAJournalThatSaysWhatItsFilesDoNot makes up packs whose journal holds together, and whose plan or
// signatures are of something else than it says.
func TestAJournalThatSaysWhatItsFilesDoNot(t *testing.T) {
	otherUse := func(plan []byte, name string) string {
		sig, err := sshsig.Sign(bytes.NewReader(plan), signer(t, name), sshsig.HashSHA512, "file")
		check(t, err)
		return string(sshsig.Armor(sig))
	}
	for name, c := range map[string]struct {
		change     func(h *history, begun *state.Begun)
		file, text string
	}{
		"a signature for another use": {func(h *history, begun *state.Begun) {
			begun.Approvals[1].Signature = otherUse(h.plan, "bob")
			begun.Approvals[1].SHA256 = sum([]byte(begun.Approvals[1].Signature))
		}, "approval-02.sig", `the namespace "file"`},
		"a signature of another key": {func(h *history, begun *state.Begun) {
			carol := approved(t, h.plan, state.RoleApprover, "carol")
			begun.Approvals[1].Signature, begun.Approvals[1].SHA256 = carol.Signature, carol.SHA256
		}, "approval-02.sig", "it was made with the key"},
		"a signature that is none": {func(_ *history, begun *state.Begun) {
			begun.Approvals[1].Signature, begun.Approvals[1].SHA256 = "hello\n", sum([]byte("hello\n"))
		}, "approval-02.sig", "it is no SSH signature"},
		"another fingerprint of a key": {func(h *history, begun *state.Begun) {
			begun.Approvals[1].Fingerprint = approved(t, h.plan, state.RoleApprover, "carol").Fingerprint
		}, "approval-02.sig", "it was made with the key"},
		"another key of a fingerprint": {func(h *history, begun *state.Begun) {
			begun.Approvals[1].Key = approved(t, h.plan, state.RoleApprover, "carol").Key
		}, "approval-02.sig", "it was made with the key"},
		"another hash of a signature": {func(_ *history, begun *state.Begun) {
			begun.Approvals[1].SHA256 = sum([]byte("another file"))
		}, "approval-02.sig", "its SHA-256 is not that which the journal says"},
		"other controls":      {func(_ *history, begun *state.Begun) { begun.Controls = sum([]byte("others")) }, "plan.jsonl", "its controls is"},
		"another digest":      {func(_ *history, begun *state.Begun) { begun.Digest = sum([]byte("others")) }, "plan.jsonl", "its digest is"},
		"another plan's ID":   {func(_ *history, begun *state.Begun) { begun.PlanID = "plan-2" }, "plan.jsonl", "its plan_id is"},
		"another environment": {func(_ *history, begun *state.Begun) { begun.Environment = "staging" }, "plan.jsonl", "its environment is"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.retell(t, func(entry state.Entry) state.Entry {
				if begun, ok := entry.(state.Begun); ok && begun.RunID == "second" {
					c.change(h, &begun)
					return begun
				}
				return entry
			})
			dir, _ := h.export(t, "second")
			requireFinding(t, verify(t, dir), c.file, c.text)
		})
	}
}

// TestARequestThatThePlanDoesNotHave has runs that wrote down what their plan does not say.
func TestARequestThatThePlanDoesNotHave(t *testing.T) {
	for name, c := range map[string]struct {
		refID, amount string
		operation     transfer.Operation
		text          string
	}{
		"another amount":    {"water", "90.00", transfer.Internal, `the run wrote down another request of "water" than is in plan.jsonl`},
		"another operation": {"water", "10.00", transfer.Platform, `the run wrote down another request of "water" than is in plan.jsonl`},
		"another ref_id":    {"gas", "10.00", transfer.Internal, `the run wrote down a request of "gas", which is not in plan.jsonl`},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.retell(t, func(entry state.Entry) state.Entry {
				if i, ok := entry.(state.Intent); ok && i.RefID == "water" {
					return intentBy(c.operation, c.refID, "second", c.amount)
				}
				return entry
			})
			dir, _ := h.export(t, "second")
			requireFinding(t, verify(t, dir), "journal.jsonl", c.text)
		})
	}
}

// intentBy is an intent with the body of [statetest.Intent], by an operation.
func intentBy(operation transfer.Operation, refID, runID, amount string) state.Intent {
	i := statetest.Intent(refID, runID, amount)
	r := statetest.Request(refID, amount)
	r.Operation = operation
	i.Operation, i.Path, i.Fingerprint = operation, transfer.DefaultOperator.Path(operation), r.Fingerprint().String()
	return i
}

// retell writes the journal anew as a whole, with other entries.
func (h *history) retell(t *testing.T, change func(state.Entry) state.Entry) {
	t.Helper()
	told := &journal{meta: h.journal.meta}
	told.meta.Serial, told.meta.Head = 0, ""
	for _, e := range h.journal.events {
		entry, err := e.Entry()
		check(t, err)
		told.append(t, change(entry))
	}
	h.journal = told
}

func requireFinding(t *testing.T, report *evidence.Report, file, text string) {
	t.Helper()
	for _, f := range report.Findings {
		if f.File == file && strings.Contains(f.Text, text) {
			return
		}
	}
	t.Errorf("want %s: %s, got %v", file, text, report.Findings)
}

// TestADoubtThatWasSentAgainWithOtherBytes has a plan that settles a doubt, and a run that sent
// something else under its ref_id.
func TestADoubtThatWasSentAgainWithOtherBytes(t *testing.T) {
	elsewhere, other := statetest.Intent("rent", "first", "10.00"), intentBy(transfer.Platform, "rent", "first", "10.00")
	elsewhere.Path, other.Path = "/v2/elsewhere", elsewhere.Path
	for name, recorded := range map[string]state.Intent{
		"the recorded bytes": statetest.Intent("rent", "first", "10.00"), "others": statetest.Intent("rent", "first", "90.00"),
		"to another path": elsewhere, "by another operation": intentBy(transfer.Platform, "rent", "first", "10.00"), "by another operation to that path": other,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			text, plan := savedPlanOver(t, doubting{intent: recorded}, "rent", "heating", "water")
			if c := plan.Changes.At(0); c.Action != planner.Resolve {
				t.Fatalf("rent is to %s", c.Action)
			}
			h.plan = text
			h.retell(t, func(entry state.Entry) state.Entry {
				if begun, ok := entry.(state.Begun); ok && begun.RunID == "second" {
					begun.PlanSHA256 = sum(h.plan)
					begun.Approvals = []state.Approval{approved(t, h.plan, state.RoleAuthor, "ada"), approved(t, h.plan, state.RoleApprover, "bob")}
					return begun
				}
				return entry
			})
			dir, _ := h.export(t, "second")
			const told = `the run wrote down another request of "rent"`
			report := verify(t, dir)
			if name != "the recorded bytes" {
				requireFinding(t, report, "journal.jsonl", told)
				return
			}
			for _, f := range report.Findings {
				if strings.Contains(f.Text, told) {
					t.Errorf("the recorded bytes are refused: %s", f)
				}
			}
		})
	}
}

// TestAnEventOfTheRunIsNotWithheld puts the digest of an event of the run in its place: a pack withholds
// events of other runs.
func TestAnEventOfTheRunIsNotWithheld(t *testing.T) {
	h := newHistory(t)
	dir, _ := h.export(t, "second")
	lines := strings.SplitAfter(read(t, dir)["journal.jsonl"], "\n")
	changed := 0
	for _, e := range h.journal.events {
		if e.Kind != state.KindIntent || e.RefID != "water" {
			continue
		}
		for i := range lines {
			if strings.HasPrefix(lines[i], fmt.Sprintf(`{"seq":%d,`, e.Seq)) {
				lines[i] = fmt.Sprintf("{\"seq\":%d,\"digest\":%q}\n", e.Seq, e.Digest())
				changed++
			}
		}
	}
	if changed != 1 {
		t.Fatalf("%d intents of water", changed)
	}
	put(t, dir, "journal.jsonl", strings.Join(lines, ""))
	seal(t, dir)
	requireFinding(t, verify(t, dir), "journal.jsonl", "withheld")
}

// TestARequestOfATransferThatWasMadeIsFound has a plan by which a transfer was made already, and a run that sent its request once more.
func TestARequestOfATransferThatWasMadeIsFound(t *testing.T) {
	h := newHistory(t)
	made := statetest.Outcome("rent", "first", state.SourceAnswer, state.Recorded)
	text, plan := savedPlanOver(t, doubting{statetest.Intent("rent", "first", "10.00"), &made}, "rent", "heating", "water")
	for _, c := range plan.Changes.All() {
		if c.RefID == "rent" && c.Action != planner.None {
			t.Fatalf("rent is to %s", c.Action)
		}
	}
	h.plan = text
	h.retell(t, func(entry state.Entry) state.Entry {
		if begun, ok := entry.(state.Begun); ok && begun.RunID == "second" {
			begun.PlanSHA256, begun.Digest, begun.Approvals = sum(h.plan), plan.Digest, nil
			return begun
		}
		return entry
	})
	dir, _ := h.export(t, "second")
	report := verify(t, dir)
	const want = `journal.jsonl, event 10: the run wrote down a request of "rent", which is not in plan.jsonl`
	if len(report.Findings) != 1 || report.Findings[0].String() != want {
		t.Errorf("%v, want %s", report.Findings, want)
	}
}
