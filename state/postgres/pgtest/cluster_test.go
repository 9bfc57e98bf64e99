//go:build unix

package pgtest_test

import (
	"testing"
	"time"

	"remit/state/postgres/pgtest"
)

// TestAClusterMovesItsLeader has a cluster fail in each of the ways that tests of other packages use.
func TestAClusterMovesItsLeader(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts three servers")
	}
	t.Parallel()
	c := pgtest.StartCluster(t, true)
	ways := []struct {
		name string
		fail func(*pgtest.Node) error
		mend func(*pgtest.Node) error
	}{
		{"its leader is killed", func(n *pgtest.Node) error { n.Kill(); return nil }, (*pgtest.Node).Start},
		{"its leader hangs", (*pgtest.Node).Freeze, (*pgtest.Node).Thaw},
		{"its leader is cut off", func(n *pgtest.Node) error { n.CutOff(); return nil }, func(n *pgtest.Node) error { n.Connect(); return nil }},
		{"its leader is switched over", func(*pgtest.Node) error { return c.Switch() }, func(*pgtest.Node) error { return nil }},
	}
	for _, way := range ways {
		leader, began := c.Leading(t), time.Now()
		if err := way.fail(leader); err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		if err := c.Moved(leader); err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		moved := time.Since(began)
		if err := way.mend(leader); err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		if err := c.Ready(); err != nil {
			t.Fatalf("%s: %v", way.name, err)
		}
		t.Logf("%s: another one led after %v, and all were back after %v", way.name, moved.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
	}
}
