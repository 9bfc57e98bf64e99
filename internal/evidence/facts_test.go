package evidence_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/approval"
	"remit/internal/evidence"
	"remit/state"
	"remit/state/statetest"
)

// TestTheFactsOfAPackAreThoseOfItsRun compares all that a pack says in short, and the keys in it, with the journal.
func TestTheFactsOfAPackAreThoseOfItsRun(t *testing.T) {
	h := newHistory(t)
	var run state.Begun
	h.retell(t, func(entry state.Entry) state.Entry {
		begun, ok := entry.(state.Begun)
		if !ok || begun.RunID != "second" {
			return entry
		}
		begun.Author, begun.Controls = "ada", sum([]byte("controls"))
		begun.ControlList = []state.ControlDigest{{Name: "limit.day", Place: "main.hcl:3", SHA256: sum([]byte("limit"))}}
		begun.Accepted = []string{"--accept-limit=day<night"}
		begun.Approvals[1] = approved(t, h.plan, state.RoleApprover, "bob b")
		run = begun
		return begun
	})
	dir, exported := h.export(t, "second")
	at := func(seq int) time.Time { return noon.Add(time.Duration(seq) * time.Second) }
	approvalOf := func(a state.Approval, file string) evidence.Approval {
		return evidence.Approval{
			Role: a.Role, Principal: a.Principal, Fingerprint: a.Fingerprint, Key: a.Key, File: file, FoundAs: a.File, SHA256: a.SHA256,
		}
	}
	result := func(result executor.Result, count int, total string) evidence.Result {
		return evidence.Result{Result: result, Count: count, Assets: []evidence.Asset{{Asset: "USD", Count: count, Sum: total}}}
	}
	created := statetest.Created()
	want := evidence.Facts{
		Format: "remit-evidence/1", Remit: "0.1.0", Environment: "test", Lineage: created.Lineage, Service: created.Service, Origin: run.Origin,
		Run: evidence.RunFacts{
			RunID: "second", By: statetest.Holder("remit apply"), Begun: at(8), Ended: at(15), Stopped: "stopped", PlanID: "plan-1",
			Digest: run.Digest, Author: "ada", Controls: run.Controls, ControlList: run.ControlList, Accepted: run.Accepted,
		},
		Plan:      evidence.PlanFacts{File: "plan.jsonl", Name: "november.plan", SHA256: sum(h.plan)},
		Approvals: []evidence.Approval{approvalOf(run.Approvals[0], "approval-01.sig"), approvalOf(run.Approvals[1], "approval-02.sig")},
		Journal: evidence.JournalFacts{
			First: 5, Begun: 8, Last: 15, LastHash: h.journal.events[14].Hash, Shown: 10, Withheld: 5, Head: 19, HeadHash: h.journal.meta.Head,
		},
		Results: []evidence.Result{result(executor.ResultRecorded, 2, "20.00"), result(executor.ResultRefused, 1, "10.00"), result(executor.ResultInDoubt, 1, "10.00")},
	}
	if diff := cmp.Diff(want, exported.Facts); diff != "" {
		t.Errorf("as it was exported (-want +got):\n%s", diff)
	}
	files := read(t, dir)
	var written evidence.Facts
	check(t, json.Unmarshal([]byte(files[evidence.FactsFile]), &written))
	if diff := cmp.Diff(want, written); diff != "" || !strings.Contains(files[evidence.FactsFile], "day<night") {
		t.Errorf("in %s (-want +got):\n%s", evidence.FactsFile, diff)
	}
	register := `result,ref_id,group_id,record_id,service_status,batch,operation,from_profile_id,from_identity_id,from_account_id,to_profile_id,to_identity_id,to_account_id,amount,asset,at,reason,place
recorded,doubt,g-r-doubt,r-doubt,COMPLETED,,internal,p-from,,,p-to,,,10.00,USD,2026-11-27T12:00:09Z,,
recorded,rent,g-r-rent,r-rent,COMPLETED,,internal,p-from,,,p-to,,,10.00,USD,2026-11-27T12:00:14Z,,test.hcl:1
refused,heating,,,,,internal,p-from,,,p-to,,,10.00,USD,2026-11-27T12:00:13Z,no funds,test.hcl:1
in_doubt,water,,,,,internal,p-from,,,p-to,,,10.00,USD,2026-11-27T12:00:12Z,The run wrote no outcome of it.,test.hcl:1
`
	if diff := cmp.Diff(register, strings.ReplaceAll(files[evidence.RegisterFile], "\r\n", "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", evidence.RegisterFile, diff)
	}
	signers := `ada namespaces="remit-plan" ` + run.Approvals[0].Key + "\n" + `"bob b" namespaces="remit-plan" ` + run.Approvals[1].Key + "\n"
	if diff := cmp.Diff(signers, files[evidence.SignersFile]); diff != "" {
		t.Errorf("%s (-want +got):\n%s", evidence.SignersFile, diff)
	}
	if exported.Files != len(files)-1 {
		t.Errorf("%d files, beside the manifest there are %d", exported.Files, len(files)-1)
	}
	check(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		info, errInfo := entry.Info()
		if err == nil && errInfo == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read %s: %v", path, info.Mode())
		}
		return errors.Join(err, errInfo)
	}))
	dir, third := h.export(t, "third")
	if !third.Facts.Run.Complete || third.Facts.Plan != (evidence.PlanFacts{Absent: third.Facts.Plan.Absent}) {
		t.Errorf("a run that is complete, without a plan: %+v", third.Facts)
	}
	bare := []string{evidence.ManifestFile, evidence.FactsFile, evidence.JournalFile, evidence.RegisterFile, evidence.LinesFile}
	if diff := cmp.Diff(bare, slices.Sorted(maps.Keys(read(t, dir)))); diff != "" {
		t.Errorf("the files of a run without a plan (-want +got):\n%s", diff)
	}
}

