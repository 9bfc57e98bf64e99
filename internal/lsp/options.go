package lsp

import (
	"context"
	"time"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/internal/files/confined"
)

// Checked is one environment of a directory, as remit validate has it.
type Checked struct {
	Environment   string // "" where the directory has one without a name
	Configuration *config.Configuration
	Facts         map[string]*config.BlockFacts // by the address of the block; nil where the configuration has mistakes
	Diagnostics   hcl.Diagnostics               // that no earlier environment has
	Files         map[string]*hcl.File          // into which diagnostics point, by the names that they use; nil without diagnostics
}

// Checking names the directory of a check.
type Checking struct {
	Directory string
	Folder    string // of the editor; nothing outside of it is read
	Unsaved   *confined.Unsaved
	Memory    *config.Memory // of the checks of this directory
}

// Options are what the server needs of the program. All of them are required.
type Options struct {
	// Check checks a directory as remit validate does: every environment, in declaration order. An error is the end of ctx.
	// The caller closes the configurations.
	Check   func(ctx context.Context, of Checking) ([]Checked, error)
	Now     func() time.Time
	Version string
	Folder  string // that is open where the editor names none; "" for none
}
