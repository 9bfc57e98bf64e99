package config

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/files/confined"
	"remit/internal/text/shell"
)

// noConfiguration says which directory or file may be meant, of a directory without a file that is read. Names are those that stand in it.
func noConfiguration(root *confined.Directory, dir string, names []string) string {
	where := dir
	if where == "." {
		where = "this directory"
	}
	if note := alike(names); note != "" {
		return note
	}
	detail := fmt.Sprintf("There is no file whose name ends in .hcl or .hcl.json in %s.", where)
	if below := directoryBelow(root, names); below != "" {
		return detail + fmt.Sprintf(" The one in %s may be meant. Work there:\n\n  remit validate --chdir=%s", below, shell.Word(path.Join(dir, below)))
	}
	if slices.ContainsFunc(names, isTerraform) {
		detail += " remit does not read files of Terraform."
	} else if i := slices.IndexFunc(names, isOtherLanguage); i >= 0 {
		detail += fmt.Sprintf(" remit reads no %s, as %s is. init writes a file that shows the language:", strings.ToUpper(strings.TrimPrefix(path.Ext(names[i]), ".")), names[i])
	} else {
		detail += " If it is elsewhere, name its directory with --chdir. init writes one to begin with:"
	}
	return detail + "\n\n  remit init"
}

// endsOfOthers are what editors, templates and people append to the name of a file.
var endsOfOthers = []string{".txt", ".bak", ".orig", ".old", ".save", ".copy", ".tmp", ".tmpl", ".j2", ".disabled", ".off", ".swp", ".rej", ".new", "~"}

// alike says of a file that is not read because of its name that it may be the configuration, and how to rename it;
// "" where there is none.
func alike(names []string) string {
	for _, name := range names {
		if correct, why := sourceName(name); correct != "" {
			return fmt.Sprintf("%s is not read: %s. If it is the configuration, rename it:\n\n  mv %s %s", name, why, shell.Word(name), shell.Word(correct))
		}
	}
	if i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, testSuffix) }); i >= 0 {
		return fmt.Sprintf("%s has tests of a configuration, and is none. Work in the directory of the configuration, with --chdir.", names[i])
	}
	return ""
}

// missed refuses the files of a directory that would be read but for the capitals in the end of their names, or for blanks around them: a rule, a
// limit or a payment in one would be missed by nobody. It warns of those that an editor has called text, and of JSON with blocks alone. Shown goes before their names.
func missed(root *confined.Directory, names []string, shown string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range names {
		isCapital := !IsSource(name) && IsSource(strings.ToLower(name))
		stem, isText := strings.CutSuffix(strings.ToLower(name), ".txt")
		isText = isText && IsSource(stem)
		isBlank := strings.TrimSpace(name) != name && IsSource(strings.TrimSpace(name))
		isBlocks := path.Ext(name) == ".json" && !IsSource(name) && hasBlocksAlone(root, name)
		if !isCapital && !isText && !isBlank && !isBlocks {
			continue
		}
		correct, why := sourceName(name)
		if isBlocks {
			correct, why = strings.TrimSuffix(name, ".json")+".hcl.json", "its name ends in .json and not in .hcl.json"
		}
		if info, err := root.Stat(name); correct == "" || err == nil && info.IsDir() {
			continue
		}
		if isText && slices.Contains(names, correct) {
			continue // it was laid aside
		}
		help := fmt.Sprintf("If it belongs to the configuration, rename it; else move it away:\n\n  mv %s %s", shell.Word(path.Join(shown, name)), shell.Word(path.Join(shown, correct)))
		if slices.Contains(names, correct) {
			help = fmt.Sprintf("%s is there as well, and is read. Move the one that is not meant out of the directory.", path.Join(shown, correct))
		}
		d := mistake.Placeless("File is not read", "%s is not read: %s. %s", path.Join(shown, name), why, help)
		if isText || isBlocks {
			d.Severity = hcl.DiagWarning
		}
		diags = append(diags, d)
	}
	return diags
}

// blockNames are the names of the blocks of the language: this file looks at files that are not read, and knows nothing else of blocks.
var blockNames = []string{
	"approval", "asset", "batch", "calendar", "data", "environment", "limit", "locals", "policy", "profile", "remit", "sandbox",
	"schedule", "service", "state", "transfer", "variable", "window",
}

// hasBlocksAlone reports whether a file of JSON is an object whose members are all named as blocks are, and are objects or
// lists: a configuration that was saved under the name of data.
func hasBlocksAlone(root *confined.Directory, name string) bool {
	const most = 1 << 20 // a configuration that a person or a program writes has less
	content, err := root.Read(name, most)
	if err != nil {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(content, &members) != nil || len(members) == 0 {
		return false
	}
	for member, value := range members {
		if !slices.Contains(blockNames, member) || value[0] != '{' && value[0] != '[' {
			return false
		}
	}
	return true
}

// sourceName is the name that a file has to have so that it is read, and why it is not read; "" for a file that has
// nothing of a configuration in its name.
func sourceName(name string) (correct, why string) {
	switch {
	case strings.HasPrefix(name, ".remit.") || strings.HasPrefix(name, ".terraform.") || strings.HasSuffix(name, testSuffix) || strings.HasSuffix(name, ".hclvars"):
		return "", ""
	case strings.HasPrefix(name, ".") && IsSource(strings.TrimLeft(name, ".")) && strings.TrimLeft(name, ".") != "hcl":
		return strings.TrimLeft(name, "."), "its name begins with a point"
	case IsSource(strings.TrimSpace(name)) && strings.TrimSpace(name) != name:
		return strings.TrimSpace(name), "a blank stands around its name"
	case IsSource(lowerEnd(name)):
		return lowerEnd(name), "the end of its name is in capitals"
	}
	for _, end := range endsOfOthers {
		if cut := strings.TrimSuffix(lowerEnd(name), end); cut != lowerEnd(name) && IsSource(lowerEnd(cut)) {
			return lowerEnd(cut), "its name ends in " + end + " and not in .hcl"
		}
	}
	stem, end := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
	switch {
	case stem == "" || end != "" && mistake.DidYouMean(strings.ToLower(end), []string{".hcl"}) == "":
	case end == ".hc" || len(end) > 3 && strings.HasPrefix(strings.ToLower(end), ".h"):
		return stem + ".hcl", "its name ends in " + end + " and not in .hcl"
	}
	if name == "main" || name == "hcl" || name == "remit" {
		return "main.hcl", "its name does not end in .hcl"
	}
	return "", ""
}

// lowerEnd is a name whose end, from its first point on, is in small letters.
func lowerEnd(name string) string {
	stem, end, hasEnd := strings.Cut(name, ".")
	if !hasEnd {
		return name
	}
	return stem + "." + strings.ToLower(end)
}

// isOtherLanguage reports whether a file may be a configuration in a language that remit does not read.
func isOtherLanguage(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".toml", ".ini"}, strings.ToLower(path.Ext(name)))
}

// directoriesTried bounds in how many directories a configuration is looked for.
const directoriesTried = 100

// directoryBelow is the one directory in this one that has a configuration; "" where none has, or several have.
func directoryBelow(root *confined.Directory, names []string) string {
	found := ""
	for _, name := range names[:min(len(names), directoriesTried)] {
		if info, err := root.Stat(name); err != nil || !info.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		below, err := root.Names(name)
		switch {
		case err != nil || !slices.ContainsFunc(below, IsSource):
		case found != "":
			return ""
		default:
			found = name
		}
	}
	return found
}
