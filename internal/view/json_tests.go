package view

import "time"

type testRunLine struct {
	Type        string           `json:"type"` // "test_run"
	File        string           `json:"file"`
	Run         string           `json:"run"`
	Line        int              `json:"line"`
	Status      TestStatus       `json:"status"`
	Took        time.Duration    `json:"took"` // nanoseconds
	Diagnostics []diagnosticLine `json:"diagnostics,omitempty"`
}

type testFileLine struct {
	Type   string     `json:"type"` // "test_file"
	File   string     `json:"file"`
	Status TestStatus `json:"status"`
}

type testSummaryLine struct {
	Type    string `json:"type"` // "test_summary"
	Success bool   `json:"success"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Errors  int    `json:"errors"`
	Skipped int    `json:"skipped"`
}

// Begin writes nothing: the runs of a file name it.
func (j *JSON) Begin(string) error { return nil }

// Ran writes a "test_run" with why it did not pass.
func (j *JSON) Ran(run TestRun) error {
	line := testRunLine{
		Type: "test_run", File: run.File, Run: run.Name, Line: run.Line, Status: run.Status, Took: run.Took,
	}
	for _, d := range run.Diagnostics {
		line.Diagnostics = append(line.Diagnostics, newDiagnosticLine(d))
	}
	j.write(line)
	return j.end()
}

// End writes a "test_file" with the worst status of its runs.
func (j *JSON) End(file string, worst TestStatus) error {
	j.write(testFileLine{"test_file", file, worst})
	return j.end()
}

// Counted writes a "test_summary".
func (j *JSON) Counted(counts TestCounts) error {
	j.write(testSummaryLine{
		"test_summary", counts.Passed(), counts[TestPass], counts[TestFail], counts[TestError], counts[TestSkip],
	})
	return j.end()
}
