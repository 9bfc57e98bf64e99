package config

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/files/confined"
	"remit/internal/text/confusable"
	"remit/internal/transfer"
)

// includedDir is an included directory: an address book, a calendar of the bank, the limits of a group. Its
// invariant: it means the same in every configuration that includes it, but for the values of its
// variables. Its blocks see what included directories declare and read files of their own directory,
// and nobody declares their names again.
type includedDir struct {
	*eval.IncludedDir
	parsed []sourceFile
	info   os.FileInfo
}

// includesMax bounds the directories that a configuration includes: each is open while it is read.
const includesMax = 100

// include is one entry of the include argument.
type include struct {
	name string
	at   hcl.Range
}

// readIncludes returns what the remit block includes. It is read before any block, because all others
// may need the declarations there.
func readIncludes(sources *sourceFiles) ([]include, hcl.Diagnostics) {
	for body := range sources.bodies() {
		content, _, _ := body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "remit"}}})
		for _, block := range content.Blocks {
			inner, _, _ := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "include"}}})
			if a := inner.Attributes["include"]; a != nil {
				return listedIncludes(a.Expr)
			}
		}
	}
	return nil, nil
}

func listedIncludes(expr hcl.Expression) ([]include, hcl.Diagnostics) {
	refuse := func(at hcl.Range) hcl.Diagnostics {
		return hcl.Diagnostics{mistake.New(at, "Included directory is not written out",
			"include is a list of directories, each of them written out in quotation marks, so that this file shows everybody what is read:\n\n  include = [\"../book\"]")}
	}
	items, diags := hcl.ExprList(expr)
	if diags.HasErrors() {
		return nil, refuse(expr.Range())
	}
	if len(items) > includesMax {
		return nil, hcl.Diagnostics{mistake.New(expr.Range(), "Too many included directories", "There are %d; at most %d are read.", len(items), includesMax)}
	}
	var all []include
	for _, item := range items {
		name, ok := writtenText(item)
		if !ok {
			return nil, refuse(item.Range())
		}
		all = append(all, include{name, item.Range()})
	}
	return all, nil
}

