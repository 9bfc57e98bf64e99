//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// processes are the numbers of the server's processes: its first one, then those that it
// started. It reads /proc; where there is none, only the first is known.
func (s *Server) processes() []int {
	if s.run == nil {
		return nil
	}
	return childrenOf(s.run.cmd.Process.Pid)
}

// childrenOf are the number of a process, and those of the processes that it started.
func childrenOf(first int) []int {
	list := []int{first}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if _, parent := processState(pid); err == nil && parent == strconv.Itoa(first) {
			list = append(list, pid)
		}
	}
	return list
}

// processState is the state of a process, of a letter, and the number of the one that started it;
// both are "" where it has ended.
func processState(pid int) (state, parent string) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", ""
	}
	// The name, in brackets, may contain anything; the state and the parent follow it.
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(words) < 2 {
		return "", ""
	}
	return words[0], words[1]
}

// hold stops the first process, which then starts no other, and returns all.
func (s *Server) hold() ([]int, error) {
	if s.run == nil {
		return nil, nil
	}
	err := s.signal(syscall.SIGSTOP, []int{s.run.cmd.Process.Pid})
	return s.processes(), err
}

// Pause stops every process of the server at once: connections stay, and nothing is answered, as
// when its machine hangs.
func (s *Server) Pause() error {
	list, err := s.hold()
	return errors.Join(err, s.signal(syscall.SIGSTOP, list))
}

// Continue lets a paused server go on.
func (s *Server) Continue() error {
	// Its first process comes last: it would start others that nobody would wake.
	list := s.processes()
	slices.Reverse(list)
	return s.signal(syscall.SIGCONT, list)
}

// Cut kills every process of the server at once, as a power failure does. The next [Server.Run]
// finds and removes its shared memory.
func (s *Server) Cut() error {
	if s.run == nil {
		return nil
	}
	// None must be able to do a thing after another one was killed.
	list, err := s.hold()
	err = errors.Join(err, s.signal(syscall.SIGSTOP, list), s.signal(syscall.SIGKILL, list))
	s.end(syscall.SIGKILL)
	for _, pid := range list[1:] { // while one lives, no other server starts
		for state, _ := processState(pid); state != "" && state != "Z"; state, _ = processState(pid) {
			time.Sleep(pauseReady)
		}
	}
	return err
}

// KillSession kills the process of one of remit's sessions, the n-th modulo how many there are,
// if there is one. The server then ends all others, and recovers as after a power failure;
// KillSession waits until it answers again.
func (s *Server) KillSession(n int) error {
	ctx := context.Background()
	list, err := s.TryExec(ctx, "public",
		`SELECT coalesce(string_agg(pid::text, ' '), '') FROM pg_stat_activity WHERE application_name = 'remit'`)
	if err != nil {
		return err
	}
	pids := strings.Fields(list)
	if len(pids) == 0 {
		return nil
	}
	pid, err := strconv.Atoi(pids[n%len(pids)])
	if err != nil {
		return err
	}
	// A recovery starts all of the server's own processes anew.
	const own = `SELECT pid::text FROM pg_stat_activity WHERE backend_type = 'checkpointer'`
	before, err := s.TryExec(ctx, "public", own)
	if err != nil {
		return err
	}
	if err := s.signal(syscall.SIGKILL, []int{pid}); err != nil {
		return err
	}
	unmoved := 0 // times that the server answers as if nothing had happened
	for !s.run.hasEnded() {
		after, err := s.TryExec(ctx, "public", own)
		switch {
		case err != nil, syscall.Kill(pid, 0) == nil: // until the server has seen it end
			unmoved = 0
		case after == before:
			unmoved++
		case after != "":
			return nil
		}
		if unmoved > 100 { // the session had ended by itself
			return nil
		}
		time.Sleep(pauseReady)
	}
	return errors.New("the server did not recover")
}

func (s *Server) signal(sig syscall.Signal, pids []int) error {
	var failed error
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			failed = errors.Join(failed, fmt.Errorf("signal %v to process %d: %w", sig, pid, err))
		}
	}
	return failed
}

// Shut stops the server as "pg_ctl stop -m fast" does: it ends all sessions, writes down what
// it has, and then ends.
func (s *Server) Shut() { s.end(syscall.SIGINT) }
