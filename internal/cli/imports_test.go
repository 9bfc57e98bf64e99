package cli_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layer is the import rule of design section 11: a package may import only packages of a
// lower layer. Packages of one layer don't know each other, except where below names them.
var layer = map[string]int{
	"remit":              7,
	"remit/internal/cli": 6,

	"remit/internal/simulation":         7,
	"remit/internal/simulation/history": 6,

	"remit/state/postgres":        5,
	"remit/state/postgres/pgtest": 5,

	"remit/internal/release": 7,

	"remit/internal/suite": 0,
	"remit/internal/tests": 7,

	"remit/internal/bench":         7,
	"remit/internal/mutants":       7,
	"remit/internal/bench/figures": 0,
	"remit/internal/bench/load":    6,
	"remit/internal/bench/measure": 0,

	"remit/internal/certify":    5,
	"remit/internal/view":       5,
	"remit/internal/service":    5,
	"remit/internal/sandbox":    5,
	"remit/state/sqlite":        5,
	"remit/state/statetest":     5,
	"remit/internal/lockfile":   5,
	"remit/internal/books":      3,
	"remit/internal/evidence":   5,
	"remit/internal/metrics":    5,
	"remit/internal/telemetry":  0,
	"remit/state/storage":       4,
	"remit/internal/rehearsal":  4,
	"remit/internal/reconcile":  4,
	"remit/internal/report":     4,
	"remit/executor":            4,
	"remit/planner":             3,
	"remit/planner/plannertest": 4,
	"remit/config":              2,
	"remit/internal/doubt":      2,
	"remit/state":               1,
	"remit/internal/functions":  1,
	"remit/internal/sshkey":     2,
	"remit/internal/calendar":   1,
	"remit/internal/records":    1,
	"remit/internal/contract":   0,
	"remit/internal/zone":       0,
	"remit/internal/approval":   1,
	"remit/internal/boot":       0,
	"remit/internal/operator":   1,
	"remit/internal/transfer":   0,
	"remit/internal/shell":      0,
	"remit/internal/jws":        0,
	"remit/internal/redact":     0,
	"remit/internal/meter":      0,
	"remit/internal/confusable": 0,
	"remit/internal/wholefile":  0,
	"remit/internal/confined":   0,
	"remit/internal/gitfiles":   1,
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
			t.Errorf("%s: the import rule does not list package %s", path, importer)
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
				t.Errorf("%s: %s may not import %s", path, importer, imported)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for listed := range layer {
		if !seen[listed] {
			t.Errorf("the import rule lists %s, which does not exist", listed)
		}
	}
}
