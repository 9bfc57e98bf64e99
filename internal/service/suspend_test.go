package service_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"remit/executor"
	"remit/internal/service"
)

// nap is a machine that sleeps: the time since its boot goes on, and what timers go by does not.
type nap struct{ asleep atomic.Int64 }

func (n *nap) sleep(d time.Duration) { n.asleep.Add(int64(d)) }

// clocks gives a client the clocks of such a machine; hasBoot says whether it has the one that goes on.
// Its wall clock is right again after the sleep.
func (n *nap) clocks(hasBoot bool) func(*service.Options) {
	return func(o *service.Options) {
		booted := time.Now()
		o.Up = func() time.Duration { return time.Hour + time.Since(booted) + time.Duration(n.asleep.Load()) }
		if hasBoot {
			return
		}
		o.Up = nil
		o.Now = func() time.Time {
			now := time.Now()
			if asleep := time.Duration(n.asleep.Load()); asleep > 0 {
				now = now.Round(0).Add(asleep) // the part that timers go by is dropped
			}
			return now
		}
	}
}

func TestNothingIsSentAfterASleepBeforeIt(t *testing.T) {
	for name, hasBoot := range map[string]bool{"by the time since the boot": true, "by the wall clock, where there is no other": false} {
		t.Run(name, func(t *testing.T) {
			machine := new(nap)
			w := world{api: func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, answer) }}
			w.in(t, func(t *testing.T, c *service.Client) {
				connections := newPipes()
				server := http.Server{Handler: http.HandlerFunc(w.count)}
				go func() { _ = server.Serve(connections) }()
				w.dial = func(context.Context) (net.Conn, error) {
					machine.sleep(executor.StartMax + time.Second) // the timer of this connection does not notice
					return connections.open()
				}
				if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten || w.requests != 0 {
					t.Errorf("answer %+v after %d requests, want an unwritten one after none", got, w.requests)
				}
				w.dial = func(context.Context) (net.Conn, error) {
					machine.sleep(executor.StartMax - time.Second)
					return connections.open()
				}
				if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || w.requests != 1 {
					t.Errorf("answer %+v after %d requests, want one that is answered", got, w.requests)
				}
				_ = server.Close()
			}, machine.clocks(hasBoot))
		})
	}
}

func TestAnAnswerIsNotBelievedAfterASleep(t *testing.T) {
	machine := new(nap)
	asleep := time.Hour
	w := world{api: func(rw http.ResponseWriter, r *http.Request) {
		machine.sleep(asleep)
		if r.Method == http.MethodGet {
			fmt.Fprint(rw, `{"items":[]}`)
			return
		}
		fmt.Fprint(rw, answer)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unclear {
			t.Errorf("answer %+v, want one that is unclear", got)
		}
		if found, err := c.Find(t.Context(), []string{"a"}); err == nil {
			t.Errorf("found %v, want an error", found)
		}
		asleep = time.Second
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
			t.Errorf("answer %+v, want one that is believed", got)
		}
	}, machine.clocks(true))
}
