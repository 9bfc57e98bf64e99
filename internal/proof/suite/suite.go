// Package suite has what the tests of all packages share: how much a run of them does, whether it writes golden files
// anew, and what they need of the repository and of commands.
//
// Its one invariant: no result of a test follows from how much a run does, only how much it proves.
package suite

import (
	"flag"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// DoseVariable is the environment variable that says how much the tests do that could go on for ever:
// "full" is all of it, which .ci/night runs; "broad", of .ci/run, lies halfway between it and a plain run; and
// "plain" is what a run without -short has, under -short as well, which then only has properties be held against fewer random inputs.
const DoseVariable = "REMIT_TESTS"

// Dose is how much a test does that could go on for ever: under -short, in a plain run, and where
// [DoseVariable] asks for more. The broad one lies halfway between the plain and the full one, by factors; where a plain run has nothing,
// it is half of the full one.
func Dose(short, plain, full int) int {
	switch dose := os.Getenv(DoseVariable); {
	case dose == "broad" && plain == 0:
		return full / 2
	case dose == "broad":
		return int(math.Round(math.Sqrt(float64(plain) * float64(full))))
	case dose == "full":
		return full
	case isShort():
		return short
	}
	return plain
}

// Spread are those of many files that a run takes: the first of each kind, and each share-th of the kind after it. The kind is
// what a file's name has before its first hyphen. The same files are taken each time.
func Spread(files []string, share int) []string {
	var taken []string
	seen := make(map[string]int) // of each kind
	for _, file := range files {
		kind, _, _ := strings.Cut(filepath.Base(file), "-")
		if seen[kind]%share == 0 {
			taken = append(taken, file)
		}
		seen[kind]++
	}
	return taken
}

func isShort() bool { return testing.Short() && os.Getenv(DoseVariable) == "" }

var update = flag.Bool("update", false, "write golden files and the output in scripts anew, as .ci/update does")

var speed = flag.Int("scripts.speed", 1, "how many times as fast as a real one the clock of a script goes")

// ScriptSpeed is how many times as fast as a real one the clock of a script goes: what a script proves does not follow from how
// long a machine takes for it, and .ci/night has that tried.
func ScriptSpeed() int { return *speed }

// Update reports whether golden files are written anew instead of compared.
func Update() bool { return *update }

// Slow skips a test that the quick set, -short, leaves to a plain run: one that takes seconds, and whose law
// has a quicker test beside it or is none of money.
func Slow(tb testing.TB) {
	tb.Helper()
	if isShort() {
		tb.Skip("slow: a run without -short has it")
	}
}

// StartHearing has the programs that tests start hear signals which the shell above us does not let through to
// what it runs in the background, or under nohup: a signal that we catch is not ignored by them. A TestMain calls it.
func StartHearing(signals ...os.Signal) {
	for _, sig := range signals {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}

// faultMax is what a page fault may cost where tests that start processes mostly wait: it costs a tenth of that on most machines, and
// four times that on a virtual one whose host keeps its page tables.
const faultMax = 5 * time.Microsecond

// SideBySide has so many parallel tests of a package run at once, unless -parallel says how many: tests that
// wait leave the processors to others, of which the default has one each. Where a page fault is dear, a test that starts processes has a
// processor busy, and a quarter of them run at once: more would only keep each other waiting. A TestMain calls it.
func SideBySide(most int) {
	flag.Parse()
	isSet := false
	flag.Visit(func(f *flag.Flag) { isSet = isSet || f.Name == "test.parallel" })
	if isSet {
		return
	}
	if faultCost() > faultMax {
		most = max(most/4, runtime.GOMAXPROCS(0))
	}
	_ = flag.Set("test.parallel", strconv.Itoa(most)) // a number
}

// SocketDir is a directory for a socket, which ends with the test: the directories of the tests may have
// longer names than the 108 bytes of a socket's path.
func SocketDir(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/tmp", "remit-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// CheckSome holds a property against as many random inputs as [rapid.Check] would, and at most so many.
func CheckSome(t *testing.T, most int, property func(*rapid.T)) {
	t.Helper()
	inputs, failed := 0, false
	rapid.Check(t, func(rt *rapid.T) {
		if inputs++; inputs > most && !failed { // one that fails is tried again and again, to make it smaller
			return
		}
		defer func() { failed = failed || rt.Failed() }()
		property(rt)
	})
}

// CheckUntil holds a property against random inputs, in rounds of [rapid.Check], until enough says
// that they proved something: how many inputs a round has is up to -short and -rapid.checks.
func CheckUntil(t *testing.T, enough func() bool, property func(*rapid.T)) {
	t.Helper()
	for range 100 {
		rapid.Check(t, property)
		if enough() {
			return
		}
	}
	t.Error("after 100 rounds there were too few inputs that prove something")
}
