// Package config is the language: it turns the HCL and data files of one directory into
// declared transfers, and every mistake of their author into a diagnostic at its place.
//
// Its one invariant: the same files and variables mean the same transfers. No clock, random
// number, network or environment can be read from an expression.
package config

import (
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/files/confined"
	"remit/internal/transfer"
)

// Configuration is one directory, read and checked except for its transfers, which
// [Configuration.Transfers] evaluates as they are asked for. It is not for use by several
// goroutines at once.
type Configuration struct {
	Dir         string
	Environment string // the chosen one, or that of the remit block; "default" where neither says one
	Protected   bool   // by its block
	// Environments are the environment blocks, in declaration order: none where the directory has one
	// environment without a block.
	Environments []DeclaredEnvironment
	State        StateBackend
	Service      Service
	Sandbox      Sandbox
	Batches      []Batch    // in declaration order
	Schedules    []Schedule // in declaration order
	Includes     []string   // included directories, relative to Dir and with slashes

	// Unassigned are the variables that assignments name and nothing declares, where they may.
	Unassigned []string
	// Unread are the variables of the environment that would set a variable which nothing declares, such as REMIT_VAR_period.
	Unread []string

	controls Controls

	approvalsBroken bool // controls lacks something of them
	sound           bool // Load found no mistake
	options         Options
	sources         *sourceFiles
	scope           *eval.Scope
	assets          scales
	currencies      map[string]string // that files say in the place of assets
	service         *serviceBlock     // nil where none is declared
	stateBlock      *eval.Block       // nil where none is declared
	transfers       []*transferBlock
	data            map[*eval.Node]*dataSource
	memberships     *memberships
	roots           []*confined.Directory // that are open for it
	open            map[string]bool       // names of the variables that are not sensitive
	kept            *keeper               // with [Options.Memory]; nil where nothing is kept
}

// Close closes the directories of a configuration that nobody evaluates any more. A program that ends needs no call.
func Close(c *Configuration) {
	for _, root := range c.roots {
		_ = root.Close() // only read
	}
}

// Open reports whether the configuration has no mistake and a variable is declared and not
// sensitive, so that its value may be repeated in output.
func (c *Configuration) Open(variable string) bool { return c.sound && c.open[variable] }

// DeclaredBlock is a transfer block, and its place.
type DeclaredBlock struct {
	Address string // such as transfer.internal.payroll
	Place   Place
}

// Blocks are the transfer blocks, in declaration order.
func (c *Configuration) Blocks() []DeclaredBlock {
	var blocks []DeclaredBlock
	for _, t := range c.transfers {
		blocks = append(blocks, DeclaredBlock{t.address, placeOf(t.at)})
	}
	return blocks
}

// Note tells the author of a data block how its file was read, such as the delimiter that was found
// out. It is no warning.
type Note struct {
	Address string // of the data source, such as data.csv.payroll
	Text    string // a clause, with text of the file in it
}

// Notes are those of all data sources, in declaration order. They are complete once
// [Configuration.Transfers] came to its end.
func (c *Configuration) Notes() []Note {
	var notes []Note
	for _, n := range c.scope.InOrder {
		d := c.data[n]
		if d == nil {
			continue
		}
		for _, text := range append(d.unknownNotes(), leftOutNotes(readWarningsOf(c, d))...) {
			notes = append(notes, Note{d.address, text})
		}
	}
	return notes
}

// ReadWarnings are those of all data sources, in declaration order and by name. They are complete once
// [Configuration.Transfers] came to its end.
func ReadWarnings(c *Configuration) []ReadWarning {
	var all []ReadWarning
	for _, n := range c.scope.InOrder {
		if d := c.data[n]; d != nil {
			all = append(all, readWarningsOf(c, d)...)
		}
	}
	return all
}

