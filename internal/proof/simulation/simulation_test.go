//go:build unix

package main_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/simulation/history"
	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// histories is how many histories a run of the tests plays.
func histories() int { return suite.Dose(30, 150, 2000) }

func player(t *testing.T) *history.Player {
	t.Helper()
	return playerOn(t, history.Files{})
}

func playerOn(t *testing.T, disk history.Disk) *history.Player {
	t.Helper()
	p, err := history.NewPlayer(disk)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestNoHistoryBreaksAnInvariant plays many histories with the real client.
func TestNoHistoryBreaksAnInvariant(t *testing.T) {
	p := player(t)
	n := histories()
	if isRace {
		n /= 10
	}
	for seed := range uint64(n) {
		r := p.Play(seed, history.Client{})
		if r.Violation != nil {
			t.Fatalf("seed %d: %v\nreplay: go run ./internal/proof/simulation -seed %d\n%s", seed, r.Violation, seed, strings.Join(r.Lines, "\n"))
		}
	}
}

// TestRunsAreShared expects histories in which runners take part in the run of another one, and are lost to it.
func TestRunsAreShared(t *testing.T) {
	p := player(t)
	kinds := []string{"runner that takes part", "runner that is lost", "runner cut off from the state"}
	for seed := uint64(1); len(kinds) > 0 && seed < 400; seed += 4 { // no others have such runs
		faults := p.Play(seed, history.Client{}).Faults
		kinds = slices.DeleteFunc(kinds, func(kind string) bool { return faults[kind] > 0 })
	}
	for _, kind := range kinds {
		t.Errorf("no %s in 100 histories", kind)
	}
}

// TestOneWrongClockChangesNothingButWaiting plays histories in which the clock of one command is off by
// minutes, hours or years. More of them: go run ./internal/proof/simulation -clocks -seeds 10000.
func TestOneWrongClockChangesNothingButWaiting(t *testing.T) {
	p := player(t)
	n := suite.Dose(2, 10, 100)
	if isRace {
		n /= 10
	}
	for seed := range uint64(n) {
		for _, r := range p.PlayWrongClocks(seed, history.Client{}) {
			if r.Violation != nil {
				t.Fatalf("seed %d (%s): %v\nreplay: go run ./internal/proof/simulation -clocks -seed %d\n%s", seed, r.WrongClock, r.Violation, seed, strings.Join(r.Lines, "\n"))
			}
		}
	}
}

// historiesDatabase is how many of them are played on PostgreSQL, each of which takes a second.
func historiesDatabase() int { return suite.Dose(0, 4, 25) }

// TestNoHistoryBreaksAnInvariantOnPostgreSQL plays the same histories on the other store,
// which must make no difference to any of them.
func TestNoHistoryBreaksAnInvariantOnPostgreSQL(t *testing.T) {
	suite.Slow(t)
	if isRace {
		t.Skip("the same histories are played without -race")
	}
	// Accidents of files do not befall a database: those are left out.
	t.Cleanup(pgtest.CloseShared)
	files, database := playerOn(t, struct{ history.Disk }{history.Files{}}), playerOn(t, history.NewDatabase(pgtest.Start(t)))
	for seed := range uint64(historiesDatabase()) {
		r := database.Play(seed, history.Client{})
		if r.Violation != nil {
			t.Fatalf("seed %d: %v\nreplay: go run ./internal/proof/simulation -store postgres -seed %d\n%s", seed, r.Violation, seed, strings.Join(r.Lines, "\n"))
		}
		if diff := cmp.Diff(placeless(files.Play(seed, history.Client{}).Lines), placeless(r.Lines)); diff != "" {
			t.Errorf("seed %d, another history than on SQLite (-SQLite +PostgreSQL):\n%s", seed, diff)
		}
	}
}

// placeless leaves out of lines where the state is.
func placeless(lines []string) []string {
	place := regexp.MustCompile(`( state) \S+( of the database \S+ on \S+)?:`)
	var without []string
	for _, line := range lines {
		without = append(without, place.ReplaceAllString(line, "$1:"))
	}
	return without
}

// TestAHistoryFollowsFromItsSeed plays some histories twice.
func TestAHistoryFollowsFromItsSeed(t *testing.T) {
	if isRace {
		t.Skip("the race detector shuffles who runs first")
	}
	p := player(t)
	for seed := range uint64(suite.Dose(5, 10, 30)) {
		first, second := p.Play(seed, history.Client{}), p.Play(seed, history.Client{})
		if diff := cmp.Diff(first.Lines, second.Lines); diff != "" {
			t.Errorf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
}
