package crashtest_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"remit/internal/proof/suite"
)

// TestACrashIsNoExitCodeOfRemits crashes a run as a bug would, in Go and in C: it ends by a signal, with
// no core, and not with 2, which plan --detailed-exitcode means otherwise.
func TestACrashIsNoExitCodeOfRemits(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	for name, crash := range map[string]syscall.Signal{"of the runtime": syscall.SIGQUIT, "of an address": syscall.SIGSEGV, "of a file that was mapped": syscall.SIGBUS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, program, "latency=200ms")
			watched := watchUnfinished(t, s.baseURL)
			d := newDirectory(t, program, &service{baseURL: watched.url, secret: s.secret}, false, 8)
			d.must(0, "init")
			r := d.start("apply", "--auto-approve", "--json")
			if !r.await(`"type":"settled"`, 3, patience) {
				r.end().fatal(t, "nothing is settled")
			}
			signal(t, r, crash)
			for range r.lines { // to its end
			}
			_ = r.cmd.Wait() // it was killed
			watched.pass()
			status := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
			// While the Go runtime prints the stacks of threads that run, it may meet one that changes, and then ends by SIGSEGV.
			isInTrace := crash == syscall.SIGQUIT && status.Signal() == syscall.SIGSEGV && strings.Contains(r.stderr.String(), "goroutine ")
			isCrash := status.Signal() == syscall.SIGABRT || isInTrace
			if !status.Signaled() || !isCrash || status.CoreDump() {
				t.Errorf("exit code %d, %v, core %v: %.300s", r.cmd.ProcessState.ExitCode(), status.Signal(), status.CoreDump(), r.stderr.String())
			}
			if cores, _ := filepath.Glob(filepath.Join(d.path, "core*")); len(cores) > 0 { // the pattern is well formed
				t.Errorf("a core is left: %v", cores)
			}
			settled(t, d, s, d.path)
		})
	}
}
