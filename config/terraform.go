package config

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/files/confined"
	"remit/internal/text/english"
	"remit/internal/text/terraform"
)

// terraformPrefix is before the name of a variable in Terraform's environment.
const terraformPrefix = "TF_VAR_"

// warnOfTerraform warns of a value that somebody gave as Terraform takes it, and that is not read.
func (vs *variables) warnOfTerraform(v *variable, opts Options) {
	for name := range misspelt(v.Name) {
		if v.misspelt(name) && vs.named(name) == nil && opts.Getenv(environmentPrefix+name) != "" {
			vs.report(mistake.Warning(v.At, "Variable of the environment is not read",
				"%s%s is set, and there is no variable %q. Did you mean %s%s?", environmentPrefix, name, name, environmentPrefix, v.Name))
		}
	}
	if v.assigned || v.Progress == eval.Failed || opts.Getenv(terraformPrefix+v.Name) == "" {
		return
	}
	vs.report(mistake.Warning(v.At, "Variable of Terraform is not read",
		"%s%s is set, and remit does not read it. Set %s%s.", terraformPrefix, v.Name, environmentPrefix, v.Name))
}

// misspelt reports whether a name may be what somebody typed in place of that of v, which has no value yet.
func (v *variable) misspelt(name string) bool {
	if v.assigned || v.Progress == eval.Failed {
		return false
	}
	for wrong := range misspelt(v.Name) {
		if wrong == name {
			return true
		}
	}
	return false
}

// misspelt yields what people type in place of a name: a letter is left out or doubled, two are swapped, the name
// has an s too many, or its letters are all capitals or all small.
func misspelt(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := map[string]bool{name: true}
		try := func(word string) bool {
			if seen[word] {
				return true
			}
			seen[word] = true
			return yield(word)
		}
		for i := range len(name) {
			swapped := name
			if i > 0 {
				swapped = name[:i-1] + name[i:i+1] + name[i-1:i] + name[i+1:]
			}
			if !try(name[:i]+name[i+1:]) || !try(name[:i]+name[i:i+1]+name[i:]) || !try(swapped) {
				return
			}
		}
		_ = try(name+"s") && try(strings.ToUpper(name)+"S") && try(strings.ToUpper(name)) && try(strings.ToLower(name))
	}
}

// warnOfEnvironment warns, once, of all variables with which somebody meant to direct remit as they direct
// Terraform.
func (vs *variables) warnOfEnvironment(opts Options) {
	var names, ways []string
	for name, way := range terraform.Environment() {
		value := opts.Getenv(name)
		isTaken := way.Instead != "" && opts.Getenv(way.Instead) != ""
		if value == "" || value == way.Default || isTaken {
			continue
		}
		names = append(names, name)
		if !slices.Contains(ways, way.Text) {
			ways = append(ways, way.Text)
		}
	}
	if len(names) == 0 {
		return
	}
	is, it := "is", "it"
	if len(names) > 1 {
		is, it = "are", "them"
	}
	vs.report(placelessWarning("Environment of Terraform is not read",
		"%s %s set, and remit does not read %s. %s", english.List(names), is, it, strings.Join(ways, " ")))
}

// warnOfNames tells, once, of variables of the environment whose names only resemble those that remit reads. Controls that nobody
// checks are an error; for the rest a warning is enough, because the plan shows its values.
func (vs *variables) warnOfNames(opts Options) {
	vs.refusePractice(opts)
	var told []string
	for _, right := range environmentNames {
		if opts.Getenv(right) != "" {
			continue
		}
		for _, wrong := range slices.AppendSeq(slices.Clone(otherNames[right]), misspelt(strings.TrimPrefix(right, ownPrefix))) {
			wrong = ownPrefix + wrong
			if opts.Getenv(wrong) == "" || slices.Contains(environmentNames, wrong) || wrong == environmentOfPipelines && !vs.hasEnvironments {
				continue
			}
			if right == environmentPolicyDir {
				vs.report(mistake.Placeless("Variable of the environment is not read",
					"%s is set, and remit reads %s: nothing would be checked against its controls. Correct the name.", wrong, right))
				continue
			}
			told = append(told, wrong+" is set, and remit does not read it. Did you mean "+right+"?")
		}
	}
	for name, way := range terraform.Environment() {
		wrong := ownPrefix + strings.TrimPrefix(name, "TF_")
		isTaken := way.Instead != "" && opts.Getenv(way.Instead) != ""
		if !slices.Contains(environmentNames, wrong) && opts.Getenv(wrong) != "" && !isTaken {
			told = append(told, wrong+" is set, and remit does not read it. "+way.Text)
		}
	}
	if len(told) > 0 {
		vs.report(placelessWarning("Variable of the environment is not read", "%s", strings.Join(told, "\n")))
	}
}

