//go:build !race

package jointest_test

// raced are the flags that build a program as these tests were built.
var raced []string