// writtenText is a text without anything computed in it. In JSON every text is a template.
func writtenText(expr hcl.Expression) (string, bool) {
	if tree, isNative := expr.(hclsyntax.Expression); isNative {
		text, ok := syntax.LiteralText(tree)
		if !ok {
			return "", false
		}
		return text.AsString(), true
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() || !syntax.IsText(value) || value.Type() != cty.String {
		return "", false
	}
	text := value.AsString()
	return text, !strings.Contains(text, "${") && !strings.Contains(text, "%{")
}

// includeOpener opens included directories.
type includeOpener struct {
	*checker
	dir        string
	options    Options
	sources    *sourceFiles
	policyDirs []*policyDir
	opened     []*includedDir
	diags      hcl.Diagnostics
}

// openIncluded opens the directories that the configuration includes, and parses their files. The
// diagnostics say why one can't be read: then nothing else is worth saying.
func openIncluded(c *checker, dir string, opts Options, s *sourceFiles, policyDirs []*policyDir) ([]*includedDir, hcl.Diagnostics) {
	includes, diags := readIncludes(s)
	o := &includeOpener{checker: c, dir: dir, options: opts, sources: s, policyDirs: policyDirs, diags: diags}
	for _, in := range includes {
		b := o.open(in)
		if b == nil {
			continue
		}
		o.parse(b, in)
		o.opened = append(o.opened, b)
	}
	return o.opened, o.diags
}

func (o *includeOpener) refuse(in include, detail string, args ...any) {
	o.diags = append(o.diags, mistake.New(in.at, "Directory cannot be included", detail, args...))
}

// open opens a directory, and is nil where it may not be included.
func (o *includeOpener) open(in include) *includedDir {
	if err := transfer.CheckText(in.name); in.name != "" && err != nil { // a reviewer reads it in places
		o.refuse(in, "include: %q %s", in.name, mistake.Sentence(err))
		return nil
	}
	if in.name == "" || path.IsAbs(in.name) || in.name[0] == '~' || strings.ContainsAny(in.name, `\:`) {
		o.refuse(in, "Name a directory as it lies relative to the one of this configuration, with slashes, such as ../book.")
		return nil
	}
	name := path.Clean(in.name)
	root := o.openRoot(in, name)
	if root == nil {
		return nil
	}
	info, err := root.Stat(".")
	if err != nil {
		_ = root.Close()
		o.refuse(in, "%s: %s", name, mistake.Sentence(confined.Plain(err)))
		return nil
	}
	if why := o.known(info); why != "" {
		_ = root.Close()
		o.refuse(in, "%s %s", name, why)
		return nil
	}
	for _, b := range o.opened {
		if strings.EqualFold(b.Name, name) {
			_ = root.Close()
			o.refuse(in, "%s and %s differ in the case of letters only. Some file systems take them for one directory, and so do readers. Give one of them another name.", name, b.Name)
			return nil
		}
	}
	if confusable.Mixed(name) {
		o.diags = append(o.diags, mistake.Warning(in.at, "Name that may pass for another",
			"Letters of the directory's name %q are of another script than its other letters, or look like Latin ones. Make sure that this directory is meant.", name))
	}
	return &includedDir{IncludedDir: &eval.IncludedDir{Name: name, Root: root, Functions: o.sources.functions(root, name, o.scope.Meter)}, info: info}
}

// known says of a directory that is read already, under another name perhaps, what it is.
func (o *includeOpener) known(info os.FileInfo) string {
	same := func(root *confined.Directory) bool {
		other, err := root.Stat(".")
		return err == nil && os.SameFile(info, other)
	}
	if same(o.sources.root) {
		return "is the directory of this configuration itself, which includes the others."
	}
	for _, d := range o.policyDirs {
		if same(d.Root) {
			return "is a policy directory, whose controls are in force without an include. Remove it here."
		}
	}
	for _, b := range o.opened {
		if os.SameFile(info, b.info) {
			return "is included twice: " + b.Name + " is the same directory. Remove one of them."
		}
	}
	return ""
}

// openRoot opens a directory by its clean name, below the root that whoever runs remit named, or below
// the configuration's directory where nobody named one.
func (o *includeOpener) openRoot(in include, name string) *confined.Directory {
	top, at := o.sources.root, name
	if limit, isNamed := o.root(); limit != "" {
		physical, below, err := o.belowRoot(limit)
		switch {
		case err != nil:
			o.refuse(in, "The root %s, which --root or REMIT_ROOT names, cannot be opened: %s", limit, mistake.Sentence(confined.Plain(err)))
			return nil
		case filepath.IsLocal(below) && !filepath.IsLocal(filepath.Join(below, name)):
			o.refuse(in, "%s leads out of the root %s, and remit reads nothing outside of it.", name, physical)
			return nil
		case filepath.IsLocal(below):
			named, err := confined.OpenDirectory(physical, o.options.Unsaved)
			if err != nil {
				o.refuse(in, "The root %s: %s", physical, mistake.Sentence(confined.Plain(err)))
				return nil
			}
			defer func() { _ = named.Close() }() // the directory below outlives it
			top, at = named, filepath.Join(below, name)
		case isNamed:
			o.refuse(in, "The root %s, which --root or REMIT_ROOT names, does not hold the directory of this configuration. Name one that holds both; a name that is not absolute is relative to this configuration.", physical)
			return nil
		}
	}
	if !filepath.IsLocal(at) {
		o.refuse(in, "%s is outside of the directory of this configuration. The command line says how far an include may lead, because files under review may not. Name the directory that holds the whole tree:\n\n  --root=%s\n\nREMIT_ROOT does the same.",
			name, outermost(name))
		return nil
	}
	root, err := top.Directory(at)
	if err != nil {
		why := mistake.Sentence(confined.Plain(err))
		if info, err := top.Stat(at); err == nil && !info.IsDir() {
			why = "this is a file; include names directories."
		}
		if strings.ContainsAny(name, "*?[") {
			why = "include has no wildcards: it names each directory, and all files of it are read. Write, such as:\n\n  include = [\"shared\"]"
		}
		o.refuse(in, "%s: %s", name, strings.Replace(why, "there is no such file", "there is no such directory", 1))
		return nil
	}
	return root
}

// outermost is the dots at the beginning of a clean name: the nearest root that holds the directory.
func outermost(name string) string {
	at := ".."
	for strings.HasPrefix(name+"/", at+"/../") {
		at += "/.."
	}
	return at
}

// root is the directory out of which no include leads, and whether somebody named it. The directory
// that holds the only policy directory is one, because the authors of a configuration choose neither.
func (o *includeOpener) root() (limit string, isNamed bool) {
	limit = o.options.Root
	if limit == "" && len(o.options.PolicyDirs) == 1 {
		policy, err := withoutLinks(o.within(o.options.PolicyDirs[0]))
		limit = filepath.Dir(policy)
		if err != nil || filepath.Dir(limit) == limit {
			return "", false // a whole machine is no tree
		}
		return limit, false
	}
	if limit == "" {
		return "", false
	}
	return o.within(limit), true
}

// within is a path of the command line or the environment: relative to the configuration's directory.
func (o *includeOpener) within(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(o.dir, name)
}

// belowRoot is the root without links on the way to it, and the configuration's directory relative to it.
func (o *includeOpener) belowRoot(limit string) (root, below string, err error) {
	root, err = withoutLinks(limit)
	if err != nil {
		return "", "", err
	}
	own, err := withoutLinks(o.dir)
	if err != nil {
		return "", "", err
	}
	below, err = filepath.Rel(root, own)
	return root, below, err
}

// withoutLinks is the absolute path of a file, with no link on the way.
func withoutLinks(name string) (string, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(name)
}

// parse parses the files of an included directory.
func (o *includeOpener) parse(b *includedDir, in include) {
	names, err := b.Root.Names(".")
	if err != nil {
		o.refuse(in, "%s: %s", b.Name, mistake.Sentence(confined.Plain(err)))
		return
	}
	o.diags = append(o.diags, missed(b.Root, names, b.Name)...)
	names = slices.DeleteFunc(names, func(name string) bool { return !IsSource(name) })
	if len(names) == 0 {
		o.refuse(in, "There is no file whose name ends in .hcl or .hcl.json in %s, so nothing would be included.", b.Name)
		return
	}
	for _, name := range names {
		shown := path.Join(b.Name, name)
		parsed := parseFile(b.Root, name, shown, nil, nil)
		o.diags = append(o.diags, parsed.diags...)
		if parsed.file == nil {
			continue
		}
		o.sources.files[shown], o.includedFiles[shown] = parsed.file, true
		if !parsed.diags.HasErrors() {
			b.parsed = append(b.parsed, parsed.sourceFile)
		}
	}
}

// refuseInIncluded reports a block that an included directory may not have, and says where it belongs.
func refuseInIncluded(c *checker, name string, r hcl.Range) {
	belongs := "Each directory that includes this one has its own. Write it there."
	switch name {
	case "transfer", "batch", "data":
		belongs = "Each directory that includes this one says itself what is paid. Write it there; it may name the profiles of this directory."
	case "remit":
		belongs = "It includes no others, and says nothing of versions and environments: the directories that include it do. Name all directories in their include."
	case "approval":
		belongs = "Each directory that includes this one says itself who approves. Write it there, or in a policy directory, whose controls hold for all of them."
	}
	c.report(mistake.New(r, "Not for an included directory", "An included directory has no %s block. %s It may have: %s.",
		name, belongs, strings.Join(sharedKinds(), ", ")))
}

// sharedKinds are the kinds of blocks that may stand in an included directory, in order of name.
func sharedKinds() []string {
	var names []string
	for _, kind := range blockKinds() {
		if kind.Shared {
			names = append(names, kind.Name)
		}
	}
	slices.Sort(names)
	return names
}
