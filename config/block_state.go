package config

import "slices"

const stateSQLite = "sqlite"

func stateKind() blockKind {
	return blockKind{
		name: "state", labels: []string{"type"}, single: true, optional: []string{"path"},
		read: func(l *loader, b *block) { l.state = b },
	}
}

func stateDefaults() StateBackend { return StateBackend{Kind: stateSQLite, Path: "remit.db"} }

// evaluateState reads where the record lives.
func (l *loader) evaluateState() {
	if l.state == nil {
		return
	}
	later := []string{"postgres"}
	switch kind := l.state.label(0); {
	case kind == stateSQLite:
	case slices.Contains(later, kind):
		l.report(notYet(kind, l.state.labelAt[0]))
		return
	case len(l.state.labelAt) > 0:
		l.report(mistake(l.state.labelAt[0], "Unknown type of state", "There is no state of type %q.%s", kind,
			didYouMean(kind, append(later, stateSQLite))))
		return
	}
	r := l.narrowReader(l.state, true)
	if path, _ := r.text("path"); path != "" {
		l.config.State.Path = path
	}
	l.report(r.diags...)
}
