// Package syntax makes trees of files of HCL: of native syntax and of JSON trees of one kind, fast
// and in parts where the blocks are plain.
//
// Its one invariant: a tree is what HCL's own parser makes of the whole file, or there is none. A
// text that HCL accepts and an author can't have meant, such as a repeated key, is a mistake.
package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

// Parse parses HCL's native syntax, or nothing where it nests too deeply. The file
// then is nil. A hidden character is a mistake wherever it stands.
func Parse(content []byte, name string) (*hcl.File, hcl.Diagnostics) {
	file, diags := parse(content, name)
	if hidden := checkSeen(content, name); hidden != nil && file != nil {
		return file, hidden // much of what the parser says then follows from it
	}
	return file, diags
}

func parse(content []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if diags := checkNestingOfFile(content, name); diags.HasErrors() {
		return nil, diags
	}
	return hclsyntax.ParseConfig(content, name, hcl.InitialPos)
}

// ParseBlocks is the body of some whole lines of HCL's native syntax, as fast as they are plain. It is the tree that [Parse] makes
// of them, hidden characters or not, where they have no mistake; else the blocks that could be read, and false. It is never nil.
func ParseBlocks(content []byte, name string) (*hclsyntax.Body, bool) {
	if body := parsePlain(content, name, hcl.InitialPos); body != nil {
		return body, true
	}
	file, diags := parse(content, name)
	if file != nil {
		if body, isBody := file.Body.(*hclsyntax.Body); isBody {
			return body, !diags.HasErrors()
		}
	}
	return &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}, false
}

// ParseJSON is [Parse] for HCL's JSON syntax.
func ParseJSON(content []byte, name string) (*hcl.File, hcl.Diagnostics) {
	if diags := checkNestingJSON(content, name); diags.HasErrors() {
		return nil, diags
	}
	file, diags := json.Parse(content, name)
	if hidden := checkSeen(content, name); hidden != nil {
		return file, hidden
	}
	return file, diags
}
