package cli_test

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"remit/internal/proof/suite"
)

// circleMax is how many files of a package may need one another, by package. ADR 31 names the knots
// that are left.
var circleMax = map[string]int{
	"remit/config":                 12,
	"remit/config/eval":            4,
	"remit/config/functions":       15,
	"remit/config/meter":           1,
	"remit/config/mistake":         1,
	"remit/config/rows":            9,
	"remit/config/syntax":          2,
	"remit/executor":               11,
	"remit/internal/cli":           14,
	"remit/internal/cli/workspace": 4,
	"remit/internal/lsp":           1,
}

// methodsMax is how many methods a type may have.
const methodsMax = 30

// TestFilesAreNoKnot holds the graph of which file of a package names which other one: a stranger
// reads the files of a circle together or not at all.
func TestFilesAreNoKnot(t *testing.T) {
	suite.Slow(t)
	paths := make([]string, 0, len(circleMax))
	for path := range circleMax {
		paths = append(paths, path)
	}
	loaded, err := packages.Load(&packages.Config{
		Dir:  filepath.Join("..", ".."),
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
	}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatalf("%s: %v", p.PkgPath, p.Errors)
		}
		if circle := largestCircle(namedFiles(p)); len(circle) > circleMax[p.PkgPath] {
			t.Errorf("%s: %d files need one another, and at most %d may: %s", p.PkgPath, len(circle), circleMax[p.PkgPath], strings.Join(circle, " "))
		}
		for _, name := range p.Types.Scope().Names() {
			object, isType := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !isType {
				continue
			}
			declared, isNamed := object.Type().(*types.Named)
			if isNamed && declared.NumMethods() > methodsMax {
				t.Errorf("%s.%s has %d methods, and a type may have %d", p.PkgPath, name, declared.NumMethods(), methodsMax)
			}
		}
	}
}

// namedFiles are the other files of the package that each of its files names: by a function, a
// method, a field, a type, a constant or a variable of the package.
func namedFiles(p *packages.Package) map[string][]string {
	named := map[string][]string{}
	for _, file := range p.Syntax {
		from := p.Fset.Position(file.Pos()).Filename
		named[from] = nil
		ast.Inspect(file, func(n ast.Node) bool {
			name, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			object := p.TypesInfo.Uses[name]
			if object == nil || object.Pkg() != p.Types {
				return true
			}
			_, isMethod := object.(*types.Func)
			field, isVar := object.(*types.Var)
			if object.Parent() != p.Types.Scope() && !isMethod && (!isVar || !field.IsField()) {
				return true // a local name
			}
			if to := p.Fset.Position(object.Pos()).Filename; to != from && !slices.Contains(named[from], to) {
				named[from] = append(named[from], to)
			}
			return true
		})
	}
	return named
}

// largestCircle is the largest set of files of which each reaches each other one.
func largestCircle(named map[string][]string) []string {
	reached := make(map[string]map[string]bool, len(named))
	for from := range named {
		reached[from] = map[string]bool{}
		var visit func(file string)
		visit = func(file string) {
			for _, to := range named[file] {
				if !reached[from][to] {
					reached[from][to] = true
					visit(to)
				}
			}
		}
		visit(from)
	}
	var largest []string
	for from := range named {
		circle := []string{filepath.Base(from)}
		for to := range named {
			if to != from && reached[from][to] && reached[to][from] {
				circle = append(circle, filepath.Base(to))
			}
		}
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	slices.Sort(largest)
	return largest
}
