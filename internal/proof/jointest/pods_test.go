package jointest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// pods starts and ends runners as a kubelet does, by what a manifest says of its container.
type pods struct {
	*world
	args  []string
	env   []string
	grace time.Duration
	tries int   // further ones of each index, by backoffLimitPerIndex
	final []int // exit codes that end the job, by podFailurePolicy
}

// newPods reads docs/recipes/kubernetes/runners.yaml. Its directories are those of the world.
func newPods(w *world) *pods {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "recipes", "kubernetes", "runners.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.write("state.hclvars", fmt.Sprintf("database_url = %q\n", w.at.URL()))
	w.write("client_secret", "worth-nothing")
	here := strings.NewReplacer("/run/secrets/remit", w.dir, "/payments", w.dir)
	p := &pods{world: w, env: []string{"REMIT_VAR_database_url=postgres://nobody@127.0.0.1:1/none"}} // the file has it
	_, container, _ := strings.Cut(string(text), "\n              args:\n")
	args, rest, _ := strings.Cut(container, "              env:\n")
	env, _, _ := strings.Cut(rest, "securityContext:")
	for _, m := range regexp.MustCompile(`(?m)^ +- (\S+)$`).FindAllStringSubmatch(args, -1) {
		p.args = append(p.args, here.Replace(m[1]))
	}
	for _, m := range regexp.MustCompile(`\{name: (\w+), value: (\S+)\}`).FindAllStringSubmatch(env, -1) {
		p.env = append(p.env, m[1]+"="+here.Replace(m[2]))
	}
	grace := regexp.MustCompile(`terminationGracePeriodSeconds: (\d+)`).FindStringSubmatch(string(text))
	if len(p.args) < 5 || len(p.env) < 3 || grace == nil {
		w.t.Fatalf("the manifest can't be read: %q %q %q", p.args, p.env, grace)
	}
	seconds, err := strconv.Atoi(grace[1])
	if err != nil {
		w.t.Fatal(err)
	}
	p.args = append(p.args, waits, outlasts) // this machine may be busier than those that the manifest is for
	p.grace = time.Duration(seconds) * time.Second
	tries := regexp.MustCompile(`backoffLimitPerIndex: (\d+)`).FindStringSubmatch(string(text))
	final := regexp.MustCompile(`values: \[(\d+), (\d+)\]`).FindStringSubmatch(string(text))
	if tries == nil || final == nil {
		w.t.Fatalf("the manifest can't be read: %q %q", tries, final)
	}
	p.tries, err = strconv.Atoi(tries[1])
	for _, code := range final[1:] {
		n, isNone := strconv.Atoi(code)
		p.final, err = append(p.final, n), errors.Join(err, isNone)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (p *pods) begin() *runner {
	p.t.Helper()
	return p.startWith(p.env, p.args...)
}

// drain ends pods as the drain of their nodes does: TERM, and KILL after the grace period.
func (p *pods) drain(list ...*runner) {
	p.t.Helper()
	for _, r := range list {
		r.signal(syscall.SIGTERM)
	}
	for _, r := range list {
		select {
		case <-r.done:
		case <-time.After(p.grace):
			r.signal(syscall.SIGKILL)
			p.t.Errorf("the pod had to be killed\n%s", &r.stderr)
		}
		if code := r.end(); code != 143 && code != 0 {
			p.t.Errorf("a drained pod ends with %d\n%s\n%s", code, &r.stdout, &r.stderr)
		}
	}
}

// index carries out one index of the job as its controller does: another pod takes the place of one that fails, for as many tries as
// the manifest has, and of one that is disrupted without counting it. It returns the exit code of the last pod.
func (p *pods) index(begun func(*runner), isDisrupted func(*runner) bool) (code, pods int) {
	for failed := 0; ; {
		r := p.begin()
		begun(r)
		<-r.done
		code, pods = r.cmd.ProcessState.ExitCode(), pods+1
		if code == 0 || slices.Contains(p.final, code) {
			return code, pods
		}
		if isDisrupted(r) {
			continue
		}
		if failed++; failed > p.tries {
			return code, pods
		}
	}
}

// TestAJobNeedsNobody carries a run out by the whole job of the manifest. One pod is drained, one dies with its node, and the
// server of the state is rolled twice, the second time for seconds: every index ends with 0.
func TestAJobNeedsNobody(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const rows = 600
	server := pgtest.Start(t)
	w := newWorld(t, program.Build(t), options{
		rows: rows, inFlight: 2, latency: 40 * time.Millisecond, held: true, unchecked: true, service: `lookup_path = "/v2/transfers"`,
		at: reached{server, server.URL()},
	})
	p := newPods(w)
	var mu sync.Mutex
	now := make([]*runner, 3)
	disrupted := make(map[*runner]bool)
	ends := make(chan [3]int, len(now))
	for i := range now {
		go func() {
			code, pods := p.index(func(r *runner) {
				mu.Lock()
				defer mu.Unlock()
				now[i] = r
			}, func(r *runner) bool {
				mu.Lock()
				defer mu.Unlock()
				return disrupted[r]
			})
			ends <- [3]int{i, code, pods}
		}()
	}
	end := func(i int, s syscall.Signal) {
		mu.Lock()
		defer mu.Unlock()
		disrupted[now[i]] = s == syscall.SIGTERM
		now[i].signal(s)
	}
	w.takePart(3)
	w.await(rows / 6)
	end(0, syscall.SIGTERM)
	w.await(rows / 3)
	end(1, syscall.SIGKILL)
	w.await(rows / 2)
	for _, away := range []time.Duration{0, 5 * time.Second} {
		came := w.count()
		server.Shut()
		time.Sleep(away)
		if err := server.Run(); err != nil {
			t.Fatal(err)
		}
		w.await(min(came+rows/10, rows)) // all may have come before anybody counts
	}
	for range now {
		if got := <-ends; got[1] != 0 {
			t.Errorf("index %d ends with %d after %d pods", got[0], got[1], got[2])
		} else {
			t.Logf("index %d ended with 0 after %d pods", got[0], got[2])
		}
	}
	if t.Failed() {
		for i, r := range now {
			t.Logf("the last pod of index %d:\n%s\n%s", i, &r.stdout, &r.stderr)
		}
	}
	w.check(rows)
}

// TestPodsThatEndAreBegunAgain carries a run out with the pods of the manifest. One is drained, one dies with its node, and
// another one takes the place of each, as the job has it: the run ends, and everything is made once.
func TestPodsThatEndAreBegunAgain(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	w := newWorld(t, program.Build(t), options{
		rows: 500, inFlight: 2, latency: 40 * time.Millisecond, held: true, service: `lookup_path = "/v2/transfers"`,
	})
	p := newPods(w)
	first, second, third := p.begin(), p.begin(), p.begin()
	w.takePart(3)
	w.await(60)
	p.drain(first)
	fourth := p.begin()
	w.await(120)
	second.signal(syscall.SIGKILL)
	<-second.done
	fifth := p.begin()
	for i, r := range []*runner{third, fourth, fifth} {
		if code := r.end(); code != 0 {
			t.Errorf("pod %d of those that remain ends with %d\n%s\n%s", i+3, code, &r.stdout, &r.stderr)
		}
	}
	w.check(500)
}

// TestAJobWhosePodsAllEndIsBegunAgain drains every node at once: the pods that take their place end the run.
func TestAJobWhosePodsAllEndIsBegunAgain(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	w := newWorld(t, program.Build(t), options{
		rows: 200, inFlight: 2, latency: 40 * time.Millisecond, held: true, service: `lookup_path = "/v2/transfers"`,
	})
	p := newPods(w)
	all := []*runner{p.begin(), p.begin()}
	w.takePart(2)
	w.await(40)
	p.drain(all...)
	for _, r := range []*runner{p.begin(), p.begin()} {
		if code := r.end(); code != 0 {
			t.Errorf("a pod in the place of a drained one ends with %d\n%s\n%s", code, &r.stdout, &r.stderr)
		}
	}
	w.check(200)
}
