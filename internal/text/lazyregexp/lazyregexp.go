// Package lazyregexp has regular expressions that are compiled when somebody first asks one: a command that needs
// none of them starts without their cost.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression of package regexp, whose methods it has. It is safe for concurrent use.
type Regexp struct{ compiled func() *regexp.Regexp }

// New returns the expression of a pattern. The first use panics if the pattern can't be compiled: TestPatterns of
// internal/cli compiles each that the product has.
func New(pattern string) *Regexp {
	return &Regexp{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
}

// FindStringSubmatch is that of [regexp.Regexp].
func (r *Regexp) FindStringSubmatch(text string) []string {
	return r.compiled().FindStringSubmatch(text)
}

// String is that of [regexp.Regexp].
func (r *Regexp) String() string { return r.compiled().String() }

// MatchString is that of [regexp.Regexp].
func (r *Regexp) MatchString(text string) bool { return r.compiled().MatchString(text) }

// FindAllStringSubmatch is that of [regexp.Regexp].
func (r *Regexp) FindAllStringSubmatch(text string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(text, n)
}

// FindString is that of [regexp.Regexp].
func (r *Regexp) FindString(text string) string { return r.compiled().FindString(text) }

// FindSubmatch is that of [regexp.Regexp].
func (r *Regexp) FindSubmatch(text []byte) [][]byte { return r.compiled().FindSubmatch(text) }

// Match is that of [regexp.Regexp].
func (r *Regexp) Match(text []byte) bool { return r.compiled().Match(text) }

// ReplaceAllString is that of [regexp.Regexp].
func (r *Regexp) ReplaceAllString(text, with string) string {
	return r.compiled().ReplaceAllString(text, with)
}

// ReplaceAllStringFunc is that of [regexp.Regexp].
func (r *Regexp) ReplaceAllStringFunc(text string, with func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(text, with)
}

// FindAllStringSubmatchIndex is that of [regexp.Regexp].
func (r *Regexp) FindAllStringSubmatchIndex(text string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(text, n)
}

// FindAllString is that of [regexp.Regexp].
func (r *Regexp) FindAllString(text string, n int) []string {
	return r.compiled().FindAllString(text, n)
}
