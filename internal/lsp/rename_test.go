package lsp_test

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// controlled has what policies, limits and tests name.
const controlled = payroll + `
limit "month" {
  per       = "plan"
  max_count = 50
}

policy "small" {
  scope         = "plan"
  condition     = lookup(plan.totals, "EUR", "0") != "" && length(plan.batches["payroll"]) > 0
  error_message = "${plan.batches.payroll.count} are too many."
}
`

const itsTest = `variables {
  period = "2026-12"
}

run "december" {
  variables {
    period = "2026-10"
  }
  override_data {
    target = data.csv.staff
    file   = "staff.csv"
  }
  expect_failures = [policy.small, limit.month]
  assert {
    condition     = plan.batches.payroll.count == 2 && var.period != ""
    error_message = "not two"
  }
}
`

// TestARenameReachesControlsAndTests renames what the tests of a configuration name, and the policies by plan.batches.
func TestARenameReachesControlsAndTests(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": controlled, "staff.csv": staff, "pay.remittest.hcl": itsTest, "tests/more.remittest.hcl": itsTest})
	e := newEditor(t, folder)
	e.openSaved("main.hcl")
	for name, test := range map[string]struct {
		part, old string
		into      int
		own       string // of the texts of main.hcl that are changed, one
		inTests   string
		count     int // of the changes in a file of tests
	}{
		"a variable":    {"var.period", "period", 6, `variable "other" {`, `other = "2026-12"`, 3},
		"a data source": {"data.csv.staff", "staff", 11, `data "csv" "other" {`, "target = data.csv.other", 1},
		"a batch":       {`batch "payroll"`, "payroll", 8, `plan.batches["other"]`, "plan.batches.other.count", 1},
		"a policy":      {`policy "small"`, "small", 9, `policy "other" {`, "[policy.other, limit.month]", 1},
		"a limit":       {`limit "month"`, "month", 8, `limit "other" {`, "[policy.small, limit.other]", 1},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			var got struct{ Changes map[string][]textEdit }
			e.call("textDocument/rename", object{"textDocument": e.name("main.hcl"), "position": at(t, controlled, test.part, test.into), "newName": "other"}, &got)
			if text := applied(t, controlled, got.Changes[uri(e.path("main.hcl"))]); !strings.Contains(text, test.own) {
				t.Errorf("the configuration becomes:\n%s", text)
			}
			for _, file := range []string{"pay.remittest.hcl", "tests/more.remittest.hcl"} {
				edits := got.Changes[uri(e.path(file))]
				if text := applied(t, itsTest, edits); !strings.Contains(text, test.inTests) || len(edits) != test.count {
					t.Errorf("%s becomes, with %d changes:\n%s", file, len(edits), text)
				}
			}
		})
	}
}

func TestARenameSaysWhyNot(t *testing.T) {
	t.Parallel()
	const rents = "policy \"rents\" {\n  condition     = self.batch != \"payroll\"\n  error_message = \"no\"\n}\n"
	for name, test := range map[string]struct {
		more, part string
		into       int
		want       []string
	}{
		"a batch by its text":        {rents, `batch "payroll"`, 8, []string{"main.hcl", `"payroll"`, "line 50"}},
		"an environment":             {"environment \"live\" {\n}\n", `environment "live"`, 14, []string{"a new state would begin"}},
		"a block that nothing names": {"asset \"EUR\" {\n  decimals = 2\n}\n", `asset "EUR"`, 8, []string{"No reference names this asset block"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			text := payroll + test.more
			write(t, folder, map[string]string{"main.hcl": text, "staff.csv": staff})
			e := newEditor(t, folder)
			e.openSaved("main.hcl")
			_, err := e.client.Call(context.Background(), "textDocument/rename", object{"textDocument": e.name("main.hcl"), "position": at(t, text, test.part, test.into), "newName": "other"})
			if err == nil || slices.ContainsFunc(test.want, func(part string) bool { return !strings.Contains(err.Error(), part) }) {
				t.Errorf("it is answered: %v", err)
			}
		})
	}
}
