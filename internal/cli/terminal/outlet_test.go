package terminal_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"remit/internal/cli/terminal"
)

// pipe is the end of a pipe to write to, and that to read from.
func pipe(t *testing.T) (written, read *os.File) {
	t.Helper()
	read, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = written.Close()
		_ = read.Close()
	})
	return written, read
}

// TestAWriteThatFailsIsToldOnce has a reader that went away: a write that waits tells it, and of writes that do not wait Flush does.
func TestAWriteThatFailsIsToldOnce(t *testing.T) {
	for _, isUnhurried := range []bool{false, true} {
		written, read := pipe(t)
		if err := read.Close(); err != nil {
			t.Fatal(err)
		}
		outlets := terminal.NewOutlets(t.Context())
		to := outlets.Of(written)
		if isUnhurried {
			outlets.Unhurried()
		}
		_, atWrite := to.Write([]byte("a line\n"))
		atEnd := outlets.Flush(0)
		if isTold := atWrite != nil; isTold == isUnhurried {
			t.Errorf("unhurried %v: the write says %v", isUnhurried, atWrite)
		}
		if isTold := atEnd != nil; isTold != isUnhurried {
			t.Errorf("unhurried %v: the end says %v", isUnhurried, atEnd)
		}
	}
}

// TestTwoStreamsOfOneFileKeepTheirOrder has standard output and standard error be one pipe, as after 2>&1.
func TestTwoStreamsOfOneFileKeepTheirOrder(t *testing.T) {
	written, read := pipe(t)
	outlets := terminal.NewOutlets(t.Context())
	out, other := outlets.Of(written), outlets.Of(written)
	outlets.Unhurried()
	var want []byte
	for i := range 20_000 { // more than the pipe takes: nobody reads yet
		to := out
		if i%3 == 0 {
			to = other
		}
		line := []byte{byte(i), byte(i >> 8), byte(i % 3), '\n'}
		if _, err := to.Write(line); err != nil {
			t.Fatal(err)
		}
		want = append(want, line...)
	}
	if !outlets.AreBehind() || outlets.Flush(time.Millisecond) != nil {
		t.Error("it does not know that nobody reads")
	}
	got := make([]byte, 0, len(want))
	for buffer := make([]byte, 4096); len(got) < len(want); {
		n, err := read.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buffer[:n]...)
	}
	if err := outlets.Flush(0); err != nil || !slices.Equal(got, want) {
		t.Errorf("the lines came in another order: %v", err)
	}
}

// TestFlushOfTwoReadersWaitsOnce has the readers of both streams stand still: the time that is enough is for all of them.
func TestFlushOfTwoReadersWaitsOnce(t *testing.T) {
	outlets := terminal.NewOutlets(t.Context())
	for range 2 {
		written, _ := pipe(t)
		to := outlets.Of(written)
		outlets.Unhurried()
		if _, err := to.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- outlets.Flush(time.Millisecond) }()
	select {
	case err := <-ended:
		if err != nil || !outlets.AreBehind() {
			t.Errorf("behind %v, %v", outlets.AreBehind(), err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for a reader that stands still")
	}
}
