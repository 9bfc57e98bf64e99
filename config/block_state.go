package config

import (
	"path/filepath"
	"slices"
	"strings"

	"remit/config/eval"
	"remit/config/mistake"
)

// The types of states.
const (
	StateSQLite   = "sqlite"
	StatePostgres = "postgres"
)

// schemaMax is how many bytes a name has at most in PostgreSQL.
const schemaMax = 63

func stateKind() eval.Kind {
	return eval.Kind{
		Name: "state", Labels: []string{"type"}, Single: true, Optional: []string{"path", "url", "schema"},
	}
}

// stateDefaults is where the state is that nothing is said of: of an environment block by its name, else "".
func stateDefaults(block string) StateBackend {
	if block == "" {
		return StateBackend{Kind: StateSQLite, Path: "remit.db"}
	}
	return StateBackend{Kind: StateSQLite, Path: "remit." + block + ".db"}
}

// DefaultSchema is the schema of an environment's state in PostgreSQL, where none is named.
func DefaultSchema(environment string) string { return "remit_" + environment }

// stateArguments are those of each type of state.
func stateArguments(kind string) []string {
	if kind == StatePostgres {
		return []string{"url", "schema"}
	}
	return []string{"path"}
}

// evaluateState reads where the record lives.
func evaluateState(c *checker, b *eval.Block, otherwise StateBackend, environment string, isSandbox bool) StateBackend {
	if b == nil {
		return otherwise
	}
	kind := b.Label(0)
	switch {
	case kind == StateSQLite, kind == StatePostgres:
	case len(b.LabelAt) > 0:
		c.report(mistake.New(b.LabelAt[0], "Unknown type of state", "There is no state of type %q. The types are %s, a file, and %s.%s", kind, StateSQLite, StatePostgres,
			mistake.DidYouMean(kind, []string{StateSQLite, StatePostgres})))
		return otherwise // nobody knows which arguments it has
	}
	for _, a := range b.All() {
		// The sandbox has a state of its own.
		c.resolveArgument(a, eval.NarrowReach(), isSandbox)
	}
	r := &eval.Reader{Scope: c.scope, Block: b, Secret: true}
	for _, a := range b.All() {
		if !slices.Contains(stateArguments(kind), a.Name) {
			r.Refuse(a.NameAt, "Unsupported argument", "An argument named %q is not expected in state %q.", a.Name, kind)
		}
	}
	s := otherwise
	if !isSandbox {
		s = readState(r, kind, otherwise, environment)
	}
	c.report(r.Diags...)
	return s
}

// noStatePath says why no file of a state has a path; "" for any other.
func noStatePath(path string) string {
	switch {
	case strings.HasPrefix(path, "~"):
		return "The shell alone knows the directory ~. Write the path from the root, or one relative to this directory, such as:\n\n  path = \"remit.db\""
	case strings.HasPrefix(path, "postgres://"), strings.HasPrefix(path, "postgresql://"):
		return "A state in PostgreSQL is a block of its own. Write:\n\n  state \"postgres\" {\n    url = var.database_url\n  }"
	case strings.Contains(path, "://"):
		return "The state is a file of this machine, and no address. Write a path, such as:\n\n  path = \"remit.db\""
	case IsSource(filepath.Base(path)):
		return "A file of this name would be read as configuration. Write another one, such as:\n\n  path = \"remit.db\""
	}
	return ""
}

func readState(r *eval.Reader, kind string, s StateBackend, environment string) StateBackend {
	if kind != StatePostgres {
		if path, a := r.Text("path"); path != "" {
			if why := noStatePath(path); why != "" {
				at := a.Expr.Range()
				if strings.Contains(path, "://") { // the line may show a password
					at = r.Block.At
				}
				r.Refuse(at, "Invalid path of the state", "%s", why)
			}
			s.Path = path
		}
		return s
	}
	s = StateBackend{Kind: kind, Schema: DefaultSchema(environment)}
	var a *eval.Argument
	// A mistake in a url is reported for the whole block: the line may show a password.
	if s.URL, a = r.Text("url"); a == nil {
		r.Refuse(r.Block.At, "Missing required argument", "The argument \"url\" is required: postgres://user@host:port/database.")
	} else if s.URL != "" && !strings.HasPrefix(s.URL, "postgres://") && !strings.HasPrefix(s.URL, "postgresql://") {
		r.Refuse(r.Block.At, "Invalid address of the state", "The url of the state does not begin with postgres:// or postgresql://. It is such as:\n\n  postgres://user@host:5432/database")
	}
	if schema, _ := r.Text("schema"); schema != "" {
		s.Schema = schema
	}
	if len(s.Schema) > schemaMax || strings.HasPrefix(s.Schema, "pg_") {
		r.Refuse(r.Block.At, "Invalid schema", "The schema %q cannot be the name of one: at most %d bytes, and not pg_ first. Give it another with the argument \"schema\".",
			s.Schema, schemaMax)
	}
	return s
}
