package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
)

// terraformPrefix is before the name of a variable in Terraform's environment.
const terraformPrefix = "TF_VAR_"

// warnOfTerraform warns of a value that somebody gave as Terraform takes it, and that is not read.
func (vs *variables) warnOfTerraform(v *variable, opts Options) {
	if v.assigned || v.Progress == eval.Failed || opts.Getenv(terraformPrefix+v.Name) == "" {
		return
	}
	vs.report(mistake.Warning(v.At, "Variable of Terraform is not read",
		"%s%s is set, and remit does not read it. Set %s%s.", terraformPrefix, v.Name, environmentPrefix, v.Name))
}

// warnOfVariableFiles warns of files that Terraform would read by itself, where no file of Terraform is
// beside them that needs them.
func (vs *variables) warnOfVariableFiles(names []string, opts Options) {
	if slices.ContainsFunc(names, isTerraform) {
		return
	}
	for _, name := range names {
		isRead := slices.ContainsFunc(opts.Assignments, func(a Assignment) bool { return a.File == name })
		stem, isVariables := strings.CutSuffix(strings.TrimSuffix(name, ".json"), ".tfvars")
		if !isVariables || isRead || stem != "terraform" && !strings.HasSuffix(stem, ".auto") {
			continue
		}
		other := strings.Replace(strings.Replace(name, ".tfvars", ".hclvars", 1), "terraform.", "remit.", 1)
		d := mistake.Placeless("File of variables is not read",
			"%s is a file of Terraform, and remit does not read it. Name it %s, or say --var-file=%s.", name, other, name)
		d.Severity = hcl.DiagWarning
		vs.report(d)
	}
}

// isTerraform reports whether a file of that name is a configuration of Terraform or OpenTofu.
func isTerraform(name string) bool {
	return strings.HasSuffix(name, ".tf") || strings.HasSuffix(name, ".tf.json") || strings.HasSuffix(name, ".tofu")
}
