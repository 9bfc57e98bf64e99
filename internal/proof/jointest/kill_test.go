package jointest_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"remit/internal/proof/suite"
)

var (
	rowsKilled = flag.Int("join.rows", 0, "transfers of the run whose runners are killed and stopped; 0 is the dose of the run")
	seedKilled = flag.Uint64("join.seed", 0, "what decides who is killed and stopped, and when; 0 is any")
	runsKilled = flag.Int("join.runs", 1, "how many such runs there are")
	lookKilled = flag.Bool("join.lookup", true, "the service can look up; without it doubts are settled by sending the recorded bytes again")
)

// The facts that the runners of TestRunnersAreKilledAndStopped share.
const (
	limitRequests = 40
	limitWindow   = time.Second
)

// TestRunnersAreKilledAndStopped kills runners of one run at random, and stops some for longer
// than their lease, while others take their place. Laws 1 and 2 hold, the rate limit is never
// exceeded, and the remaining runners finish.
//
//	go test ./internal/proof/jointest -run KilledAndStopped -v -timeout 1h -join.rows 4000 -join.runs 5
func TestRunnersAreKilledAndStopped(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	if *rowsKilled == 0 {
		*rowsKilled = suite.Dose(250, 250, 700)
	}
	program := program.Build(t)
	for range *runsKilled {
		seed := *seedKilled
		if seed == 0 {
			seed = rand.Uint64()
		}
		t.Logf("-join.seed %d", seed)
		newHunt(t, program, seed).play()
	}
}

// hunt is one run and the attacks on its runners.
type hunt struct {
	*world
	random  *rand.Rand
	runners []*runner
	wake    []time.Time // of those that were stopped, by their place in runners

	kills, stops int
}

func newHunt(t *testing.T, program string, seed uint64) *hunt {
	service := `rate_limit { internal = "40/1s" }`
	if *lookKilled {
		service += "\n  lookup_path = \"/v2/transfers\""
	}
	return &hunt{
		world: newWorld(t, program, options{
			rows: *rowsKilled, inFlight: 4, latency: 20 * time.Millisecond,
			service: service, faults: []string{"lost-answer=1%"},
		}),
		random: rand.New(rand.NewPCG(seed, 1)),
	}
}

func (h *hunt) add(args ...string) {
	h.runners = append(h.runners, h.start(args...))
	h.wake = append(h.wake, time.Time{})
}

func (h *hunt) join() { h.add("apply", "--join", waits, "--json") }

// awakes are the places of runners that have not ended and stand not still.
func (h *hunt) awakes() []int {
	var list []int
	for i, r := range h.runners {
		if !r.ended() && !r.stopped {
			list = append(list, i)
		}
	}
	return list
}

// partners are those of them that take part in the run: who is still on its way there does not carry
// it on where all others die.
func (h *hunt) partners() []int {
	h.t.Helper()
	var pids string
	err := h.db.QueryRow(context.Background(), `SELECT coalesce(string_agg((holder::json ->> 'pid'), ' '), '') FROM `+h.schema+`.runners WHERE joined AND gone = ''`).Scan(&pids)
	if err != nil {
		h.t.Fatal(err)
	}
	joined := strings.Fields(pids)
	return slices.DeleteFunc(h.awakes(), func(i int) bool { return !slices.Contains(joined, strconv.Itoa(h.runners[i].cmd.Process.Pid)) })
}

func (h *hunt) play() {
	t := h.t
	h.add("apply", "--auto-approve", "--json")
	h.await(1)
	h.join()
	h.join()
	h.await(h.runnersSeen())
	last := *rowsKilled * 9 / 10
	for h.count() < last && len(h.awakes()) > 0 {
		time.Sleep(time.Duration(200+h.random.IntN(1500)) * time.Millisecond)
		h.wakeUp()
		list := h.partners()
		if len(list) < 2 {
			if len(h.awakes()) < 3 {
				h.join()
			}
			continue
		}
		i := list[h.random.IntN(len(list))]
		switch h.random.IntN(3) {
		case 0:
			h.kills++
			h.runners[i].killed = true
			h.runners[i].signal(syscall.SIGKILL)
			<-h.runners[i].done
		case 1:
			if !slices.ContainsFunc(h.runners, func(r *runner) bool { return r.stopped && !r.ended() }) {
				h.stops++
				h.runners[i].stopped, h.wake[i] = true, time.Now().Add(12*time.Second)
				h.runners[i].signal(syscall.SIGSTOP)
			}
		case 2:
			h.join()
		}
	}
	survived := 0
	for i, r := range h.runners {
		if r.killed || r.stopped {
			continue // it may have ended by now, as others did that were in time
		}
		switch code := h.runners[i].end(); code {
		case 0, 3, 4: // a lost answer may leave a doubt
			survived++
		case 1: // it came when the run had ended
		default:
			t.Errorf("a survivor ends with %d\n%s\n%s", code, &h.runners[i].stdout, &h.runners[i].stderr)
		}
	}
	sent := h.count()
	h.settle()
	h.wakeAll()
	t.Logf("%d transfers, %d runners, %d killed, %d stopped for longer than their lease, %d ended the run; %d requests by then, %d in all",
		*rowsKilled, len(h.runners), h.kills, h.stops, survived, sent, h.count())
	if survived == 0 {
		t.Error("no runner finished")
	}
	h.keepsRate(limitRequests, limitWindow)
	h.check(*rowsKilled)
}

// runnersSeen is how many requests are waited for before the hunt begins.
func (h *hunt) runnersSeen() int { return min(*rowsKilled/10, 60) }

// wakeUp wakes those whose time has come.
func (h *hunt) wakeUp() {
	for i, r := range h.runners {
		if r.stopped && !r.ended() && time.Now().After(h.wake[i]) {
			h.awake(i)
		}
	}
}

// awake wakes a runner that was stopped for longer than its lease. Where others have taken it for lost it begins no request any
// more. Nobody has where they ended the run within its lease, or stood still themselves: then it goes on as any other.
func (h *hunt) awake(i int) {
	r := h.runners[i]
	var isLost bool
	err := h.db.QueryRow(context.Background(), `SELECT EXISTS (SELECT 1 FROM `+h.schema+`.runners WHERE gone = 'lost' AND holder::json ->> 'pid' = $1)`,
		strconv.Itoa(r.cmd.Process.Pid)).Scan(&isLost)
	if err != nil {
		h.t.Fatal(err)
	}
	r.signal(syscall.SIGCONT)
	if code := r.end(); code != 4 && code != 1 && (isLost || code != 0 && code != 3) {
		h.t.Errorf("a runner that was stopped for longer than its lease ends with %d\n%s\n%s", code, &r.stdout, &r.stderr)
	}
}

func (h *hunt) wakeAll() {
	for i, r := range h.runners {
		if r.stopped && !r.ended() {
			time.Sleep(time.Until(h.wake[i]))
			h.awake(i)
		}
	}
}

// settle applies until nothing is left to do: what the run left in doubt is looked up.
func (h *hunt) settle() {
	h.t.Helper()
	for range 5 {
		r := h.start("apply", "--auto-approve", "--lock-timeout=30s")
		switch code := r.end(); {
		case code == 0:
			return
		case code == 1 && strings.Contains(r.said(), "the state is locked by"):
			h.wakeAll() // the others ended the run within the lease of one that is stopped: nobody has put it out
		case code != 3 && code != 4:
			h.t.Fatalf("an apply afterwards ends with %d\n%s\n%s", code, &r.stdout, &r.stderr)
		}
	}
	h.t.Error("applies do not come to an end")
}
