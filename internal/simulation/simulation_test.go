package main_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/simulation/history"
)

// histories is how many histories a plain run of the tests plays.
const histories = 2000

func player(t *testing.T) *history.Player {
	t.Helper()
	p, err := history.NewPlayer(t.Context())
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
	n := histories
	if testing.Short() || isRace {
		n /= 10
	}
	for seed := range uint64(n) {
		r := p.Play(seed, history.Client{})
		if r.Violation != nil {
			t.Fatalf("seed %d: %v\nreplay: go run ./internal/simulation -seed %d\n%s", seed, r.Violation, seed, strings.Join(r.Lines, "\n"))
		}
	}
}

// TestAHistoryFollowsFromItsSeed plays some histories twice.
func TestAHistoryFollowsFromItsSeed(t *testing.T) {
	if isRace {
		t.Skip("the race detector shuffles who runs first")
	}
	p := player(t)
	for seed := range uint64(30) {
		first, second := p.Play(seed, history.Client{}), p.Play(seed, history.Client{})
		if diff := cmp.Diff(first.Lines, second.Lines); diff != "" {
			t.Errorf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
}
