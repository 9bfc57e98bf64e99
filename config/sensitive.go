package config

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/functions"
)

// stateArgumentsAll are those that a state may have, whatever its type.
var stateArgumentsAll = []string{"path", "url", "schema"}

// SensitiveTexts are the texts that no output may have: of sensitive values in variables, locals and the
// state and service blocks, each whole and in the forms that remit makes of it, such as the host of an
// address. It is complete as far as the configuration was evaluated, mistakes or not.
func (c *Configuration) SensitiveTexts() []string {
	if c.scope == nil {
		return nil
	}
	var texts []string
	for _, n := range c.scope.InOrder {
		if n.Progress != eval.Known {
			continue
		}
		if n.Sensitive {
			texts = appendTexts(texts, n.Value)
			continue
		}
		texts = appendMarked(texts, n.Value)
	}
	for _, b := range []*eval.Block{c.stateBlock, c.serviceBlock()} {
		if b == nil {
			continue
		}
		for _, a := range b.All() {
			texts = append(texts, c.sensitiveIn(a)...)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

func (c *Configuration) serviceBlock() *eval.Block {
	if c.service == nil {
		return nil
	}
	return c.service.Block
}

// SensitiveState reports whether where the state is comes from a sensitive value.
func (c *Configuration) SensitiveState() bool {
	return c.stateBlock != nil && slices.ContainsFunc(stateArgumentsAll, func(name string) bool {
		a := c.stateBlock.Arguments[name]
		return a != nil && len(c.sensitiveIn(a)) > 0
	})
}

// sensitiveIn are the texts of an argument that is made of a sensitive value.
func (c *Configuration) sensitiveIn(a *eval.Argument) []string {
	if a.Refs == nil || !a.Refs.Ready() {
		return nil
	}
	value, ok, _ := c.scope.Value(a)
	if !ok || !a.Refs.Sensitive() && !value.ContainsMarked() {
		return nil
	}
	var texts []string
	for _, text := range appendTexts(nil, value) {
		texts = append(texts, text, strings.TrimPrefix(filepath.Clean(text), "./"))
		texts = append(texts, partsOfURL(text)...)
	}
	return texts
}

// partsOfURL are the forms and parts of an address that messages name. The defaults of PostgreSQL
// and of every machine tell nothing.
func partsOfURL(text string) []string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return nil
	}
	parts := []string{u.Host, strings.ToLower(u.Host), u.Hostname(), strings.ToLower(u.Hostname()), u.User.Username()}
	if normal, err := serviceURL(text); err == nil {
		parts = append(parts, normal)
	} else {
		parts = append(parts, strings.Trim(u.Path, "/")) // of a database: its name
	}
	if password, ok := u.User.Password(); ok {
		parts = append(parts, password)
	}
	return slices.DeleteFunc(parts, func(part string) bool {
		return part == "" || part == "postgres" || isLoopback(strings.ToLower(part))
	})
}

// appendMarked appends the texts of the marked parts of a value.
func appendMarked(texts []string, value cty.Value) []string {
	if value == cty.NilVal || !value.ContainsMarked() {
		return texts
	}
	_ = cty.Walk(value, func(_ cty.Path, v cty.Value) (bool, error) { // the function returns no error
		if v.HasMark(secretMark{}) || v.HasMark(functions.Sensitive) {
			texts = appendTexts(texts, v)
			return false, nil
		}
		return true, nil
	})
	return texts
}

// appendTexts appends all texts of a value.
func appendTexts(texts []string, value cty.Value) []string {
	if value == cty.NilVal {
		return texts
	}
	value, _ = value.UnmarkDeep()
	_ = cty.Walk(value, func(_ cty.Path, v cty.Value) (bool, error) { // the function returns no error
		if v.IsKnown() && !v.IsNull() && v.Type() == cty.String {
			texts = append(texts, v.AsString())
		}
		return true, nil
	})
	return texts
}
