package config

import (
	"slices"
	"strings"

	"remit/config/mistake"
)

// The types of states.
const (
	StateSQLite   = "sqlite"
	StatePostgres = "postgres"
)

// schemaMax is how many bytes a name has at most in PostgreSQL.
const schemaMax = 63

func stateKind() blockKind {
	return blockKind{
		name: "state", labels: []string{"type"}, single: true, optional: []string{"path", "url", "schema"},
		read: func(l *loader, b *block) { l.state = b },
	}
}

func stateDefaults() StateBackend { return StateBackend{Kind: StateSQLite, Path: "remit.db"} }

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
func (l *loader) evaluateState() {
	if l.state == nil {
		return
	}
	l.config.stateBlock = l.state
	kind := l.state.label(0)
	switch {
	case kind == StateSQLite, kind == StatePostgres:
	case len(l.state.labelAt) > 0:
		l.report(mistake.New(l.state.labelAt[0], "Unknown type of state", "There is no state of type %q.%s", kind,
			mistake.DidYouMean(kind, []string{StateSQLite, StatePostgres})))
		return
	}
	for _, a := range l.state.all() {
		// The sandbox has a state of its own.
		l.resolveArgument(a, narrowReach(), l.config.options.Sandbox)
	}
	r := &reader{scope: l.config.scope, block: l.state, secret: true}
	for _, a := range l.state.all() {
		if !slices.Contains(stateArguments(kind), a.name) {
			r.refuse(a.nameAt, "Unsupported argument", "An argument named %q is not expected in state %q.", a.name, kind)
		}
	}
	if !l.config.options.Sandbox {
		l.config.State = readState(r, kind, l.config.Environment)
	}
	l.report(r.diags...)
}

func readState(r *reader, kind, environment string) StateBackend {
	if kind != StatePostgres {
		s := stateDefaults()
		if path, _ := r.text("path"); path != "" {
			s.Path = path
		}
		return s
	}
	s := StateBackend{Kind: kind, Schema: DefaultSchema(environment)}
	var a *argument
	// What is wrong with a url is said of the whole block: the line may show a password.
	if s.URL, a = r.text("url"); a == nil {
		r.refuse(r.block.at, "Missing required argument", "The argument \"url\" is required: postgres://user@host:port/database.")
	} else if s.URL != "" && !strings.HasPrefix(s.URL, "postgres://") && !strings.HasPrefix(s.URL, "postgresql://") {
		r.refuse(r.block.at, "Invalid address of the state", "The url of the state does not begin with postgres:// or postgresql://.")
	}
	if schema, _ := r.text("schema"); schema != "" {
		s.Schema = schema
	}
	if len(s.Schema) > schemaMax || strings.HasPrefix(s.Schema, "pg_") {
		r.refuse(r.block.at, "Invalid schema", "The schema %q cannot be the name of one: at most %d bytes, and not pg_ first. Give it another with the argument \"schema\".",
			s.Schema, schemaMax)
	}
	return s
}
