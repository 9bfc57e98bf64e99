package evidence_test

import (
	"strings"
	"testing"

	"remit/internal/evidence"
)

// TestAFaceWithAFieldMoreIsFound adds a column and a field under the name of another version, which may have fewer of them and none more.
func TestAFaceWithAFieldMoreIsFound(t *testing.T) {
	dir, _ := newHistory(t).export(t, "second")
	edit(t, dir, "evidence.json", `"remit": "`, `"remit": "0.`)
	rows := strings.Split(strings.TrimSuffix(read(t, dir)["outcomes.csv"], "\n"), "\n")
	put(t, dir, "outcomes.csv", rows[0]+",paid\n"+strings.Join(rows[1:], ",yes\n")+",yes\n")
	edit(t, dir, "outcomes.jsonl", `"amount":`, `"paid":"yes","amount":`)
	seal(t, dir)
	report := verify(t, dir)
	requireFinding(t, report, evidence.RegisterFile, `its "paid" is yes, and the journal says nothing`)
	requireFinding(t, report, evidence.LinesFile, `its "paid" is "yes", and the journal says nothing`)
}

// TestAPackOfAnotherVersionIsWhole has a pack as another version would have written it: nothing but the manifest proves which one did.
func TestAPackOfAnotherVersionIsWhole(t *testing.T) {
	dir, _ := newHistory(t).export(t, "second")
	edit(t, dir, evidence.FactsFile, `"remit": "0.1.0"`, `"remit": "0.9.9"`)
	edit(t, dir, evidence.LinesFile, `"remit":"0.1.0"`, `"remit":"0.9.9"`)
	seal(t, dir)
	if report := verify(t, dir); !report.Whole() || report.Facts.Remit != "0.9.9" {
		t.Errorf("by %s: %v", report.Facts.Remit, report.Findings)
	}
}

// TestOnlyTheFirstLineNamesTheVersion has a transfer with the field in which the first line has the version: that of any other line is one more.
func TestOnlyTheFirstLineNamesTheVersion(t *testing.T) {
	dir, _ := newHistory(t).export(t, "second")
	edit(t, dir, "evidence.json", `"remit": "`, `"remit": "0.`)
	edit(t, dir, "outcomes.jsonl", `"amount":`, `"remit":"0.1.0","amount":`)
	seal(t, dir)
	requireFinding(t, verify(t, dir), evidence.LinesFile, `its "remit" is "0.1.0", and the journal says nothing`)
}

// TestEvidenceSaysWhyARunStopped has a run that ended by an error.
func TestEvidenceSaysWhyARunStopped(t *testing.T) {
	dir, exported := newHistory(t).export(t, "second")
	if report := verify(t, dir); exported.Facts.Run.Stopped != "stopped" || report.Facts.Run.Stopped != "stopped" || !strings.Contains(read(t, dir)[evidence.FactsFile], `"stopped"`) {
		t.Errorf("%+v", report.Facts.Run)
	}
}
