package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"remit/internal/cli"
	"remit/internal/sandbox"
)

// nights is a schedule of a payment a night, and a window in which it may be sent.
const nights = `
schedule "nightly" {
  rrule    = "FREQ=DAILY;COUNT=20"
  start    = "2026-10-20"
  timezone = "America/New_York" # daylight saving time ends within
  time     = "01:30"
  catch_up = "30d"
}
window "night" {
  timezone = "America/New_York"
  from     = "23:00"
  to       = "05:00"
}
transfer "internal" "sweep" {
  for_each         = schedule.nightly.occurrences
  ref_id           = "sweep-${each.key}"
  from_profile_id  = "treasury"
  to_profile_id    = "vault"
  amount           = "100.00"
  asset            = "USD"
  not_before       = each.value.due_at
  window           = window.night
  duplicate_within = "0"
}
variable "base_url" { type = string }
service {
  base_url      = var.base_url
  token_url     = "${var.base_url}/oauth2/token"
  client_id     = "finance"
  client_secret = "secret"
}
`

// TestCronPaysEachNightOnce lets cron jobs overlap, miss nights and see a clock that jumps back,
// in orders that chance decides. In the end each night was paid once, and none before it was
// due or outside of its window.
func TestCronPaysEachNightOnce(t *testing.T) {
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newCron(t, seed).play()
		})
	}
}

// cron is one history of a directory, a service and a clock that both see.
type cron struct {
	t      *testing.T
	random *rand.Rand
	dir    string
	url    string

	mu    sync.Mutex
	clock time.Time
	posts int // requests to create
}

func newCron(t *testing.T, seed uint64) *cron {
	c := &cron{
		t: t, random: rand.New(rand.NewPCG(seed, 0)), dir: t.TempDir(),
		clock: time.Date(2026, 10, 19, 12, 0, 0, 0, time.UTC),
	}
	writeFile(t, filepath.Join(c.dir, "main.hcl"), nights)
	box, err := sandbox.Open(context.Background(), sandbox.Options{ClientID: "finance", ClientSecret: "secret", Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", c.now().UTC().Format(http.TimeFormat))
		if r.Method == http.MethodPost && r.URL.Path != sandbox.TokenPath {
			c.judge()
		}
		box.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.Close()
		_ = box.Close()
	})
	c.url = server.URL
	return c
}

func (c *cron) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock
}

// judge counts a request and looks at the hour at which it comes.
func (c *cron) judge() {
	c.mu.Lock()
	c.posts++
	c.mu.Unlock()
	newYork, err := time.LoadLocation("America/New_York")
	if err != nil {
		c.t.Error(err)
		return
	}
	if hour := c.now().In(newYork).Hour(); hour >= 5 && hour < 23 {
		c.t.Errorf("a request comes at %s, outside of the window", c.now().In(newYork))
	}
}

func (c *cron) play() {
	c.run("init")
	end := time.Date(2026, 11, 9, 8, 0, 0, 0, time.UTC)
	for c.now().Before(end) {
		c.together(1 + c.random.IntN(3))
		step := time.Duration(c.random.IntN(9*60)) * time.Minute
		switch c.random.IntN(6) {
		case 0:
			step = -time.Hour
		case 1:
			step = time.Duration(1+c.random.IntN(3)) * 24 * time.Hour // nights are missed
		}
		c.mu.Lock()
		c.clock = c.clock.Add(step)
		c.mu.Unlock()
	}
	c.mu.Lock()
	c.clock = end
	c.mu.Unlock()
	c.together(1)
	if c.posts != 20 {
		c.t.Errorf("%d requests were sent for 20 nights", c.posts)
	}
	out := c.run("state", "list")
	for night := range 20 {
		refID := "sweep-" + time.Date(2026, 10, 20+night, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
		if strings.Count(out, refID) != 1 {
			c.t.Errorf("%s is recorded %d times", refID, strings.Count(out, refID))
		}
	}
}

// together runs so many applies at once.
func (c *cron) together(n int) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() { c.run("apply", "--auto-approve", "--lock-timeout=1m") })
	}
	all.Wait()
}

func (c *cron) run(args ...string) string {
	var stdout, stderr bytes.Buffer
	args = append(args, "--chdir="+c.dir, "--var=base_url="+c.url)
	if code := cli.RunAt(context.Background(), c.now, args, strings.NewReader(""), &stdout, &stderr, func(string) (string, bool) { return "", false }); code != 0 {
		c.t.Errorf("remit %s at %s: exit code %d\n%s%s", strings.Join(args, " "), c.now(), code, &stdout, &stderr)
	}
	return stdout.String()
}
