package cli_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layer is the import rule (docs/architecture.md): a package may import only packages of a
// lower layer. Packages of one layer don't know each other, except where below names them.
var layer = map[string]int{
	"remit":                        10,
	"remit/internal/cli":           9,
	"remit/internal/cli/workspace": 8,
	"remit/internal/cli/terminal":  7,
	"remit/internal/cli/host":      6,
	"remit/internal/cli/exit":      0,

	"remit/internal/proof/simulation":         8,
	"remit/internal/proof/simulation/history": 7,

	"remit/state/postgres":        6,
	"remit/state/postgres/pgtest": 6,

	"remit/internal/release": 10,

	"remit/internal/proof/suite":         0,
	"remit/internal/proof/machine":       10,
	"remit/internal/proof/machine/remit": 11,
	"remit/internal/proof/scripts":       11,
	"remit/internal/proof/schema":        0,
	"remit/internal/proof/tests":         8,

	"remit/internal/bench":         10,
	"remit/internal/proof/mutants": 8,

	"remit/internal/proof/screenshots": 8,
	"remit/internal/bench/figures":     0,
	"remit/internal/bench/load":        7,
	"remit/internal/bench/measure":     0,

	"remit/docs/language":               0,
	"remit/internal/lsp":                7,
	"remit/internal/service/certify":    6,
	"remit/internal/view":               6,
	"remit/internal/service":            6,
	"remit/internal/sandbox":            6,
	"remit/state/sqlite":                6,
	"remit/state/statetest":             6,
	"remit/internal/files/lockfile":     6,
	"remit/internal/accounts/books":     4,
	"remit/internal/evidence":           6,
	"remit/internal/monitor/metrics":    6,
	"remit/internal/monitor/telemetry":  0,
	"remit/state/storage":               5,
	"remit/internal/rehearsal":          5,
	"remit/internal/tree":               5,
	"remit/internal/accounts/reconcile": 5,
	"remit/internal/accounts/report":    5,
	"remit/executor":                    5,
	"remit/executor/ratelimit":          2,
	"remit/planner":                     4,
	"remit/planner/plannertest":         5,
	"remit/config":                      3,
	"remit/config/eval":                 2,
	"remit/internal/doubt":              2,
	"remit/state":                       1,
	"remit/config/functions":            1,
	"remit/internal/approval/ask":       0,
	"remit/internal/approval/sshkey":    2,
	"remit/internal/clock/calendar":     1,
	"remit/internal/accounts/records":   1,
	"remit/internal/service/contract":   0,
	"remit/internal/clock/zone":         0,
	"remit/internal/approval":           1,
	"remit/internal/clock/boot":         0,
	"remit/internal/service/operator":   1,
	"remit/internal/transfer":           0,
	"remit/internal/text/shell":         0,
	"remit/internal/service/jws":        0,
	"remit/internal/text/terraform":     0,
	"remit/internal/text/jsontext":      -1,
	"remit/internal/text/arena":         -1,
	"remit/internal/text/english":       -1,
	"remit/internal/text/lazyregexp":    -2,
	"remit/internal/text/redact":        0,
	"remit/config/meter":                0,
	"remit/config/mistake":              0,
	"remit/config/rows":                 1,
	"remit/config/syntax":               1,
	"remit/internal/text/confusable":    0,
	"remit/internal/files/wholefile":    0,
	"remit/internal/files/filelock":     -1,
	"remit/internal/files/address":      -1,
	"remit/internal/files/bankfile":     -1,
	"remit/internal/files/access":       0,
	"remit/internal/syserror":           -1,
	"remit/internal/files/confined":     0,
	"remit/internal/files/gitfiles":     1,
}

