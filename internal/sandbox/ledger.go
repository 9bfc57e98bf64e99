package sandbox

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver
	"github.com/shopspring/decimal"

	"remit/internal/files/address"
)

//go:embed schema.sql
var schema string

// schemaVersion is the user_version of a ledger that this program made.
const schemaVersion = 1

// batchMax bounds how many requests share a commit.
const batchMax = 256

var errClosed = errors.New("the sandbox is closed")

// ledger is the double-entry ledger. One goroutine holds its only connection: requests that
// come at the same time share a transaction.
type ledger struct {
	seed       uint64
	customerID string
	opening    map[account]decimal.Decimal // nil where every profile has enough
	db         *sql.DB
	conn       *sql.Conn // its only one
	statements statements
	commands   chan command
	mu         sync.RWMutex // held to send a command, so that none is sent after the last
	closed     bool
	done       chan struct{}
	failed     error // to let go of the file; read after done
}

type account struct{ profileID, asset string }

// command is something to do in a transaction. Its function may run twice, if the first
// transaction was not committed.
type command struct {
	do   func(*batch) error
	done chan error
}

func openLedger(ctx context.Context, o Options) (*ledger, error) {
	l := &ledger{seed: o.Seed, commands: make(chan command, batchMax), done: make(chan struct{})}
	if len(o.OpeningBalances) > 0 {
		l.opening = make(map[account]decimal.Decimal)
		for _, b := range o.OpeningBalances {
			key := account{b.ProfileID, b.Asset}
			l.opening[key] = l.opening[key].Add(b.Amount)
		}
	}
	dsn, err := prepareFile(o.Path)
	if err != nil {
		return nil, err
	}
	if l.db, err = sql.Open("sqlite3", dsn); err != nil {
		return nil, err
	}
	l.db.SetMaxOpenConns(1)
	l.db.SetMaxIdleConns(1)
	if l.conn, err = l.db.Conn(ctx); err == nil {
		err = l.prepare(ctx, o)
	}
	if err != nil {
		return nil, errors.Join(err, l.db.Close())
	}
	go l.run()
	return l, nil
}

// prepareFile makes the file private before SQLite would make it, and returns its DSN. The
// ledger need not survive a power cut: it is a rehearsal.
func prepareFile(path string) (string, error) {
	const settings = "_foreign_keys=on&_busy_timeout=10000"
	if path == "" {
		return "file::memory:?" + settings, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	return address.SQLite(path) + "?_journal_mode=WAL&_synchronous=NORMAL&" + settings, nil
}

// bindCustomer gives a new ledger its customer, and refuses another one than that of an old one.
func (l *ledger) bindCustomer(ctx context.Context, o Options) error {
	customerID := o.CustomerID
	if customerID == "" {
		customerID = uuidOf(o.Seed, 0, "customer")
	}
	if _, err := l.conn.ExecContext(ctx, "INSERT INTO ledger (name, value) VALUES ('customer_id', ?) ON CONFLICT DO NOTHING", customerID); err != nil {
		return err
	}
	if err := l.conn.QueryRowContext(ctx, "SELECT value FROM ledger WHERE name = 'customer_id'").Scan(&l.customerID); err != nil {
		return err
	}
	if o.CustomerID != "" && o.CustomerID != l.customerID {
		return fmt.Errorf("it belongs to the customer %q, not to %q", l.customerID, o.CustomerID)
	}
	return nil
}

func (l *ledger) prepare(ctx context.Context, o Options) error {
	conn := l.conn
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	var version int
	if err := conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	isNew := version == 0
	if isNew {
		if _, err := conn.ExecContext(ctx, schema); err != nil {
			return err
		}
		version = schemaVersion
	}
	if version != schemaVersion {
		return fmt.Errorf("it is of version %d, this program knows version %d", version, schemaVersion)
	}
	if err := l.bind(ctx, o.Environment, isNew); err != nil {
		return err
	}
	if err := l.bindCustomer(ctx, o); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		return err
	}
	var err error
	l.statements, err = prepareStatements(ctx, conn)
	return err
}

// bind makes a new ledger that of an environment, and refuses one of another. Without an environment it asks
// nothing.
func (l *ledger) bind(ctx context.Context, environment string, isNew bool) error {
	if environment == "" {
		return nil
	}
	if isNew {
		_, err := l.conn.ExecContext(ctx, "INSERT INTO ledger (name, value) VALUES ('environment', ?)", environment)
		return err
	}
	var bound string
	err := l.conn.QueryRowContext(ctx, "SELECT value FROM ledger WHERE name = 'environment'").Scan(&bound)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("its ledger belongs to no environment, and not to %q", environment)
	case err == nil && bound != environment:
		return fmt.Errorf("its ledger belongs to the environment %q, and not to %q", bound, environment)
	}
	return err
}

// do runs f in a transaction and returns when it is committed. It doesn't end early: what f
// has done may be committed in any case.
func (l *ledger) do(f func(*batch) error) error {
	c := command{do: f, done: make(chan error, 1)}
	l.mu.RLock()
	if l.closed {
		l.mu.RUnlock()
		return errClosed
	}
	l.commands <- c
	l.mu.RUnlock()
	return <-c.done
}

func (l *ledger) close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.commands)
	}
	l.mu.Unlock()
	<-l.done
	return errors.Join(l.failed, l.db.Close())
}

// run carries commands out until there are no more.
func (l *ledger) run() {
	defer close(l.done)
	defer func() { l.failed = errors.Join(l.statements.close(), l.conn.Close()) }()
	for first := range l.commands {
		commands := []command{first}
		for len(commands) < batchMax && len(l.commands) > 0 {
			c, ok := <-l.commands
			if !ok {
				break
			}
			commands = append(commands, c)
		}
		err := l.commit(commands)
		if err == nil || len(commands) == 1 {
			for _, c := range commands {
				c.done <- err
			}
			continue
		}
		for _, c := range commands { // one of them is at fault, the others are not
			c.done <- l.commit([]command{c})
		}
	}
}

func (l *ledger) commit(commands []command) error {
	ctx := context.Background()
	if _, err := l.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := l.fill(ctx, commands)
	if err == nil {
		_, err = l.conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, rollback := l.conn.ExecContext(ctx, "ROLLBACK")
		return errors.Join(err, rollback)
	}
	return nil
}

func (l *ledger) fill(ctx context.Context, commands []command) error {
	b := &batch{ledger: l, ctx: ctx, nets: make(map[account]*movement)}
	for _, c := range commands {
		if err := c.do(b); err != nil {
			return err
		}
	}
	return b.writeBalances()
}

func milliseconds(t time.Time) int64 { return t.UnixMilli() }
