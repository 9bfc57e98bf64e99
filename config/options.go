package config

import (
	"time"

	"remit/internal/files/confined"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Options are what the command line and its environment say.
type Options struct {
	// Assignments are --var and --var-file in the order of the command line; a later one
	// wins.
	Assignments []Assignment
	// DataFiles are read in place of the files that data sources name; of two for one data
	// source, the later.
	DataFiles []DataFile
	// Unsaved are texts that are read in the place of files, such as those that an editor has not written yet;
	// nil for none. They stand for files that could be read without them, and for none outside.
	Unsaved *confined.Unsaved
	// Memory keeps what a check found for the next one of the same directory; nil keeps nothing. A configuration
	// that is read with one has no transfers to give: [Facts] alone evaluates it.
	Memory *Memory
	// Done ends the evaluation of expressions where it is closed; nil never is. The
	// configuration then has the mistake that it was interrupted.
	Done <-chan struct{}
	// Getenv reads REMIT_VAR_name and the credentials; nil means an empty environment. A
	// variable that is set to "" counts as not set.
	Getenv func(string) string
	// Environ lists the variables of the environment, as [os.Environ] does; nil lists none.
	Environ func() []string
	// ElsewhereToo says that other configurations are read in the same environment: one of its REMIT_VAR_ variables may be theirs.
	// [Configuration.Unread] names those that this one does not declare.
	ElsewhereToo bool
	// Environment is the environment that is meant, where the directory declares several; "" where
	// nobody said it. Then [EnvironmentVariable] says it, or there is one alone.
	Environment string
	// PolicyDirs are directories of controls, relative to the configuration's unless
	// absolute; one that is named twice is read once.
	PolicyDirs []string
	// Root is the directory out of which no include leads: relative to the configuration's unless
	// absolute; "" where nobody named one. It comes from no file that is under review.
	Root string
	// Zone is the one of the times without a zone of an allowed_signers file, which ssh-keygen
	// takes for the machine's; nil for UTC.
	Zone *time.Location
	// Sandbox says that the embedded service is used: base_url and ca_file of the service
	// block are not evaluated, so that a variable used only there may be unset.
	Sandbox bool
	// Need says what of the configuration the caller uses; the rest may lack variables and
	// have mistakes.
	Need Need
	// Version of the program, for required_version, such as "0.1.0". Text that is no
	// semantic version, such as "dev" or "", satisfies every requirement.
	Version string
}

// Assignment is one --var, one --var-file, or a value that a test gives: one of Var, File and
// Name is set.
type Assignment struct {
	Var  string // NAME=VALUE
	File string // relative to the configuration's directory unless absolute

	// IfDeclared says that a Var whose variable is not declared is passed over. [Configuration.Unassigned] names it.
	IfDeclared bool

	Name  string
	Value cty.Value // of Name
	At    hcl.Range // where Name is given its value
}

// DataFile is a file that a data source reads in place of its own.
type DataFile struct {
	Address string // data.csv.payroll
	File    string // in the configuration's directory or below it
	At      hcl.Range
}

// Need is what a caller of [Load] uses of a configuration.
type Need uint8

// How much is read. Where it is not NeedAll, [Configuration.Transfers] may not be called, and
// what else has a name is evaluated as far as it goes.
const (
	NeedAll      Need = iota // everything
	NeedControls             // what NeedService is, and the controls
	NeedService              // the remit, environment, state and service blocks, and the sandbox block where the sandbox is used
	NeedState                // the remit, environment and state blocks, and the arguments of the service block that have a value
)

// reads reports whether mistakes in blocks of a kind concern the caller.
func (o Options) reads(kind string) bool {
	switch kind {
	case "remit", "environment", "state", "service", "variable", "locals":
		return true
	case "sandbox", "asset", "profile", "batch", "data", "calendar", "schedule", "window": // opening balances may name them
		return o.needsSandbox()
	}
	if kind == "approval" || kind == "limit" || kind == "policy" {
		return o.needsControls()
	}
	return o.Need == NeedAll
}

// needsControls reports whether mistakes in controls concern the caller.
func (o Options) needsControls() bool { return o.Need <= NeedControls }

func (o Options) needsSandbox() bool {
	return o.Need == NeedAll || o.Need <= NeedService && o.Sandbox
}
