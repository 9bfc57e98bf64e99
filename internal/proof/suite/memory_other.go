//go:build !linux

package suite

// InMemory does nothing: there is no place in memory that every such system has.
func InMemory() {}
