//go:build race

package suite

// raced are the flags that build a program as these tests were built.
var raced = []string{"-race"}
