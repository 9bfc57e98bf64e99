// Package language has the pages of the language, for the program to show what they say. Its one invariant: they are the
// pages that people read.
package language

import "embed"

//go:embed *.md
var pages embed.FS

// Pages are the texts of the pages by their names, such as transfer.md. The map is the caller's own.
func Pages() map[string]string {
	entries, err := pages.ReadDir(".")
	if err != nil {
		panic(err) // they are in the program
	}
	texts := map[string]string{}
	for _, entry := range entries {
		text, err := pages.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		texts[entry.Name()] = string(text)
	}
	return texts
}
