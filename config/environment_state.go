package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// statePlace is where an environment keeps its state, as far as the words of the configuration say it: of those
// with a variable it is known for the chosen environment alone.
type statePlace struct{ kind, path, url, schema string }

var errPlaceUnknown = errors.New("the place depends on variables")

func (l *loader) statePlace(i int) (statePlace, error) {
	block, name := l.stateOf(i), l.config.Environments[i].Name
	if l.environments[i] == l.chosen && !l.config.options.Sandbox {
		s := l.config.State
		if s.Kind == StatePostgres {
			return statePlace{kind: s.Kind, url: s.URL, schema: s.Schema}, nil
		}
		return statePlace{kind: s.Kind, path: l.placeOfFile(s.Path)}, nil
	}
	if block == nil {
		return statePlace{kind: StateSQLite, path: l.placeOfFile(stateDefaults(name).Path)}, nil
	}
	var unknown error
	literal := func(argument, otherwise string) string {
		a := block.Arguments[argument]
		if a == nil {
			return otherwise
		}
		text, isText := syntax.LiteralText(a.Expr)
		if !isText {
			unknown = errPlaceUnknown
			return ""
		}
		return text.AsString()
	}
	if block.Label(0) == StatePostgres {
		return statePlace{kind: StatePostgres, url: literal("url", ""), schema: literal("schema", DefaultSchema(name))}, unknown
	}
	return statePlace{kind: StateSQLite, path: l.placeOfFile(literal("path", stateDefaults(name).Path))}, unknown
}

// stateOf is the state block that serves an environment; nil for none.
func (l *loader) stateOf(i int) *eval.Block {
	if own := l.environments[i].NestedOf("state"); len(own) > 0 {
		return own[0]
	}
	return l.stateTop
}

// checkStates refuses environments that keep their states in one place, as far as it is known before a state is
// opened. A state knows its environment by itself.
func (l *loader) checkStates() {
	places := map[statePlace]int{}
	for i, e := range l.config.Environments {
		place, err := l.statePlace(i)
		if err != nil {
			continue
		}
		first, isTaken := places[place]
		if !isTaken {
			places[place] = i
			continue
		}
		at := l.environments[i].At
		if block := l.stateOf(i); block != nil {
			at = block.At
		}
		l.report(mistake.New(at, "Two environments with one state", "The environments %s and %s keep their states in one place. "+
			"Each has a record of its own: write a state block into each of them, as in:\n\n  environment %q {\n    state %q {\n      %s\n    }\n  }",
			l.config.Environments[first].Name, e.Name, e.Name, place.kind, place.example(e.Name)))
	}
}

// example is an argument that gives an environment a place of its own.
func (p statePlace) example(name string) string {
	if p.kind == StatePostgres {
		return fmt.Sprintf("schema = %q", DefaultSchema(name))
	}
	return fmt.Sprintf("path = %q", stateDefaults(name).Path)
}

// placeOfFile is a path by which one file is known: absolute and without links, as far as there is something, and in lower
// case, because some file systems don't tell it from upper case.
func (l *loader) placeOfFile(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(l.config.Dir, path)
	}
	place, err := withoutLinks(path)
	if err != nil { // it is not made yet, perhaps
		dir, err := withoutLinks(filepath.Dir(path))
		if err != nil {
			dir = filepath.Dir(path)
		}
		place = filepath.Join(dir, filepath.Base(path))
	}
	return strings.ToLower(place)
}
