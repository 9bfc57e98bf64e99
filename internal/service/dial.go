package service

import (
	"context"
	"errors"
	"net"
	"time"
)

const (
	// questionWait is how long one nameserver may take for one question, before the next is asked. Systems wait for 5 s, and
	// a request to create has 4 s in all. Where none answered, all are asked again and may take twice as long, so many times.
	questionWait   = time.Second
	questionRounds = 6
	// nextAddress is after how long without a connection the next address of a host is tried as well (RFC 8305, section 5).
	nextAddress = 250 * time.Millisecond
)

// dialer opens connections. A nameserver or an address that is dead costs it little: what it tries may end at any time, and
// nothing is written before.
type dialer struct {
	within  time.Duration // of a name and all its addresses
	resolve func(ctx context.Context, round int, host string) ([]net.IPAddr, error)
	connect func(ctx context.Context, network, address string) (net.Conn, error)
}

func newDialer(within time.Duration) *dialer {
	return &dialer{within: within, resolve: resolver(), connect: new(net.Dialer).DialContext}
}

// DialContext connects to one of the addresses of a host, in their order, each a little later than the one before.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.within)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addresses, err := d.find(ctx, host)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, len(addresses))
	var first error
	begun, open := 0, 0
	timer := time.NewTimer(0)
	defer timer.Stop()
	for begun < len(addresses) || open > 0 {
		select {
		case <-timer.C:
			if begun == len(addresses) {
				continue
			}
			at := net.JoinHostPort(addresses[begun].String(), port)
			begun, open = begun+1, open+1
			timer.Reset(nextAddress)
			go func() {
				conn, err := d.connect(ctx, network, at)
				results <- result{conn, err}
			}()
		case r := <-results:
			open--
			if r.err == nil {
				go func() {
					for range open {
						if late := <-results; late.err == nil {
							_ = late.conn.Close() // nothing was written on it
						}
					}
				}()
				return r.conn, nil
			}
			if first == nil {
				first = r.err
			}
			timer.Reset(0)
		}
	}
	return nil, first
}

// find returns the addresses of a host.
func (d *dialer) find(ctx context.Context, host string) (addresses []net.IPAddr, err error) {
	for round := range questionRounds {
		addresses, err = d.resolve(ctx, round, host)
		if late, ok := errors.AsType[*net.DNSError](err); !ok || !late.IsTimeout || ctx.Err() != nil {
			break
		}
	}
	if err == nil && len(addresses) == 0 {
		err = &net.DNSError{Err: "it has no address", Name: host, IsNotFound: true}
	}
	return addresses, err
}

// resolver asks as the system is set to. Where that is by asking nameservers, each may take so long for one question as the
// round allows.
func resolver() func(ctx context.Context, round int, host string) ([]net.IPAddr, error) {
	var rounds [questionRounds]net.Resolver
	for i := range rounds {
		rounds[i].Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return question(ctx, questionWait<<i, network, address)
		}
	}
	return func(ctx context.Context, round int, host string) ([]net.IPAddr, error) {
		return rounds[round].LookupIPAddr(ctx, host)
	}
}

// question connects to a nameserver. A question times out after wait, even where the resolver allows more.
func question(ctx context.Context, wait time.Duration, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		time.AfterFunc(wait, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // an error is that of a connection that has ended
	}
	return conn, err
}
