package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/text/terraform"
)

// rootWords maps other words for values to the first words of references here.
var rootWords = map[string]string{
	"variable": "var", "variables": "var", "vars": "var", "locals": "local", "profiles": "profile", "account": "profile", "batches": "batch", "item": "each", "it": "each", "rows": "each",
}

// meant says what a reference with an unknown first word may mean.
func (r *resolver) meant(t hcl.Traversal, roots []string) string {
	root := t.RootName()
	rest := ""
	for _, step := range t[1:] {
		name, ok := StepName(step, false)
		if !ok {
			break
		}
		rest += "." + name
	}
	if own := r.meantOfSubject(t); own != "" {
		return own
	}
	if root == "plan" && r.reach.Subject == "self" {
		return " A policy looks at each transfer, as self. To look at the plan, write in the policy:\n\n  scope = \"plan\""
	}
	if known := rootWords[root]; known != "" {
		return fmt.Sprintf(" Did you mean %q?", known+rest)
	}
	if value := words[strings.ToLower(root)]; value != "" && len(t) == 1 {
		return fmt.Sprintf(" Did you mean %s?", value)
	}
	if slices.Contains(r.scope.dataTypes, root) {
		return fmt.Sprintf(" Rows are named with the word data before them:\n\n  data.%s%s", root, rest)
	}
	if strings.EqualFold(root, "env") {
		return " Nothing here reads the environment. Declare a variable, and set it there as REMIT_VAR_ and its name:\n\n  var" + rest
	}
	for _, known := range slices.Sorted(slices.Values(roots)) {
		if r.scope.Nodes[known][root] != nil {
			return fmt.Sprintf(" Did you mean %q?", known+"."+root+rest)
		}
	}
	if hint := mistake.DidYouMean(root, roots); hint != "" && len(t) > 1 {
		return hint
	}
	if own := r.rowName() + "." + root; r.alone && len(t) == 1 && slices.Contains(r.reach.Columns, root) {
		return fmt.Sprintf(" If it is the column, write:\n\n  %s", own)
	} else if len(t) == 1 && r.reach.Row {
		return fmt.Sprintf(" If it is a column, write:\n\n  %s\n\nIf it is text, put it in quotation marks:\n\n  %q", own, root)
	}
	if len(t) == 2 && slices.Contains([]string{".csv", ".tsv", ".txt", ".xlsx", ".json", ".jsonl", ".xml"}, strings.ToLower(rest)) {
		return fmt.Sprintf(" Put the name of a file in quotation marks:\n\n  %q", root+rest)
	}
	if len(t) == 1 {
		return fmt.Sprintf(" Put text in quotation marks:\n\n  %q", root)
	}
	return " There are: " + strings.Join(roots, ", ") + "."
}

// meantSelf refuses transfer.ATTRIBUTE in a policy, where the transfer is called self, and in the block of a transfer,
// where an argument is no value; nil for any other reference.
func (r *resolver) meantSelf(t hcl.Traversal) *hcl.Diagnostic {
	name, ok := stepAfter(t)
	if !ok || len(t) > 2 && len(t) != 3 {
		return nil
	}
	switch {
	case r.reach.Subject == "self" && slices.Contains(r.reach.SubjectHas, name):
		return mistake.New(t.SourceRange(), "Unknown reference", "In a policy the transfer is called self. Write:\n\n  self.%s", name)
	case r.reach.Subject == "plan" && len(t) == 2:
		return mistake.New(t.SourceRange(), "Unknown reference", "A policy with scope = \"plan\" looks at the plan. To look at each transfer, leave scope out and write:\n\n  self.%s", name)
	}
	return nil
}

// meantOfSubject is a reference to an attribute of the subject of a policy that somebody named alone; "" for none.
func (r *resolver) meantOfSubject(t hcl.Traversal) string {
	name := t.RootName()
	if !slices.Contains(r.reach.SubjectHas, name) || len(t) > 1 && r.reach.Subject == "" {
		return ""
	}
	return fmt.Sprintf(" In a policy it is an attribute of the %s. Write:\n\n  %s.%s", map[string]string{"self": "transfer", "plan": "plan"}[r.reach.Subject], r.reach.Subject, name)
}

// rowsOf is a data source's rows as they are named, where steps are what somebody wrote behind data.
func (r *resolver) rowsOf(steps []string) string {
	for _, name := range r.scope.Names("data") {
		kind, own, _ := strings.Cut(name, ".")
		if slices.Contains(steps, own) || slices.Contains(steps, kind) && len(steps) == 1 {
			return "data." + name + ".rows"
		}
	}
	return "data.csv.payroll.rows"
}

// rowName is what the row of a data source is called here.
func (r *resolver) rowName() string {
	if r.reach.Row {
		return "row"
	}
	return "each.value"
}

func meantFunction(name string, names []string) string {
	if why := ambient(name); why != "" {
		return why
	}
	if why, known := terraform.Function(name); known {
		return " " + why
	}
	return mistake.MeantFunction(name, names)
}

// ambient explains why functions that Terraform has are missing here.
func ambient(name string) string {
	if slices.Contains([]string{"timestamp", "plantimestamp", "now", "today", "date", "getdate", "uuid", "bcrypt", "env", "random", "rand"}, strings.ToLower(name)) {
		return " The same files mean the same transfers, today and next year: nothing here reads a clock, chance or the environment."
	}
	return ""
}
