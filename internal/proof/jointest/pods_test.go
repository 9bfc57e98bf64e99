package jointest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"remit/internal/proof/suite"
)

// pods starts and ends runners as a kubelet does, by what a manifest says of its container.
type pods struct {
	*world
	args  []string
	env   []string
	grace time.Duration
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
	p.grace = time.Duration(seconds) * time.Second
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