// TestWhereAFindingIs compares all that is found of a changed pack: the file, the line, the event, and the words.
func TestWhereAFindingIs(t *testing.T) {
	h := newHistory(t)
	older := func(t *testing.T, dir string) {
		edit(t, dir, evidence.FactsFile, `"remit": "0.1.0"`, `"remit": "0.0.9"`)
	}
	withoutLast := func(t *testing.T, dir string) {
		lines := strings.SplitAfter(strings.TrimSuffix(read(t, dir)[evidence.LinesFile], "\n"), "\n")
		put(t, dir, evidence.LinesFile, strings.Join(lines[:len(lines)-1], ""))
	}
	fewer := func(t *testing.T, dir string) {
		rows, err := csv.NewReader(strings.NewReader(read(t, dir)[evidence.RegisterFile])).ReadAll()
		check(t, err)
		var b strings.Builder
		w := csv.NewWriter(&b)
		for _, row := range rows {
			check(t, w.Write(row[1:]))
		}
		w.Flush()
		put(t, dir, evidence.RegisterFile, b.String())
		edit(t, dir, evidence.LinesFile, `"interrupted":false,`, "")
	}
	first := h.journal.events[9].Hash
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		sealed bool
		head   string
		want   []string
	}{
		"a journal with a line more": {func(t *testing.T, dir string) {
			put(t, dir, evidence.JournalFile, read(t, dir)[evidence.JournalFile]+"{}\n")
		}, true, "", []string{"journal.jsonl, line 16, event 20: it is not as remit writes it"}},
		"a journal that is cut off": {func(t *testing.T, dir string) {
			put(t, dir, evidence.JournalFile, strings.TrimSuffix(read(t, dir)[evidence.JournalFile], "\n"))
		}, true, "", []string{"journal.jsonl, line 15, event 19: it is cut off"}},
		"a face without its last line":              {withoutLast, true, "", []string{"outcomes.jsonl, line 7: it is cut off here: the journal has more"}},
		"a face of an older version":                {func(t *testing.T, dir string) { older(t, dir); fewer(t, dir) }, true, "", nil},
		"a face with fewer fields, of this version": {fewer, true, "", []string{"outcomes.jsonl: it was changed: it is not as remit writes it", "outcomes.csv: it was changed: it is not as remit writes it"}},
		"a face of an older version that says another thing": {func(t *testing.T, dir string) {
			older(t, dir)
			edit(t, dir, evidence.LinesFile, `"group_id":"g-r-rent"`, `"group_id":"g-x"`)
		}, true, "", []string{`outcomes.jsonl, line 4: its "group_id" is "g-x", and the journal says "g-r-rent"`}},
		"a register of an older version with an empty column more": {func(t *testing.T, dir string) {
			older(t, dir)
			rows := strings.ReplaceAll(read(t, dir)[evidence.RegisterFile], "\r\n", ",\r\n")
			put(t, dir, evidence.RegisterFile, strings.Replace(rows, ",\r\n", ",more\r\n", 1))
		}, true, "", []string{
			`outcomes.csv, line 2: its "more" is empty, and the journal says nothing`, `outcomes.csv, line 3: its "more" is empty, and the journal says nothing`,
			`outcomes.csv, line 4: its "more" is empty, and the journal says nothing`, `outcomes.csv, line 5: its "more" is empty, and the journal says nothing`,
		}},
		"a register of an older version with an empty cell": {func(t *testing.T, dir string) {
			older(t, dir)
			edit(t, dir, evidence.RegisterFile, ",no funds,", ",,")
		}, true, "", []string{`outcomes.csv, line 4: its "reason" is empty, and the journal says no funds`}},
		"a face that is no JSON": {func(t *testing.T, dir string) {
			put(t, dir, evidence.LinesFile, "[]\n")
		}, true, "", []string{"outcomes.jsonl, line 1: it was changed: json: cannot unmarshal array into Go value of type map[string]json.RawMessage"}},
		"facts of another format": {func(t *testing.T, dir string) {
			edit(t, dir, evidence.FactsFile, "remit-evidence/1", "remit-evidence/2")
		}, true, "", []string{`evidence.json: its format is "remit-evidence/2", and this remit reads "remit-evidence/1"`}},
		"facts with a field that nobody knows": {func(t *testing.T, dir string) {
			edit(t, dir, evidence.FactsFile, `"remit": "`, `"audited": true,"remit": "`)
		}, true, "", []string{`evidence.json: it was changed, or a newer remit wrote it: json: unknown field "audited"`}},
		"facts that name another run": {func(t *testing.T, dir string) {
			edit(t, dir, evidence.FactsFile, `"run_id": "second"`, `"run_id": "third"`)
		}, true, "", []string{`evidence.json: its "run" is not what the journal says`}},
		"a file that the manifest does not list": {func(t *testing.T, dir string) {
			put(t, dir, "more.txt", "x")
		}, false, "", []string{"more.txt: it was added: SHA256SUMS does not list it"}},
		"a file that only the manifest lists": {func(t *testing.T, dir string) {
			put(t, dir, "more.txt", "x")
			seal(t, dir)
			remove("more.txt")(t, dir)
		}, false, "", []string{"more.txt: it is missing: SHA256SUMS lists it"}},
		"a link that the manifest lists": {func(t *testing.T, dir string) {
			put(t, dir, "more.txt", "x")
			seal(t, dir)
			remove("more.txt")(t, dir)
			check(t, os.Symlink("journal.jsonl", filepath.Join(dir, "more.txt")))
		}, false, "", []string{"more.txt: it is no regular file, and a pack has nothing else"}},
		"a head from the midst of the run": {func(*testing.T, string) {}, false, first, []string{
			"journal.jsonl, event 10: the hash that was kept is of this event, before the run's last one, which is event 15: it proves nothing of what came after. Keep the hash that the run printed at its end, or a later one",
		}},
		"a face that was changed, and its line is not": {func(t *testing.T, dir string) {
			put(t, dir, evidence.SignersFile, "")
		}, false, "", []string{
			"allowed_signers: it was changed, or its line in SHA256SUMS was: its SHA-256 is " + sum(nil) + ", listed is SUM",
			"allowed_signers: it was changed: it is not what the journal has",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, _ := h.export(t, "second")
			signers := sum([]byte(read(t, dir)[evidence.SignersFile]))
			c.change(t, dir)
			if c.sealed {
				seal(t, dir)
			}
			var got []string
			for _, f := range verify(t, dir, func(o *evidence.Options) { o.Head = c.head }).Findings {
				got = append(got, strings.Replace(f.String(), "listed is "+signers, "listed is SUM", 1))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAManifestNamesFilesOfThePackAlone has manifests that sha256sum would read, and some that it would not.
func TestAManifestNamesFilesOfThePackAlone(t *testing.T) {
	dir, _ := newHistory(t).export(t, "second")
	whole := read(t, dir)[evidence.ManifestFile]
	lines := strings.SplitAfter(whole, "\n")
	other := sum([]byte("x"))
	for name, c := range map[string]struct{ manifest, want string }{
		"a file beside the pack":      {other + "  ../plan.jsonl\n" + whole, "line 1 does not name a file of the pack"},
		"a file anywhere":             {other + "  /etc/passwd\n" + whole, "line 1 does not name a file of the pack"},
		"a file in a directory":       {whole + other + "  a/b\n", "line 9 does not name a file of the pack"},
		"the directory":               {other + "  .\n" + whole, "line 1 does not name a file of the pack"},
		"the directory above":         {other + "  ..\n" + whole, "line 1 does not name a file of the pack"},
		"no name":                     {other + "  \n" + whole, "line 1 does not name a file of the pack"},
		"a file twice":                {lines[0] + whole, "line 2 names allowed_signers again"},
		"a file twice, the other way": {whole + other + "  plan.jsonl\n", "line 9 names plan.jsonl again"},
		"one space":                   {strings.Replace(whole, "  ", " ", 1), "line 1 is not a SHA-256 and the name of a file"},
		"a shorter sum":               {whole[2:], "line 1 is not a SHA-256 and the name of a file"},
		"a sum that is none":          {"x" + whole[1:], "line 1 is not a SHA-256 and the name of a file"},
		"a line that is not ended":    {strings.TrimSuffix(whole, "\n"), "it is not as remit writes it: sorted by name, in lower case, each line ended"},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, dir, evidence.ManifestFile, c.manifest)
			var got []string
			for _, f := range verify(t, dir).Findings {
				got = append(got, f.String())
			}
			if diff := cmp.Diff([]string{"SHA256SUMS: it was changed: " + c.want}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestAnExportThatFailsLeavesNothingBehind has exports that cannot be finished: a directory of its own is gone, and one that was
// there is empty.
func TestAnExportThatFailsLeavesNothingBehind(t *testing.T) {
	h := newHistory(t)
	plan := filepath.Join(t.TempDir(), "november.plan")
	check(t, os.WriteFile(plan, h.plan, 0o600))
	whole := evidence.Material{Journal: h.journal, RunID: "second", Plan: plan, Faces: faces(), Version: "0.1.0"}
	errFace := errors.New("the disk is full")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, c := range map[string]struct {
		ctx    context.Context
		change func(from *evidence.Material)
		want   error
		text   string
	}{
		"a run that nobody knows":       {t.Context(), func(from *evidence.Material) { from.RunID = "second " }, nil, `the journal has no run "second "`},
		"no plan":                       {t.Context(), func(from *evidence.Material) { from.Plan = "" }, fs.ErrNotExist, ""},
		"a plan that is not there":      {t.Context(), func(from *evidence.Material) { from.Plan = plan + "x" }, fs.ErrNotExist, plan + "x"},
		"a plan of a run that had none": {t.Context(), func(from *evidence.Material) { from.RunID = "third" }, evidence.ErrOtherPlan, "the run planned by itself and saved no plan"},
		"a face that fails": {t.Context(), func(from *evidence.Material) {
			from.Faces[1].Write = func(io.Writer, *executor.PastRun) error { return errFace }
		}, errFace, "outcomes.csv"},
		"a face that is there already": {t.Context(), func(from *evidence.Material) { from.Faces[1].File = evidence.PlanFile }, fs.ErrExist, "plan.jsonl"},
		"an interrupt":                 {stopped, func(*evidence.Material) {}, context.Canceled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			from := whole
			from.Faces = faces()
			c.change(&from)
			made, there := filepath.Join(t.TempDir(), "pack"), t.TempDir()
			for _, dir := range []string{made, there} {
				_, err := evidence.Export(c.ctx, dir, from)
				if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("%v", err)
				}
			}
			if _, err := os.Stat(made); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it left the directory: %v", err)
			}
			if left := read(t, there); len(left) > 0 {
				t.Errorf("it left %v", left)
			}
		})
	}
	if _, err := evidence.Export(t.Context(), filepath.Join(plan, "pack"), whole); err == nil || errors.Is(err, evidence.ErrNotEmpty) {
		t.Errorf("below a file: %v", err)
	}
}

// TestACheckThatIsInterruptedIsNoVerdict has a context that ended, and a directory that is none.
func TestACheckThatIsInterruptedIsNoVerdict(t *testing.T) {
	dir, _ := newHistory(t).export(t, "second")
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if report, err := evidence.Verify(stopped, dir, evidence.Options{Faces: faces()}); !errors.Is(err, context.Canceled) || report != nil {
		t.Errorf("%v, %+v", err, report)
	}
	if report, err := evidence.Verify(t.Context(), filepath.Join(dir, "none"), evidence.Options{}); !errors.Is(err, fs.ErrNotExist) || report != nil {
		t.Errorf("%v, %+v", err, report)
	}
}

// TestAPasskeyOfSomebodyElseIsFound has the people of passkeys: the one of the approval is another's, unknown, or revoked.
func TestAPasskeyOfSomebodyElseIsFound(t *testing.T) {
	h := newHistory(t)
	var key string
	h.retell(t, func(entry state.Entry) state.Entry {
		if begun, ok := entry.(state.Begun); ok && begun.RunID == "second" {
			begun.Approvals[1] = byPasskey(t, h.plan, "bob")
			key = strings.TrimPrefix(begun.Approvals[1].Key, "passkey ")
			return begun
		}
		return entry
	})
	other := strings.TrimPrefix(byPasskey(t, h.plan, "eve").Key, "passkey ")
	dir, _ := h.export(t, "second")
	const file = "approval-02" + approval.PasskeySuffix + ": "
	for name, c := range map[string]struct{ people, revoked, want string }{
		"bob's":          {"bob " + key, "", ""},
		"somebody's":     {"carol " + key, "", file + `the journal says that it is of "bob", and allowed_passkeys has its key for somebody else`},
		"nobody's":       {"eve " + other, "", file + `the signature of "bob" does not count: `},
		"bob's, revoked": {"bob " + key, "bob " + key, file + `the signature of "bob" does not count: `},
	} {
		t.Run(name, func(t *testing.T) {
			people, mistakes := approval.ParsePasskeys([]byte(c.people+"\n"), time.UTC)
			revoked, more := approval.ParseRevokedPasskeys([]byte(c.revoked + "\n# no more\n"))
			if len(mistakes)+len(more) > 0 {
				t.Fatal(mistakes, more)
			}
			report := verify(t, dir, func(o *evidence.Options) { o.Signers, o.Revoked = people, revoked })
			got := ""
			for _, f := range report.Findings {
				got += f.String()
			}
			if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") || report.OnlyKeys() != (c.want != "") {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestALaterWordOnATransferOfTheRunIsWithheld has a later run that settles a doubt of the proven one, and an answer that is longer than
// a reader's buffer, in letters that a page of HTML would have in other words.
func TestALaterWordOnATransferOfTheRunIsWithheld(t *testing.T) {
	h := newHistory(t)
	reason := "a < b & c " + strings.Repeat("x", 100<<10)
	h.retell(t, func(entry state.Entry) state.Entry {
		if o, ok := entry.(state.Outcome); ok && o.RefID == "heating" {
			o.Reason = reason
			return o
		}
		return entry
	})
	h.journal.append(t, state.Begun{RunID: "fourth", Digest: "d"}, statetest.Outcome("water", "fourth", state.SourceLookup, state.Recorded),
		state.Ended{RunID: "fourth"})
	dir, exported := h.export(t, "second")
	if j := exported.Facts.Journal; j.Shown != 10 || j.Withheld != 8 {
		t.Errorf("%d events are shown and %d are withheld, want 10 and 8", j.Shown, j.Withheld)
	}
	if journal := read(t, dir)[evidence.JournalFile]; strings.Contains(journal, "fourth") || !strings.Contains(journal, string(h.journal.events[12].Data)) {
		t.Error("the journal's part has a later run, or not the bytes of the journal")
	}
	if report := verify(t, dir); !report.Whole() {
		t.Errorf("an untouched pack: %.300v", report.Findings)
	}
	edit(t, dir, evidence.FactsFile, `"remit": "0.1.0"`, `"remit": "0.0.9"`)
	edit(t, dir, evidence.LinesFile, `"remit":"0.1.0"`, `"remit":"0.0.9"`)
	edit(t, dir, evidence.LinesFile, `"interrupted":false,`, "")
	seal(t, dir)
	if report := verify(t, dir); !report.Whole() {
		t.Errorf("a pack of an older version: %.300v", report.Findings)
	}
}
