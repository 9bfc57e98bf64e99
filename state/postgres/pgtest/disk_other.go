//go:build unix && !linux

package pgtest

// Room is the free space of a small disk, which tests have on Linux alone.
type Room struct{}
