//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
)

// tables are those of a state.
func tables() []string { return []string{"meta", "events", "jumps", "transfers", "runs"} }

// Dump returns all that the tables of a schema hold at one moment, by table.
func (s *Server) Dump(ctx context.Context, schema string) (parts map[string][]byte, err error) {
	parts = make(map[string][]byte)
	err = s.within(ctx, schema, func(conn *pgx.Conn) error {
		for _, table := range tables() {
			var b bytes.Buffer
			if _, err := conn.PgConn().CopyTo(ctx, &b, fmt.Sprintf("COPY %s TO STDOUT (FORMAT binary)", table)); err != nil {
				return err
			}
			parts[table] = b.Bytes()
		}
		return nil
	})
	return parts, err
}

// Load puts what [Server.Dump] returned in the place of all that the tables of a schema hold, as a restore of the server's
// files does: the rows are those that remit wrote.
func (s *Server) Load(ctx context.Context, schema string, parts map[string][]byte) error {
	return s.within(ctx, schema, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil { // which no trigger sees
			return err
		}
		for _, table := range tables() {
			if _, err := conn.Exec(ctx, "DELETE FROM "+table); err != nil {
				return err
			}
			if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(parts[table]), fmt.Sprintf("COPY %s FROM STDIN (FORMAT binary)", table)); err != nil {
				return err
			}
		}
		_, err := conn.Exec(ctx, "UPDATE meta SET written = (SELECT xmin::text::bigint FROM events ORDER BY seq DESC LIMIT 1)")
		return err
	})
}

// Restore executes a dump as pg_dump --inserts writes one, which names its schema itself.
func (s *Server) Restore(ctx context.Context, dump string) (err error) {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	_, err = conn.PgConn().Exec(ctx, dump).ReadAll()
	return err
}

// Backup is what pg_dump writes of a schema, with further options of it.
func (s *Server) Backup(schema string, options ...string) (dump []byte, err error) {
	var said bytes.Buffer
	cmd := s.command("pg_dump", append(options, "--dbname="+s.URL(), "--schema="+schema)...)
	cmd.Stderr = &said
	if dump, err = cmd.Output(); err != nil {
		return nil, fmt.Errorf("pg_dump: %w: %s", err, &said)
	}
	return dump, nil
}

// Recover drops a schema and has psql restore it from a dump.
func (s *Server) Recover(schema string, dump []byte) error {
	return s.psql(fmt.Sprintf("SET client_min_messages = error; DROP SCHEMA %s CASCADE;\n", pgx.Identifier{schema}.Sanitize()), dump)
}

// Refill empties tables of a schema, all where none is given, and has psql load the rows of a dump of data, as a superuser can.
func (s *Server) Refill(schema string, dump []byte, only ...string) error {
	return s.psql(fmt.Sprintf(`SET client_min_messages = error; SET session_replication_role = replica;
		DO $$
		DECLARE
			each record;
		BEGIN
			FOR each IN SELECT oid FROM pg_class
				WHERE relnamespace = '%s'::regnamespace AND relkind = 'r' AND ('%[2]s' = '' OR relname = ANY (string_to_array('%[2]s', ' ')))
			LOOP
				EXECUTE 'TRUNCATE ' || each.oid::regclass || ' CASCADE';
			END LOOP;
		END $$;
		`, schema, strings.Join(only, " ")), dump)
}

// psql has psql execute a statement, and a dump after it.
func (s *Server) psql(first string, dump []byte) error {
	cmd := s.command("psql", "--dbname="+s.URL(), "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1")
	cmd.Stdin = io.MultiReader(strings.NewReader(first), bytes.NewReader(dump))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("psql: %w: %s", err, out)
	}
	return nil
}

// within runs do in a transaction of the superuser.
func (s *Server) within(ctx context.Context, schema string, do func(*pgx.Conn) error) (err error) {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SET LOCAL search_path TO "+pgx.Identifier{schema}.Sanitize()); err != nil {
			return err
		}
		return do(conn)
	})
}
