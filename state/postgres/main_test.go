package postgres_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// childURL and childSchema name the state that a child process of these tests works on.
const (
	childURL    = "REMIT_TEST_CHILD_URL"
	childSchema = "REMIT_TEST_CHILD_SCHEMA"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		child(postgres.Options{URL: url, Schema: os.Getenv(childSchema), Now: time.Now})
		return
	}
	// Each of the suite's histories is held against all that are in the one state before it,
	// which over a network costs ten times what it costs in a file.
	_ = flag.Set("rapid.checks", "25") // the package rapid registers it
	suite.SideBySide(8)                // they mostly wait for the server
	defer pgtest.CloseShared()
	m.Run()
}

// child locks the state and appends from many goroutines until it is killed. It names each durable
// entry, a line each.
func child(opts postgres.Options) {
	ctx := context.Background()
	s, err := postgres.Open(ctx, opts)
	if err != nil {
		panic(err)
	}
	holder := statetest.Holder("child")
	holder.PID = os.Getpid()
	j, err := s.Lock(ctx, holder, patience)
	if err != nil {
		panic(err)
	}
	var mu sync.Mutex
	say := func(refID string, kind state.Kind) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(os.Stdout, refID, kind)
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				refID := fmt.Sprintf("%d-%d", worker, os.Getpid()*100000+i)
				if err := j.Append(ctx, statetest.Intent(refID, "child", "10.00")); err != nil {
					os.Exit(1)
				}
				say(refID, state.KindIntent)
				answer := statetest.Outcome(refID, "child", state.SourceAnswer, []state.Status{state.Recorded, state.InDoubt, state.Refused}[i%3])
				if err := j.Append(ctx, answer); err != nil {
					os.Exit(1)
				}
				say(refID, state.KindOutcome)
			}
		})
	}
	wg.Wait()
}

// startChild runs a child and returns its words.
func startChild(t *testing.T, server *pgtest.Server, schema string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), childURL+"="+server.URL(), childSchema+"="+schema)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // it may have ended
	words := bufio.NewScanner(out)
	if !words.Scan() {
		t.Fatal("the child says nothing")
	}
	return cmd, words
}

func signal(t *testing.T, cmd *exec.Cmd, name string) {
	t.Helper()
	if name == "STOP" {
		suite.Freeze(t, cmd.Process)
	} else if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