func TestImportsRunOneWay(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if path == filepath.Join(root, ".ci") {
			return filepath.SkipDir // tools of their own modules
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		relative, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		importer := strings.TrimSuffix("remit/"+filepath.ToSlash(relative), "/.")
		from, known := layer[importer]
		if !known {
			t.Errorf("%s: no layer has package %s: add its line to layer in internal/cli/imports_test.go, and its row to docs/architecture.md", path, importer)
			return nil
		}
		seen[importer] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if to, ours := layer[imported]; ours && to >= from {
				t.Errorf("%s: %s of layer %d may not import %s of layer %d: imports go to a lower layer. Move the shared part down, or take it as a parameter or an interface",
					path, importer, from, imported, to)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for listed := range layer {
		if !seen[listed] {
			t.Errorf("layer lists %s, which does not exist", listed)
		}
	}
}

// rooms says which packages may import a package that has an effect, or a package below it: the laws that state has the
// only SQL and internal/service the only outgoing HTTP, and that internal/cli has the only flags. The sandbox has a ledger
// and a server of its own, and telemetry sends traces. Below internal/bench and internal/proof nothing is part of remit.
var rooms = map[string][]string{
	"database/sql":                {"remit/state/sqlite", "remit/internal/sandbox"},
	"github.com/mattn/go-sqlite3": {"remit/state/sqlite", "remit/internal/sandbox"},
	"github.com/jackc/pgx/v5":     {"remit/state/postgres"},
	"net/http":                    {"remit/internal/service", "remit/internal/sandbox", "remit/internal/monitor/telemetry", "remit/internal/approval/ask"},
	"net/smtp":                    nil,
	"os/exec":                     {"remit/internal/cli", "remit/internal/cli/host", "remit/internal/approval/sshkey", "remit/internal/release"},
	"log":                         {"remit/internal/cli", "remit/internal/sandbox"}, // cli silences it: a run tells executor.Handler
	"math/rand":                   {"remit/internal/cli"},
	"crypto/rand":                 {"remit/internal/cli", "remit/internal/cli/workspace", "remit/internal/approval", "remit/internal/approval/ask", "remit/internal/service/jws"},
	"github.com/spf13/cobra":      {"remit/internal/cli"},
	"flag":                        {"remit/internal/cli"},
}

// roomOf is the entry of rooms that an imported package falls under, itself or as a package below it.
func roomOf(imported string) (room string, isEffect bool) {
	for room = imported; room != "."; room = path.Dir(room) {
		if _, isEffect = rooms[room]; isEffect {
			return room, true
		}
	}
	return "", false
}

// pure are packages whose result follows from their arguments: they open no file.
var pure = []string{
	"remit/planner", "remit/internal/transfer", "remit/internal/rehearsal", "remit/internal/doubt", "remit/internal/clock/calendar",
	"remit/internal/accounts/books", "remit/internal/accounts/report", "remit/config/meter", "remit/config/eval",
}

// impure are the imports that pure packages do without.
var impure = []string{"os", "io/fs", "net", "syscall"}

// ambient are functions that reach the world behind the back of a caller, and the packages that may name them: the clock, the
// environment, the streams, the network and the exit are parameters. The linter forbids some of them as well.
var ambient = map[string]map[string][]string{
	"time": {"Now": {"remit/internal/cli", "remit/internal/files/filelock"}, "Since": nil, "Until": nil}, // there for a name that nothing else has
	"fmt":  {"Print": nil, "Printf": nil, "Println": nil},
	"net":  {"Dial": nil, "DialTimeout": nil, "Dialer": {"remit/internal/service", "remit/internal/approval/sshkey"}, "Listen": {"remit/internal/sandbox"}},
	"os": {
		"Exit": {"remit", "remit/internal/release"}, "Stdin": {"remit"}, "Stdout": {"remit", "remit/internal/release", "remit/internal/cli/exit"}, "Stderr": {"remit", "remit/internal/release", "remit/internal/cli/exit"},
		"Args": {"remit", "remit/internal/release"}, "Getenv": {"remit/internal/release"}, "LookupEnv": {"remit"}, "Environ": {"remit"},
	},
}

func TestEffectsStayInTheirRooms(t *testing.T) {
	for _, s := range productionFiles(t) {
		relative, err := filepath.Rel(filepath.Join("..", ".."), filepath.Dir(s.path))
		if err != nil {
			t.Fatal(err)
		}
		importer := strings.TrimSuffix("remit/"+filepath.ToSlash(relative), "/.")
		if _, ours := layer[importer]; !ours || strings.HasPrefix(importer, "remit/internal/bench") ||
			strings.HasPrefix(importer, "remit/internal/proof") || strings.HasSuffix(importer, "test") {
			continue
		}
		names := map[string]string{} // of packages in this file
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if room, isEffect := roomOf(imported); isEffect && !slices.Contains(rooms[room], importer) {
				t.Errorf("%s imports %s, which %s may: ask that package for what you need, or take it as a parameter", s.path, imported, only(rooms[room]))
			}
			if slices.Contains(pure, importer) && slices.Contains(impure, imported) {
				t.Errorf("%s imports %s: %s is pure, so a caller reads the file, and passes what it has", s.path, imported, importer)
			}
			names[path.Base(imported)] = imported
			if spec.Name != nil {
				names[spec.Name.Name] = imported
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, isCall := n.(*ast.CallExpr); isCall {
				if name, isName := call.Fun.(*ast.Ident); isName && (name.Name == "print" || name.Name == "println") {
					t.Errorf("%s:%d calls %s: writers are parameters", s.path, s.line(n.Pos()), name.Name)
				}
			}
			selector, isSelector := n.(*ast.SelectorExpr)
			if !isSelector {
				return true
			}
			of, isName := selector.X.(*ast.Ident)
			if !isName {
				return true
			}
			if allowed, isAmbient := ambient[names[of.Name]][selector.Sel.Name]; isAmbient && !slices.Contains(allowed, importer) {
				t.Errorf("%s:%d uses %s.%s, which %s may: the clock, the environment, the streams and the network are parameters, which internal/cli has from main",
					s.path, s.line(n.Pos()), of.Name, selector.Sel.Name, only(allowed))
			}
			return true
		})
	}
}

// only names those who may do something, in a message.
func only(allowed []string) string {
	if len(allowed) == 0 {
		return "no package"
	}
	return "only " + strings.Join(allowed, ", ")
}

// TestPatterns compiles the patterns of lazyregexp, and keeps those of regexp out of variables of packages: a hundred of
// them were a third of the time that remit takes to start.
func TestPatterns(t *testing.T) {
	for _, s := range productionFiles(t) {
		if strings.Contains(filepath.ToSlash(s.path), "internal/proof/") {
			continue
		}
		for _, declared := range s.file.Decls {
			if variables, isVariables := declared.(*ast.GenDecl); isVariables {
				ast.Inspect(variables, func(n ast.Node) bool {
					if call, isCall := n.(*ast.CallExpr); isCall && types.ExprString(call.Fun) == "regexp.MustCompile" {
						t.Errorf("%s:%d compiles a pattern whenever a program starts: use lazyregexp.New", s.path, s.line(n.Pos()))
					}
					return true
				})
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, isCall := n.(*ast.CallExpr)
			if !isCall || !slices.Contains([]string{"lazyregexp.New", "replaced"}, types.ExprString(call.Fun)) {
				return true
			}
			pattern, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(call.Args[0]))
			if err != nil { // the parameter of replaced, whose calls are asked as well
				if types.ExprString(call.Args[0]) != "pattern" {
					t.Errorf("%s:%d has a pattern that this test can't read: %v", s.path, s.line(n.Pos()), err)
				}
				return true
			}
			if _, err := regexp.Compile(constant.StringVal(pattern.Value)); err != nil {
				t.Errorf("%s:%d: %v", s.path, s.line(n.Pos()), err)
			}
			return true
		})
	}
}

// TestTerminalCodesAreInView holds that internal/view alone formats for people: a text with terminal codes passes none of
// its checks of hidden characters.
func TestTerminalCodesAreInView(t *testing.T) {
	for _, s := range productionFiles(t) {
		relative := filepath.ToSlash(s.path)
		if strings.Contains(relative, "internal/view/") || strings.Contains(relative, "internal/proof/") || strings.Contains(relative, "internal/bench/") || strings.Contains(relative, "/.ci/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			literal, isLiteral := n.(*ast.BasicLit)
			if !isLiteral || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, "\x1b[") {
				t.Errorf("%s:%d writes terminal codes, which only internal/view may: add a function there", s.path, s.line(n.Pos()))
			}
			return true
		})
	}
}

func TestEveryPackageIsOnTheMap(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	for listed := range layer {
		name := strings.TrimPrefix(listed, "remit/")
		if listed != "remit" && !strings.Contains(string(page), "\n| `"+name+"` | ") {
			t.Errorf("docs/architecture.md has no row for %s", name)
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| .* \\| .*\\|$").FindAllStringSubmatch(string(page), -1) {
		if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(row[1]))); err != nil {
			t.Errorf("docs/architecture.md has a row for %s, which does not exist", row[1])
		}
	}
}
