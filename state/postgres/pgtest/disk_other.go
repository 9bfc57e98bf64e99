//go:build unix && !linux

package pgtest

// Room is what is free on a small disk, which tests have on Linux alone.
type Room struct{}
