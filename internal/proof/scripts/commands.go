//go:build unix

package scripts

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // for the sql command
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"remit/internal/proof/machine"
	"remit/internal/proof/suite"
)

// command is what a script has beside the commands of package testscript.
type command = func(ts *testscript.TestScript, neg bool, args []string)

// commands are those of all scripts.
func commands() map[string]command {
	return map[string]command{
		"sql":         exactly(2, "sql FILE STATEMENT", runSQL),
		"encode":      exactly(3, "encode ENCODING FROM TO", encode),
		"clock":       exactly(1, "clock TIME", setClocks),
		"wrong-clock": exactly(1, "wrong-clock OFFSET", setWrongClock),
		"boot":        exactly(1, "boot NAME", boot),
		"env-from":    exactly(1, "env-from NAME", setFromOutput),
		"workbook":    makeWorkbook,
		"bank":        runBank,
		"fields":      runFields,
		"page":        runPage,
		"workflow":    runWorkflow,
		"gitlab":      runGitLab,
		"postgres":    some("postgres start|stop|run|sql|end …", postgresCommand),
		"demand": some("demand keys|certificate|signature|signatures …", func(ts *testscript.TestScript, args []string) {
			ts.Value(serviceKey{}).(*fakeService).demand(ts, args)
		}),
		"service": some("service start|fault|deny|mute|undated|dated|hold|release|wait|requests|count|group|debits|export|secrets …", func(ts *testscript.TestScript, args []string) {
			ts.Value(serviceKey{}).(*fakeService).command(ts, args)
		}),
	}
}

// exactly is a command that takes n arguments, and cannot fail.
func exactly(n int, usage string, do func(*testscript.TestScript, []string)) command {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) != n {
			ts.Fatalf("usage: %s", usage)
		}
		do(ts, args)
	}
}

// some is a command that takes arguments, and cannot fail.
func some(usage string, do func(*testscript.TestScript, []string)) command {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) == 0 {
			ts.Fatalf("usage: %s", usage)
		}
		do(ts, args)
	}
}

// runSQL is what someone with access to a state's file could do to it.
func runSQL(ts *testscript.TestScript, args []string) {
	db, err := sql.Open("sqlite3", ts.MkAbs(args[0]))
	ts.Check(err)
	_, err = db.Exec(args[1])
	ts.Check(errors.Join(err, db.Close()))
}

// encode writes a file of UTF-8 in another encoding.
func encode(ts *testscript.TestScript, args []string) {
	encodings := map[string]encoding.Encoding{
		"utf-16":       unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
		"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		"utf-8-mark":   unicode.UTF8BOM,
		"windows-1252": charmap.Windows1252,
	}
	to, isKnown := encodings[args[0]]
	if !isKnown {
		ts.Fatalf("unknown: encode %s", args[0])
	}
	text, err := to.NewEncoder().String(ts.ReadFile(args[1]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o644))
}

// setClocks sets the clocks of remit and of the service, which go on from there.
func setClocks(ts *testscript.TestScript, args []string) {
	at, err := time.Parse(time.RFC3339, args[0])
	ts.Check(err)
	clock := machine.NewClock(at, suite.ScriptSpeed())
	ts.Value(serviceKey{}).(*fakeService).clock.Store(&clock)
	ts.Setenv(machine.ClockVariable, clock.String())
}

// setWrongClock sets the clock of remit's machine alone, so far from the right time.
func setWrongClock(ts *testscript.TestScript, args []string) {
	_, err := time.ParseDuration(args[0])
	ts.Check(err)
	ts.Setenv(machine.WrongVariable, args[0])
}

// boot boots remit's machine again; "none" is a machine that does not know its boot.
func boot(ts *testscript.TestScript, args []string) { ts.Setenv(machine.BootVariable, args[0]) }

// setFromOutput sets a variable of the script to the latest output.
func setFromOutput(ts *testscript.TestScript, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
}
