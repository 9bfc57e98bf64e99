package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errSilent says that a server, or the network on the way to it, was silent for so long that it is taken for gone.
var errSilent = errors.New("the server does not answer")

// patientConn is a connection whose server may be silent for a while, and no longer. A question to a server that
// hangs, or that nothing comes through to any more, ends then, with any context: TCP itself
// says nothing about either for a long time.
type patientConn struct {
	net.Conn
	patience atomic.Int64 // in nanoseconds; 0 is without an end
	silent   atomic.Bool
}

// withPatience has a connection of a configuration be given up when the server is silent for so long.
func withPatience(patience time.Duration) func(context.Context, *pgconn.Config, net.Conn) (net.Conn, error) {
	return func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
		c := &patientConn{Conn: conn}
		c.patience.Store(int64(patience))
		return c, nil
	}
}

// Read implements [net.Conn].
func (c *patientConn) Read(b []byte) (int, error) {
	defer c.wait()()
	n, err := c.Conn.Read(b)
	return n, c.judge(err)
}

// Write implements [net.Conn].
func (c *patientConn) Write(b []byte) (int, error) {
	defer c.wait()()
	n, err := c.Conn.Write(b)
	return n, c.judge(err)
}

// wait begins a wait for the server, which the function ends that it returns.
func (c *patientConn) wait() (ends func()) {
	patience := time.Duration(c.patience.Load())
	if patience == 0 {
		return func() {}
	}
	givesUp := time.AfterFunc(patience, func() {
		c.silent.Store(true)
		_ = c.Close() // which ends the wait
	})
	return func() { givesUp.Stop() }
}

// judge names the cause why a wait was given up.
func (c *patientConn) judge(err error) error {
	if err != nil && c.silent.Load() {
		return fmt.Errorf("%w: it was silent for %v", errSilent, time.Duration(c.patience.Load()))
	}
	return err
}

// orSilent says of an error of a connection that its server was silent, where the driver says no more than that the
// connection is closed.
func orSilent(conn *pgx.Conn, err error) error {
	if c, ok := conn.PgConn().Conn().(*patientConn); ok && !errors.Is(err, errSilent) {
		return c.judge(err)
	}
	return err
}

// atLeisure does what may take a server longer than its answers may: a migration, which can change every row.
func atLeisure(conn *pgx.Conn, do func() error) error {
	c, ok := conn.PgConn().Conn().(*patientConn)
	if !ok {
		return do()
	}
	before := c.patience.Swap(0)
	defer c.patience.Store(before)
	return do()
}
