package service_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/service"
)

// watched is a connection to an address that tells of its end.
type watched struct {
	net.Conn
	address string
	ended   *atomic.Int32
}

func (w watched) Close() error {
	w.ended.Add(1)
	return nil
}

// TestADeadAddressCostsLittle dials hosts whose addresses answer, refuse, or never answer.
func TestADeadAddressCostsLittle(t *testing.T) {
	tests := map[string]struct {
		addresses string // what each does: a answers, r refuses, d is dead, s answers a second later
		took      time.Duration
		at        string // the address that answers; "" for none
		ended     int32  // connections that were had too late
	}{
		"one that answers":             {"a", 0, "10.0.0.0:443", 0},
		"one that refuses":             {"r", 0, "", 0},
		"the second answers":           {"da", 250 * time.Millisecond, "10.0.0.1:443", 0},
		"three dead ones come first":   {"ddda", 750 * time.Millisecond, "10.0.0.3:443", 0},
		"those that refuse cost none":  {"rrra", 0, "10.0.0.3:443", 0},
		"refused, then dead":           {"rda", 250 * time.Millisecond, "10.0.0.2:443", 0},
		"a slow one is overtaken":      {"sa", 250 * time.Millisecond, "10.0.0.1:443", 1},
		"a slow one is waited for":     {"sdr", time.Second, "10.0.0.0:443", 0},
		"two slow ones, one too late":  {"ss", time.Second, "10.0.0.0:443", 1},
		"all are dead":                 {"ddd", time.Minute, "", 0},
		"a dead one beside a refusing": {"dr", time.Minute, "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended atomic.Int32
				resolve := func(context.Context, int, string) (found []net.IPAddr, err error) {
					for i := range tt.addresses {
						found = append(found, net.IPAddr{IP: net.IPv4(10, 0, 0, byte(i))})
					}
					return found, nil
				}
				connect := func(ctx context.Context, _, address string) (net.Conn, error) {
					switch tt.addresses[address[len("10.0.0.")]-'0'] {
					case 'r':
						return nil, errors.New("connection refused")
					case 'd':
						<-ctx.Done()
						return nil, ctx.Err()
					case 's':
						time.Sleep(time.Second) // although its context may end
					}
					return watched{address: address, ended: &ended}, nil
				}
				began := time.Now()
				conn, err := service.Dial(t.Context(), "api.example", resolve, connect)
				took := time.Since(began)
				at := ""
				if err == nil {
					at = conn.(watched).address
				}
				if took != tt.took || at != tt.at {
					t.Errorf("%q after %s: %v", at, took, err)
				}
				time.Sleep(time.Minute)
				if got := ended.Load(); got != tt.ended {
					t.Errorf("%d connections were ended, want %d", got, tt.ended)
				}
			})
		})
	}
}

// TestADeadNameserverCostsLittle has nameservers that answer late or never.
func TestADeadNameserverCostsLittle(t *testing.T) {
	t.Run("a question times out", func(t *testing.T) {
		hole, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = hole.Close() }()
		conn, err := service.Question(t.Context(), 50*time.Millisecond, "udp", hole.LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if _, isPacket := conn.(net.PacketConn); !isPacket {
			t.Error("the resolver would speak to it as over TCP")
		}
		_ = conn.SetDeadline(time.Now().Add(time.Hour)) // as the resolver does, after it has connected
		var timeout net.Error
		if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("all are asked again", func(t *testing.T) {
		rounds := 0
		_, err := service.Dial(t.Context(), "api.example", func(_ context.Context, round int, host string) ([]net.IPAddr, error) {
			rounds++
			if round < 3 {
				return nil, &net.DNSError{Err: "i/o timeout", Name: host, IsTimeout: true}
			}
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}, nil)
		if rounds != 4 || err == nil || !strings.Contains(err.Error(), "no such host") {
			t.Errorf("%d rounds: %v", rounds, err)
		}
	})
	t.Run("they are given up", func(t *testing.T) {
		rounds := 0
		_, err := service.Dial(t.Context(), "api.example", func(_ context.Context, _ int, host string) ([]net.IPAddr, error) {
			rounds++
			return nil, &net.DNSError{Err: "i/o timeout", Name: host, IsTimeout: true}
		}, nil)
		if rounds != 6 || err == nil {
			t.Errorf("%d rounds: %v", rounds, err)
		}
	})
	t.Run("it has no address", func(t *testing.T) {
		_, err := service.Dial(t.Context(), "api.example", func(context.Context, int, string) ([]net.IPAddr, error) { return nil, nil }, nil)
		if err == nil || !strings.Contains(err.Error(), "it has no address") {
			t.Error(err)
		}
	})
}

// TestNoConnectionIsCalledSo has hosts that never take a connection.
func TestNoConnectionIsCalledSo(t *testing.T) {
	dead := func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		o := options("https://127.0.0.1:2", "https://127.0.0.1:1/token")
		o.Dial = dead
		c, err := service.New(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Ready(t.Context())
		if took := time.Since(began); took != 30*time.Second || !strings.Contains(words(err), "cannot be reached: no connection within 30s. Correct token_url, or try again") {
			t.Errorf("after %s: %v", took, err)
		}
		c.Close()
	})
	w := &world{dial: func(ctx context.Context) (net.Conn, error) { return dead(ctx, "", "") }}
	w.in(t, func(t *testing.T, c *service.Client) {
		if _, err := c.Find(t.Context(), []string{"a"}); !strings.Contains(words(err), "no connection within 30s") {
			t.Error(err)
		}
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unwritten || !strings.Contains(got.Reason, "no connection within 4s") {
			t.Errorf("%+v", got)
		}
	})
}
