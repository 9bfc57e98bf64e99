//go:build unix

package scripts

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"remit/state/postgres/pgtest"
)

type serverKey struct{}

// database is a schema of a real PostgreSQL server, for one script.
type database struct {
	server *pgtest.Server
	schema string
	kept   map[string][]byte // what the tables had once, by table
}

// postgresCommand is the script command:
//
//	postgres start [alone]   a schema for this script, on the server that scripts share or on
//	                         one of its own; sets the variables that state.hcl uses
//	postgres stop            stop the script's own server in the middle of all it does
//	postgres run             run it again
//	postgres sql STATEMENT   what an administrator could do; prints the first value
//	postgres wait STATEMENT  wait until the first value is true
//	postgres load FILE NAME  load a dump in which the schema is called NAME
//	postgres dump FILE […]   write what pg_dump says of the schema, with further options of it
//	postgres restore FILE    drop the schema, and have psql restore it from such a dump
//	postgres refill FILE […] empty the tables, all or the given ones, and have psql load a dump of their rows
//	postgres keep            keep what the tables have
//	postgres rewind          have them say that again, as a restore of the server's files does
//	postgres end CONDITION   end the sessions of remit for which it holds in pg_stat_activity
//
// A script that uses it begins with
//
//	[!postgres] skip 'PostgreSQL is not installed here (Debian: apt-get install postgresql)'
func postgresCommand(ts *testscript.TestScript, args []string) {
	if args[0] == "start" {
		startPostgres(ts, args[1:])
		return
	}
	db := ts.Value(serverKey{}).(*database)
	switch verb, rest := args[0], args[1:]; verb {
	case "stop":
		db.server.Stop()
	case "run":
		ts.Check(db.server.Run())
	case "sql":
		text, err := db.server.TryExec(context.Background(), db.schema, rest[0])
		ts.Check(err)
		_, err = fmt.Fprintln(ts.Stdout(), text)
		ts.Check(err)
	case "wait":
		db.wait(ts, rest[0])
	case "load":
		text := strings.ReplaceAll(ts.ReadFile(rest[0]), rest[1], db.schema)
		ts.Check(db.server.Restore(context.Background(), text))
	case "dump":
		dump, err := db.server.Backup(db.schema, rest[1:]...)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(rest[0]), dump, 0o600))
	case "restore":
		ts.Check(db.server.Recover(db.schema, []byte(ts.ReadFile(rest[0]))))
	case "refill":
		ts.Check(db.server.Refill(db.schema, []byte(ts.ReadFile(rest[0])), rest[1:]...))
	case "keep":
		var err error
		db.kept, err = db.server.Dump(context.Background(), db.schema)
		ts.Check(err)
	case "rewind":
		ts.Check(db.server.Load(context.Background(), db.schema, db.kept))
	case "end":
		_, err := db.server.TryExec(context.Background(), db.schema,
			`SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'remit' AND `+rest[0])
		ts.Check(err)
	default:
		ts.Fatalf("unknown: postgres %s", verb)
	}
}

// wait returns once what a statement asks for is so.
func (db *database) wait(ts *testscript.TestScript, statement string) {
	const patience = 5 * time.Minute // longer than any machine is busy
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		text, err := db.server.TryExec(context.Background(), db.schema, statement)
		ts.Check(err)
		if text == "true" {
			return
		}
	}
	ts.Fatalf("it did not become so: %s", statement)
}

func startPostgres(ts *testscript.TestScript, args []string) {
	start := pgtest.OfProgram
	if len(args) > 0 {
		start = pgtest.New
	}
	server, err := start()
	ts.Check(err)
	if len(args) > 0 {
		ts.Defer(server.Close)
	}
	db := ts.Value(serverKey{}).(*database)
	db.server, db.schema = server, server.Schema()
	ts.Setenv("REMIT_VAR_database_url", server.URL())
	ts.Setenv("REMIT_VAR_schema", db.schema)
	ts.Setenv("SCHEMA", db.schema)
	ts.Setenv("ADDRESS", server.Address())
	_, port, _ := strings.Cut(server.Address(), ":")
	ts.Setenv("PORT", port)
	ts.Setenv("PASSWORD", pgtest.Password)
}
