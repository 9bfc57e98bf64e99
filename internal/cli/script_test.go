package cli_test

import (
	"archive/zip"
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // for the sql command
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"remit/internal/proof/machine"
	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// scripted is the remit of scripts, which is quicker to start than this test: it has less in it.
var scripted = suite.Program{Package: "remit/internal/proof/machine/remit"}

// TestMain stops the PostgreSQL that scripts share after the tests.
func TestMain(m *testing.M) {
	suite.InMemory()        // but for scripts, which are on a disk as people are
	suite.SideBySide(12)    // scripts mostly wait: for processes, a service, a disk
	debug.SetGCPercent(400) // many commands run in this process, each with garbage of its own
	defer scripted.Remove()
	defer pgtest.CloseShared()
	suite.StartHearing(syscall.SIGHUP, syscall.SIGINT)
	m.Run()
}

// TestScripts runs every promise to the user. The scripts use remit as a real process, and
// a service on loopback that they control with the service command.
func TestScripts(t *testing.T) { testscript.Run(t, scripts(t, "../../testdata/script")) }

// lawsOfMoney are the scripts of the quick set, -short: a change that breaks one pays twice, loses a
// payment, or shows another one than is sent.
var lawsOfMoney = []string{
	"apply-declared", "approval", "bound", "changed", "control-totals", "dead-ends", "doubt-age", "exit-tells-the-end", "first-use",
	"force-unlock", "forged-marks", "forged-plan", "interrupted-early", "interrupted-plan", "killed", "limits", "loop", "monthly-rent",
	"next-month", "not-made-wait", "outage", "plan-digest", "policies", "refused", "refused-doubt", "renames", "reversal",
	"same-ref-two-states", "saved-plan", "state-lost", "stopped-plan", "two-applies", "two-plans", "undeclared", "unverified", "windows",
}

// scripts are those of a directory, with the commands that all of them have.
func scripts(t *testing.T, dir string) testscript.Params {
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		t.Fatal("UPDATE_SCRIPTS has become a flag: go test ./internal/cli -run TestScripts/NAME -update, or .ci/update for all")
	}
	var files []string // all of the directory
	if testing.Short() && dir != "" {
		for _, name := range lawsOfMoney {
			files = append(files, filepath.Join(dir, name+".txtar"))
		}
		dir = ""
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(scripted.Build(t))
	return testscript.Params{
		WorkdirRoot:         scriptDir(t),
		Dir:                 dir,
		Files:               files,
		UpdateScripts:       suite.Update(),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("EXAMPLES", examples)
			env.Setenv("RECIPES", filepath.Join(examples, "..", "docs", "recipes"))
			env.Setenv("COMPAT", filepath.Join(examples, "..", "testdata", "compat"))
			env.Setenv("USER", "clerk")
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".tmp", "seen")) // what this machine has seen of states
			env.Setenv("HUNDREDS", strconv.Itoa(suite.Dose(1, 10, 100)))             // of transfers, where many are needed
			env.Values[serviceKey{}] = &fakeService{}
			env.Values[serverKey{}] = &database{}
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "postgres":
				return pgtest.Installed(), nil
			case "full":
				return suite.Dose(0, 0, 1) == 1, nil
			case "root":
				return os.Geteuid() == 0, nil
			case "strangers": // another user may come to what the scripts have, or the user is no administrator
				return os.Geteuid() != 0 || exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "ls", os.TempDir()).Run() == nil, nil
			case "mounts": // a process may have mounts of its own
				return exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// sql FILE STATEMENT is what someone with access to the file could do to it.
			"sql": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 2 {
					ts.Fatalf("usage: sql FILE STATEMENT")
				}
				db, err := sql.Open("sqlite3", ts.MkAbs(args[0]))
				ts.Check(err)
				_, err = db.Exec(args[1])
				ts.Check(errors.Join(err, db.Close()))
			},
			"encode": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 3 {
					ts.Fatalf("usage: encode ENCODING FROM TO")
				}
				encodings := map[string]encoding.Encoding{
					"utf-16":       unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
					"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
					"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
					"utf-8-mark":   unicode.UTF8BOM,
					"windows-1252": charmap.Windows1252,
				}
				text, err := encodings[args[0]].NewEncoder().String(ts.ReadFile(args[1]))
				ts.Check(err)
				ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(text), 0o644))
			},
			// clock TIME sets the clocks of remit and of the service, which go on from there.
			"clock": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: clock TIME")
				}
				at, err := time.Parse(time.RFC3339, args[0])
				ts.Check(err)
				offset := time.Until(at)
				ts.Value(serviceKey{}).(*fakeService).offset.Store(int64(offset))
				ts.Setenv(machine.ClockVariable, offset.String())
			},
			"bank":   runBank,
			"fields": runFields,
			// wrong-clock OFFSET sets the clock of remit's machine alone, so far from the right time.
			"wrong-clock": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: wrong-clock OFFSET")
				}
				_, err := time.ParseDuration(args[0])
				ts.Check(err)
				ts.Setenv(machine.WrongVariable, args[0])
			},
			// boot NAME boots remit's machine again; "none" is a machine that does not know its boot.
			"boot": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) != 1 {
					ts.Fatalf("usage: boot NAME")
				}
				ts.Setenv(machine.BootVariable, args[0])
			},
			"page":     runPage,
			"workflow": runWorkflow,
			"gitlab":   runGitLab,
			// env-from NAME sets a variable of the script to the latest output.
			"env-from": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
			},
			"postgres": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) == 0 {
					ts.Fatalf("usage: postgres start|stop|run|sql|end …")
				}
				postgresCommand(ts, args)
			},
			"workbook": makeWorkbook,
			"demand": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) == 0 {
					ts.Fatalf("usage: demand keys|certificate|signature|signatures …")
				}
				ts.Value(serviceKey{}).(*fakeService).demand(ts, args)
			},
			"service": func(ts *testscript.TestScript, neg bool, args []string) {
				if neg || len(args) == 0 {
					ts.Fatalf("usage: service start|fault|deny|mute|undated|dated|hold|release|wait|requests|count|group|debits|export|secrets …")
				}
				ts.Value(serviceKey{}).(*fakeService).command(ts, args)
			},
		},
	}
}

