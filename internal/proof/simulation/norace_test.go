//go:build unix && !race

package main_test

// isRace says that the race detector slows everything down.
const isRace = false