// refusePractice refuses to go on where a variable says that this is practice and the command line does not: a warning would pass by
// above a plan that looks as it does in the sandbox.
func (vs *variables) refusePractice(opts Options) {
	for _, word := range slices.Sorted(maps.Keys(practice)) {
		if value := opts.Getenv(ownPrefix + word); opts.Sandbox || slices.Contains(refusals, strings.ToLower(value)) {
			continue
		}
		vs.report(mistake.Placeless("Variable of the environment is not read",
			"%s is set, and remit does not read it: without --sandbox this is about real money. %s and remove the variable.", ownPrefix+word, practice[word]))
	}
}

// warnOfFiles warns of what Terraform would read by itself: files of variables, and the configuration. A file of
// variables beside a configuration of Terraform may be meant for that one alone, unless it names a variable that
// is declared here.
func (vs *variables) warnOfFiles(root *confined.Directory, names []string, opts Options) {
	i := slices.IndexFunc(names, isTerraform)
	if i >= 0 {
		vs.report(placelessWarning("File of Terraform is not read",
			"%s is a file of Terraform, and remit does not read it. remit reads files whose names end in .hcl or .hcl.json.", names[i]))
	}
	for _, name := range names {
		isRead := slices.ContainsFunc(opts.Assignments, func(a Assignment) bool { return a.File == name })
		stem, isVariables := strings.CutSuffix(strings.TrimSuffix(name, ".json"), ".tfvars")
		if !isVariables || isRead || stem != "terraform" && !strings.HasSuffix(stem, ".auto") {
			continue
		}
		if i >= 0 && !vs.mayAssign(root, name) {
			continue
		}
		other := strings.Replace(strings.Replace(name, ".tfvars", ".hclvars", 1), "terraform.", "remit.", 1)
		vs.report(placelessWarning("File of variables is not read",
			"%s is a file of Terraform, and remit does not read it. Name it %s, or say --var-file=%s.", name, other, name))
	}
}

// warnOfUnnamed warns of files of variables that are not read by themselves, where the command names no such file: their author
// may take them for read.
func (vs *variables) warnOfUnnamed(root *confined.Directory, names []string, opts Options) {
	if opts.Need != NeedAll || slices.ContainsFunc(opts.Assignments, func(a Assignment) bool { return a.File != "" }) {
		return
	}
	var unread []string
	for _, name := range names {
		stem, isVariables := strings.CutSuffix(strings.TrimSuffix(name, ".json"), ".hclvars")
		if isVariables && stem != "remit" && !strings.HasSuffix(stem, ".auto") && vs.mayAssign(root, name) {
			unread = append(unread, name)
		}
	}
	if len(unread) > 0 {
		vs.report(placelessWarning("File of variables is not read",
			"remit reads remit.hclvars and files whose names end in .auto.hclvars by itself, and not %s. Name the file where its values are meant:\n\n  --var-file=%s", mistake.Listed(unread, 5), unread[0]))
	}
}

// mayAssign reports whether a file of variables names one that is declared, or cannot be read, so that nobody
// knows.
func (vs *variables) mayAssign(root *confined.Directory, name string) bool {
	content, err := root.Read(name, sourceBytesMax)
	if err != nil {
		return true
	}
	parse := syntax.Parse
	if strings.HasSuffix(name, ".json") {
		parse = syntax.ParseJSON
	}
	file, diags := parse(content, name)
	if diags.HasErrors() {
		return true
	}
	attributes, diags := file.Body.JustAttributes()
	return diags.HasErrors() || slices.ContainsFunc(vs.all, func(v *variable) bool { return attributes[v.Name] != nil })
}

func placelessWarning(summary, detail string, args ...any) *hcl.Diagnostic {
	d := mistake.Placeless(summary, detail, args...)
	d.Severity = hcl.DiagWarning
	return d
}

// terraformTest says how a file of Terraform's tests is named here; "" for another file.
func terraformTest(name string) string {
	for _, suffix := range []string{".tftest.hcl", ".tofutest.hcl"} {
		if stem, isTest := strings.CutSuffix(name, suffix); isTest {
			return " Name this file " + stem + testSuffix + "."
		}
	}
	return ""
}

// isTerraform reports whether a file of that name is a configuration of Terraform or OpenTofu.
func isTerraform(name string) bool {
	stem := strings.TrimSuffix(name, ".json")
	return strings.HasSuffix(stem, ".tf") || strings.HasSuffix(stem, ".tofu")
}