// scriptDir is where scripts have their directories. Messages break by how long its name is, which is as where
// TMPDIR is not set.
func scriptDir(t *testing.T) string {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "go-test-script")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				_ = os.Chmod(path, 0o700) // a script may have taken it from itself
			}
			return nil
		})
		_ = os.RemoveAll(root)
	})
	return root
}

// makeWorkbook is the script command
//
//	workbook FROM TO
//
// that makes an .xlsx file of lines: "sheet NAME", "CELL text", "CELL = number", "CELL = number
// as FORMAT", "CELL formula EXPRESSION" (without a result), "merge A1:B2", "hide ROW", "hide
// COLUMN", "above A1:B2 NUMBER as FORMAT" (a conditional format), "styles NAME" (the part of the formats has that
// name, and for "" nothing leads to it).
func makeWorkbook(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: workbook FROM TO")
	}
	file, name, styles := excelize.NewFile(), "Sheet1", "styles.xml"
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		word, value, _ := strings.Cut(rest, " ")
		var err error
		switch {
		case first == "sheet" && name == "Sheet1":
			name = rest
			err = file.SetSheetName("Sheet1", name)
		case first == "sheet":
			name = rest
			_, err = file.NewSheet(name)
		case first == "merge":
			from, to, _ := strings.Cut(rest, ":")
			err = file.MergeCell(name, from, to)
		case first == "styles":
			styles = strings.Trim(rest, `"`)
		case first == "above":
			cells, condition, _ := strings.Cut(rest, " ")
			number, format, _ := strings.Cut(condition, " as ")
			style, wrong := file.NewConditionalStyle(&excelize.Style{CustomNumFmt: &format})
			err = errors.Join(wrong, file.SetConditionalFormat(name, cells,
				[]excelize.ConditionalFormatOptions{{Type: "cell", Criteria: ">", Value: number, Format: &style}}))
		case first == "hide" && rest >= "A":
			err = file.SetColVisible(name, rest, false)
		case first == "hide":
			row, wrong := strconv.Atoi(rest)
			err = errors.Join(wrong, file.SetRowVisible(name, row, false))
		case word == "formula":
			err = file.SetCellFormula(name, first, value)
		case word == "=":
			number, format, isFormatted := strings.Cut(value, " as ")
			err = file.SetCellDefault(name, first, number)
			if isFormatted {
				style, wrong := file.NewStyle(&excelize.Style{CustomNumFmt: &format})
				err = errors.Join(err, wrong, file.SetCellStyle(name, first, first, style))
			}
		case first != "":
			err = file.SetCellStr(name, first, rest)
		}
		ts.Check(err)
	}
	var whole bytes.Buffer
	ts.Check(file.Write(&whole))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), withStyles(ts, whole.Bytes(), styles), 0o600))
}

// withStyles is a workbook whose part of the formats has a name; nothing leads to it for "".
func withStyles(ts *testscript.TestScript, workbook []byte, name string) []byte {
	archive, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	ts.Check(err)
	var whole bytes.Buffer
	w := zip.NewWriter(&whole)
	relation := regexp.MustCompile(`<Relationship [^>]*Target="(?:/xl/)?styles.xml"[^>]*>(?:</Relationship>)?`)
	for _, part := range archive.File {
		from, err := part.Open()
		ts.Check(err)
		content, err := io.ReadAll(from)
		ts.Check(err)
		partName := part.Name
		switch {
		case name != "" && partName == "xl/styles.xml":
			partName = "xl/" + name
		case name != "" && (partName == "[Content_Types].xml" || partName == "xl/_rels/workbook.xml.rels"):
			content = bytes.ReplaceAll(content, []byte("styles.xml"), []byte(name))
		case partName == "xl/_rels/workbook.xml.rels":
			content = relation.ReplaceAll(content, nil)
		}
		to, err := w.Create(partName)
		ts.Check(err)
		_, err = to.Write(content)
		ts.Check(err)
	}
	ts.Check(w.Close())
	return whole.Bytes()
}

type serviceKey struct{}
