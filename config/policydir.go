package config

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/files/confined"
	"remit/internal/transfer"
)

// policyDir is a directory of controls beside the configuration, whose authors need not be
// able to write to it. Its invariant: nothing in the configuration changes what it says. Its
// blocks see the profiles of policy directories and nothing else, and the configuration can't
// declare their names again.
type policyDir struct {
	*eval.PolicyDir
	parsed []sourceFile
}

// policyKinds are the kinds of blocks that a policy directory may have, in order of name.
func policyKinds() []string {
	var names []string
	for _, kind := range blockKinds() {
		if kind.Policy {
			names = append(names, kind.Name)
		}
	}
	slices.Sort(names)
	return names
}

// openPolicyDirs opens the directories of [Options.PolicyDirs]. One that can't be read, that
// has no file of controls, or that is the configuration's own is a mistake: a control that is
// not there would be missed by nobody.
func openPolicyDirs(c *checker, opts Options, dir string, s *sourceFiles, controls *Controls) []*policyDir {
	var opened []os.FileInfo
	var dirs []*policyDir
	for _, name := range opts.PolicyDirs {
		d, info, diags := openPolicyDir(c, name, dir, opts.Unsaved, s, controls)
		c.report(diags...)
		isTwice := slices.ContainsFunc(opened, func(other os.FileInfo) bool { return os.SameFile(info, other) })
		if d == nil || isTwice {
			continue
		}
		opened = append(opened, info)
		dirs = append(dirs, d)
	}
	return dirs
}

func openPolicyDir(c *checker, name, dir string, unsaved *confined.Unsaved, s *sourceFiles, controls *Controls) (*policyDir, os.FileInfo, hcl.Diagnostics) {
	refuse := func(detail string, args ...any) (*policyDir, os.FileInfo, hcl.Diagnostics) {
		return nil, nil, hcl.Diagnostics{mistake.Placeless("Policy directory cannot be read", detail, args...)}
	}
	if name == "" {
		return refuse("--policy-dir or REMIT_POLICY_DIR is empty, which names no directory. Is a variable of the shell not set? Without controls, say neither.")
	}
	if err := transfer.CheckText(name); err != nil { // a reviewer reads it in places
		return refuse("The name of the policy directory %q %s", name, mistake.Sentence(err))
	}
	at := name
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, name)
	}
	root, err := confined.OpenDirectory(at, unsaved)
	if err != nil {
		return refuse("%s: %s Without it, nothing would be checked against its controls.", name, mistake.Sentence(confined.Plain(err)))
	}
	info, err := root.Stat(".")
	if err != nil {
		return refuse("%s: %s", name, mistake.Sentence(confined.Plain(err)))
	}
	if own, err := os.Stat(dir); err == nil && os.SameFile(info, own) {
		return refuse("%s is the directory of the configuration itself, whose authors could change it. Name another one.", name)
	}
	entries, err := root.Names(".")
	if err != nil {
		return refuse("%s: %s", name, mistake.Sentence(confined.Plain(err)))
	}
	d := &policyDir{PolicyDir: &eval.PolicyDir{Name: name, Root: root}}
	diags := missed(root, entries, filepath.ToSlash(name))
	for _, entry := range entries {
		if !IsSource(entry) {
			continue
		}
		shown := path.Join(filepath.ToSlash(name), entry)
		parsed := parseFile(root, entry, shown, nil, nil)
		diags = append(diags, parsed.diags...)
		if parsed.file == nil {
			continue
		}
		s.files[shown] = parsed.file
		c.policyFiles[shown] = true
		controls.Files = append(controls.Files, newControlFile(entry, parsed.file.Bytes))
		if !parsed.diags.HasErrors() {
			d.parsed = append(d.parsed, parsed.sourceFile)
		}
	}
	if len(d.parsed) == 0 && !diags.HasErrors() {
		return refuse("There is no file whose name ends in .hcl or .hcl.json in %s, and so no control.", name)
	}
	return d, info, diags
}

// noControl is about a file of a policy directory that has no block: one that a copy cut off, or
// that was written from a variable without a value, would be missed by nobody.
func noControl(name string) *hcl.Diagnostic {
	return mistake.Placeless("Nothing is controlled", "%s has no block, and so no control. Was it cut off, or written from a variable that is not set? Mend it, or remove it.", name)
}

// refuseInPolicyDir reports a block that a policy directory may not have.
func refuseInPolicyDir(c *checker, name string, r hcl.Range) {
	kinds := policyKinds()
	c.report(mistake.New(r, "Not for a policy directory", "A policy directory has %s and %s blocks only, not %q.",
		strings.Join(kinds[:len(kinds)-1], ", "), kinds[len(kinds)-1], name))
}
