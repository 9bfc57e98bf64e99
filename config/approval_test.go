package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"remit/config"
)

const (
	aliceKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAW4vGQEgE1L42ZPkJEOAXtQTJ+fRJ3GzTYNPzo87kim"
	bobKey   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIADlhGl8TVqdPJkwFel9yzQDw5tC/hP+tOy6GUVciRGv"
)

// approvalFiles are a configuration with an approval block whose rules are given.
func approvalFiles(rules string) map[string]string {
	return map[string]string{
		"main.hcl": "approval {\n  allowed_signers = \"signers\"\n" + rules + "}\n",
		"signers":  "alice " + aliceKey + "\nbob " + bobKey + "\n",
	}
}

func TestApproval(t *testing.T) {
	files := approvalFiles(`
  rule {
    above       = { USD = "0", EUR = "900.50" }
    count_above = var.most
    approvers   = 1
  }
`)
	files["variables.hcl"] = "variable \"most\" {\n  type    = number\n  default = 3\n}\n"
	c := mustLoad(t, files, config.Options{})
	blocks, whole := c.Approvals()
	if !whole || len(blocks) != 1 || len(blocks[0].Rules) != 1 {
		t.Fatalf("approvals: %+v, whole: %t", blocks, whole)
	}
	rule := blocks[0].Rules[0]
	if rule.Place != "main.hcl:4" || rule.Approvers != 1 || !rule.HasCount || rule.CountMax != 3 ||
		!rule.Above["USD"].IsZero() || rule.Above["EUR"].String() != "900.5" {
		t.Errorf("rule: %+v", rule)
	}
	if people := blocks[0].Signers.People(); len(people) != 2 {
		t.Errorf("%d people", len(people))
	}
	var names []string
	for _, control := range c.Controls().List() {
		names = append(names, control.Name)
	}
	if diff := cmp.Diff([]string{"approval", "file signers"}, names); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherRuleIsAnotherControl(t *testing.T) {
	digest := func(rules string) string {
		return mustLoad(t, approvalFiles(rules), config.Options{}).Controls().Digest()
	}
	one := digest("  rule {\n    approvers = 1\n  }\n")
	seen := map[string]string{"": one}
	for name, rules := range map[string]string{
		"an amount":   "  rule {\n    above     = { USD = \"1\" }\n    approvers = 1\n  }\n",
		"more":        "  rule {\n    above     = { USD = \"2\" }\n    approvers = 1\n  }\n",
		"an approver": "  rule {\n    approvers = 2\n  }\n",
		"an asset":    "  rule {\n    above     = { EUR = \"1\" }\n    approvers = 1\n  }\n",
		"a count":     "  rule {\n    count_above = 1\n    approvers   = 1\n  }\n",
		"a zero":      "  rule {\n    count_above = 0\n    approvers   = 1\n  }\n",
		"a rule more": "  rule {\n    approvers = 1\n  }\n  rule {\n    count_above = 1\n    approvers   = 1\n  }\n",
	} {
		got := digest(rules)
		for other, earlier := range seen {
			if got == earlier {
				t.Errorf("%s has the digest of %q", name, other)
			}
		}
		seen[name] = got
	}
	if moved := digest("\n\n  rule {\n    approvers = 1\n  }\n"); moved != one {
		t.Error("a rule that was moved is another one")
	}
}

func TestApprovalMistakes(t *testing.T) {
	const rule = "  rule {\n    approvers = 1\n  }\n"
	for name, c := range map[string]struct {
		change func(files map[string]string)
		want   string
	}{
		"no rule":            {func(f map[string]string) { f["main.hcl"] = approvalFiles("")["main.hcl"] }, "Nothing needs an approval"},
		"no approvers":       {func(f map[string]string) { f["main.hcl"] = approvalFiles("  rule {}\n")["main.hcl"] }, "Missing required argument"},
		"nobody":             {func(f map[string]string) { f["main.hcl"] = strings.Replace(f["main.hcl"], "= 1", "= 0", 1) }, "Not a whole number in range"},
		"a number":           {func(f map[string]string) { f["main.hcl"] = above("{ USD = 1000 }") }, "Amount is not quoted"},
		"no amounts":         {func(f map[string]string) { f["main.hcl"] = above("{}") }, "Not amounts by asset"},
		"grouped digits":     {func(f map[string]string) { f["main.hcl"] = above(`{ USD = "1,000" }`) }, "Invalid amount"},
		"less than nothing":  {func(f map[string]string) { f["main.hcl"] = above(`{ USD = "-1" }`) }, "Invalid amount"},
		"no file":            {func(f map[string]string) { delete(f, "signers") }, "File cannot be read"},
		"nobody in the file": {func(f map[string]string) { f["signers"] = "\n" }, "Invalid file of keys"},
		"a line of rubbish":  {func(f map[string]string) { f["signers"] += "carol\n" }, "Invalid file of keys"},
		"twice":              {func(f map[string]string) { f["other.hcl"] = f["main.hcl"] }, "Declared twice"},
		"from data":          {func(f map[string]string) { f["main.hcl"] = above("{ USD = profile.a.profile_id }") }, "Reference is not allowed here"},
		"a file outside": {func(f map[string]string) {
			f["main.hcl"] = strings.Replace(f["main.hcl"], "signers\"", "../signers\"", 1)
		}, "File cannot be read"},
		"an unknown argument": {func(f map[string]string) { f["main.hcl"] = strings.Replace(f["main.hcl"], "approvers", "aprovers", 1) }, "Unsupported argument"},
	} {
		t.Run(name, func(t *testing.T) {
			files := approvalFiles(rule)
			files["profile.hcl"] = "profile \"a\" {\n  profile_id = \"a\"\n}\n"
			c.change(files)
			_, diags := load(t, files, config.Options{})
			for _, d := range diags {
				if d.Severity == hcl.DiagError && d.Summary == c.want && d.Detail != "" {
					return
				}
			}
			t.Errorf("no mistake %q in %v", c.want, diags)
		})
	}
	c, diags := load(t, approvalFiles("  rule {\n    approvers = 2\n  }\n"), config.Options{})
	if len(diags) != 1 || diags[0].Summary != "Too few people may approve" || diags.HasErrors() || c == nil {
		t.Errorf("two approvers of two people, one of whom is the author: %v", diags)
	}
}

func above(value string) string {
	return approvalFiles("  rule {\n    above     = " + value + "\n    approvers = 1\n  }\n")["main.hcl"]
}

// A configuration of which only the state is needed may have a broken approval block, which then
// is nobody's mistake and is not half read.
func TestApprovalThatIsNotNeeded(t *testing.T) {
	files := approvalFiles("  rule {\n    approvers = var.unset\n  }\n")
	files["variables.hcl"] = "variable \"unset\" {\n  type = number\n}\n"
	c := mustLoad(t, files, config.Options{Need: config.NeedState})
	if _, whole := c.Approvals(); whole {
		t.Error("the approval block lacks a variable and is whole")
	}
	if _, diags := load(t, files, config.Options{Need: config.NeedControls}); !diags.HasErrors() {
		t.Error("it is no mistake for who needs it")
	}
}
