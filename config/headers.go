package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/text/lazyregexp"
)

var labelledBlock = lazyregexp.New(`^(?:Extraneous label for|Missing \S+ for) (\w+)$`)

// explainLabels says of blocks with too few or too many labels what their first line is.
func explainLabels(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, d := range diags {
		kind := labelledBlock.FindStringSubmatch(d.Summary)
		if kind == nil || mistake.FirstLines[kind[1]] == "" {
			continue
		}
		labels := "nothing"
		for _, k := range blockKinds() {
			if k.Name == kind[1] && len(k.Labels) > 0 {
				labels = "its " + strings.Join(k.Labels, " and its ")
			}
		}
		d.Summary = "First line of a block is not complete"
		if strings.HasPrefix(labels, "nothing") {
			d.Summary = "First line of a block has too much"
		}
		d.Detail = fmt.Sprintf("Between the word %s and the brace write %s, as in:\n\n  %s", kind[1], labels, mistake.FirstLines[kind[1]])
	}
	return diags
}

// otherBlocks are words for blocks that other programs use.
var otherBlocks = map[string]string{
	"payment": "transfer", "payments": "transfer", "payout": "transfer", "invoice": "transfer", "transaction": "transfer",
	"account": "profile", "recipient": "profile", "beneficiary": "profile", "creditor": "profile", "debtor": "profile", "contact": "profile",
	"currency": "asset", "config": "remit", "settings": "remit", "env": "environment", "workspace": "environment", "stage": "environment", "vars": "variable", "variables": "variable",
	"csv": "data", "xlsx": "data", "excel": "data", "file": "data", "source": "data", "rule": "policy", "holidays": "calendar",
	"api": "service", "bank": "service", "credentials": "service", "group": "batch", "approvers": "approval", "database": "state", "cron": "schedule",
}

// meantBlock says which block a wrong word may mean.
func meantBlock(name string, known []string) string {
	if home := mistake.Homes[name]; home != "" {
		return fmt.Sprintf(" It belongs between the braces of another block:\n\n  %s\n    %s {", mistake.FirstLines[home], name)
	}
	if slices.Contains([]string{"default", "defaults", "common", "shared", "template", "global", "globals"}, strings.ToLower(name)) {
		return " Each transfer has its arguments itself. A value that several share has a name in locals, and is written there as local.asset:\n\n  locals {\n    asset = \"USD\"\n  }"
	}
	hint := mistake.DidYouMean(name, known)
	if kind := otherBlocks[strings.ToLower(name)]; kind != "" && hint == "" {
		hint = fmt.Sprintf(" Did you mean %q?", kind)
	}
	if hint == "" {
		return " There are: " + strings.Join(slices.Sorted(slices.Values(known)), ", ") + "."
	}
	return hint
}

// placeOfArgument shows a block that may have an argument of the name.
func placeOfArgument(name string) string {
	for _, k := range blockKinds() {
		if slices.Contains(k.Required, name) || slices.Contains(k.Optional, name) {
			return fmt.Sprintf("  %s\n    %s = …\n  }", mistake.FirstLines[k.Name], name)
		}
	}
	return fmt.Sprintf("  locals {\n    %s = …\n  }", name)
}
