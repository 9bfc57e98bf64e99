package postgres_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"remit/state"
	"remit/state/postgres"
)

// TestWhichServersAreAway has a run wait for a server that may answer later, and not for one whose answer stays.
func TestWhichServersAreAway(t *testing.T) {
	said := func(code string) error {
		return fmt.Errorf("write: %w", &pgconn.PgError{Severity: "ERROR", Code: code})
	}
	for name, tt := range map[string]struct {
		err  error
		away bool
	}{
		"a full disk":                         {said("53100"), true},
		"it follows another one by now":       {said("25006"), true},
		"its operator stops it":               {said("57P01"), true},
		"a password that was rotated":         {said("28P01"), true},
		"a statement that is wrong":           {said("42601"), false},
		"a row that the table refuses":        {said("23514"), false},
		"an error of its own in a statement":  {said("XX000"), false},
		"the connection ended":                {fmt.Errorf("read: %w", io.ErrUnexpectedEOF), true},
		"another run has the lock since then": {errors.Join(state.ErrFenced, io.EOF), false},
		// As "could not write init file", where its disk is full. Another server, or this one with room, lets remit in.
		"an error of its own while it lets remit in": {notLetIn(t, "XX000"), true},
		"no such database":                           {notLetIn(t, "3D000"), false},
		"a damaged page while it lets remit in":      {errors.Join(state.ErrDamaged, notLetIn(t, "XX001")), false},
	} {
		if got := postgres.IsAway(tt.err); got != tt.away {
			t.Errorf("%s: %t\n%v", name, got, tt.err)
		}
	}
}

// TestStatementsOfAnotherSessionAreAPoolers has a session lack what it prepared, and have what it did not: a busy pooler shows so
// after two connections seemed to have sessions of their own.
func TestStatementsOfAnotherSessionAreAPoolers(t *testing.T) {
	for code, isPooler := range map[string]bool{"26000": true, "42P05": true, "42P01": false} {
		err := postgres.Explain(fmt.Errorf("look: %w", &pgconn.PgError{Code: code}))
		if got := strings.Contains(err.Error(), "connection pooler"); got != isPooler {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// notLetIn is the error of a client that a server does not let in, for a reason with this code.
func notLetIn(t *testing.T, code string) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		server := pgproto3.NewBackend(c, c)
		if _, err := server.ReceiveStartupMessage(); err != nil {
			return
		}
		server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: "could not write init file"})
		_ = server.Flush()
	}()
	conn, err := pgx.Connect(t.Context(), "postgres://someone@"+l.Addr().String()+"/db?sslmode=disable")
	if err == nil {
		_ = conn.Close(t.Context())
		t.Fatal("it was let in")
	}
	return err
}