// readWarningsOf are those of one data source: of its header, its rows, their transfers, and the conditions of for_each in declaration order.
func readWarningsOf(c *Configuration, d *dataSource) []ReadWarning {
	all := slices.Concat(d.readWarnings[0], d.readWarnings[1], d.readWarnings[2])
	var counted []*hclsyntax.ForExpr
	var reads []rowsRead
	for _, t := range c.transfers {
		reads = append(reads, t.rowsRead)
		if t.data == d {
			reads = append(reads, rowsRead{walked: []*dataSource{d}})
		}
		for _, out := range t.rowsRead.leftOut {
			if out.of == d && !slices.Contains(counted, out.loop) {
				all, counted = out.counted.appendTo(all), append(counted, out.loop)
			}
		}
	}
	left := leftOutByLookUp(d, reads)
	return left.appendTo(all)
}

// ProfileNames are the names of the address book by profile_id: the display_name of a profile, or its label. Of two profiles with one
// profile_id neither is listed: the ID alone would not say which is meant.
func (c *Configuration) ProfileNames() map[string]string {
	names := make(map[string]string)
	ambiguous := make(map[string]bool)
	for id, n := range profilesIn(c.scope) {
		if _, taken := names[id]; taken {
			ambiguous[id] = true
		}
		names[id] = n.Name
		if shown := n.Value.GetAttr("display_name"); !shown.IsNull() {
			names[id] = shown.AsString()
		}
	}
	for id := range ambiguous {
		delete(names, id)
	}
	return names
}

// ProfileIDs are the profile_ids of the address book as they are written, in declaration order.
func ProfileIDs(c *Configuration) []string {
	var ids []string
	for id := range profilesIn(c.scope) {
		ids = append(ids, id)
	}
	return ids
}

// profilesIn are the profiles of the address book that have a profile_id, with it.
func profilesIn(scope *eval.Scope) iter.Seq2[string, *eval.Node] {
	return func(yield func(string, *eval.Node) bool) {
		for _, n := range scope.InOrder {
			if n.Root != "profile" || n.Progress != eval.Known {
				continue
			}
			if id := n.Value.GetAttr("profile_id"); !id.IsNull() && !yield(id.AsString(), n) {
				return
			}
		}
	}
}

// Approvals are the approval blocks, in declaration order; false where one could not be read,
// which is no mistake of a configuration that was loaded without [NeedControls].
func (c *Configuration) Approvals() ([]Approval, bool) {
	return c.controls.Approvals, !c.approvalsBroken
}

// Controls returns what a plan is checked against. It panics where the configuration was
// loaded without them; see [Need].
func (c *Configuration) Controls() Controls {
	if c.options.Need > NeedControls {
		panic("controls are asked of a configuration that was loaded without them")
	}
	return c.controls
}

// Files are the parsed sources by the names that diagnostics use, for their snippets. Data
// files that had mistakes are read again, as far as snippets need them; a file that became
// unreadable or is too large is left out.
func (c *Configuration) Files() map[string]*hcl.File {
	files := maps.Clone(c.sources.files)
	maps.Copy(files, c.sources.data.Snippets())
	return files
}

// ServiceDeclared reports whether there is a service block.
func (c *Configuration) ServiceDeclared() bool { return c.service != nil }

// RequireService returns a mistake where the service block lacks the address of a real
// service: a configuration without a service block is whole as long as the sandbox replaces it.
func (c *Configuration) RequireService() hcl.Diagnostics {
	switch {
	case c.service == nil:
		return hcl.Diagnostics{mistake.Placeless("No service is declared",
			"A service block says where transfers are sent. Declare one, or use the embedded service with --sandbox.")}
	case !c.service.complete:
		return hcl.Diagnostics{mistake.New(c.service.At, "No service is declared",
			"The service block has no base_url, which says where transfers are sent.")}
	}
	return nil
}

// Scales are the decimals of the assets that asset blocks name; empty where there is none.
func (c *Configuration) Scales() transfer.Scales { return transfer.Scales(c.assets) }
