package cli_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var shapeRoot = flag.String("shape.root", filepath.Join("..", ".."), "the `directory` of the code that TestCodeKeepsItsShape and TestComments… read")

// The bounds of the shape of the production code. Tests are left out.
const (
	functionMedianMax = 11 // lines, from func to its last brace
	functionTenthMax  = 28 // lines of the shortest one of the longest tenth
	functionLong      = 70
	functionsLongMax  = 2 // of 10,000 functions
	fileLong          = 500
)

// TestCodeKeepsItsShape measures functions and files, and finds exported names that nothing documents.
// With -v it prints the figures; with -shape.root=DIR those of another checkout.
func TestCodeKeepsItsShape(t *testing.T) {
	var lengths []int
	long, names, bare := 0, 0, 0
	sources := productionFiles(t)
	for _, s := range sources {
		if lines := s.line(s.file.FileEnd); lines > fileLong {
			t.Errorf("%s has %d lines, more than %d: give each of its subjects a file", s.path, lines, fileLong)
		}
		for _, decl := range s.file.Decls {
			function, isFunction := decl.(*ast.FuncDecl)
			if !isFunction {
				continue
			}
			lines := s.line(function.End()) - s.line(function.Pos()) + 1
			lengths = append(lengths, lines)
			if lines > functionLong {
				long++
				t.Logf("%s:%d: %s has %d lines", s.path, s.line(function.Pos()), function.Name.Name, lines)
			}
		}
		for _, d := range s.declared() {
			if !ast.IsExported(d.name) || d.isHidden {
				continue
			}
			names++
			if d.doc == nil {
				bare++
				t.Errorf("%s:%d: %s is exported and has no doc comment", s.path, d.line, d.name)
			}
		}
	}
	slices.Sort(lengths)
	median, tenth := lengths[len(lengths)/2], lengths[len(lengths)*9/10]
	if median > functionMedianMax || tenth > functionTenthMax || long*10_000 > functionsLongMax*len(lengths) {
		t.Errorf("functions: median %d lines (at most %d), p90 %d (at most %d), %d over %d lines", median, functionMedianMax, tenth, functionTenthMax, long, functionLong)
	}
	t.Logf("%d files, %d functions: median %d lines, p90 %d, %d (%.2f %%) over %d lines; %d of %d exported names without a doc comment",
		len(sources), len(lengths), median, tenth, long, 100*float64(long)/float64(len(lengths)), functionLong, bare, names)
}

// TestCommentsBeginWithTheirNames holds each doc comment to the name that it documents, so that a rename in
// code alone is seen.
func TestCommentsBeginWithTheirNames(t *testing.T) {
	for _, s := range productionFiles(t) {
		for _, d := range s.declared() {
			if d.doc == nil || d.doc.Text() == "" || d.inGroup {
				continue
			}
			if first, _, _ := strings.Cut(strings.Join(strings.Fields(d.doc.Text()), " "), " "); strings.TrimRight(first, ",.:'s") != strings.TrimRight(d.name, "s") {
				t.Errorf("%s:%d: the doc comment of %s begins with %q", s.path, d.line, d.name, first)
			}
		}
	}
}

// TestCommentsNameWhatExists looks up words of comments that look like names of code: [Linked] ones, and those with a
// capital inside, such as readPlan.
func TestCommentsNameWhatExists(t *testing.T) {
	link := regexp.MustCompile(`\[\*?([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\]`)
	camel := regexp.MustCompile(`\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b`)
	known := make(map[string]bool)
	for _, s := range goFiles(t) {
		known[s.file.Name.Name] = true
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				known[n.Name] = true
			case *ast.BasicLit: // names of another format, such as pain.001's
				for _, word := range camel.FindAllString(n.Value, -1) {
					known[word] = true
				}
			}
			return true
		})
	}
	for _, word := range othersNames {
		known[word] = true
	}
	for _, s := range productionFiles(t) {
		for _, group := range s.file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			names := camel.FindAllString(text, -1)
			for _, match := range link.FindAllStringSubmatch(text, -1) {
				names = append(names, strings.Split(match[1], ".")...)
			}
			for _, name := range names {
				if !known[name] {
					t.Errorf("%s:%d: a comment names %s, which no code has", s.path, s.line(group.Pos()), name)
				}
			}
		}
	}
}

// TestCommentsCiteWhatExists looks up the documents and the decisions that comments cite, such as docs/states.md and ADR 5: a
// maintainer has nothing but this repository.
func TestCommentsCiteWhatExists(t *testing.T) {
	document, decision := regexp.MustCompile(`\bdocs/[\w/.-]*\w`), regexp.MustCompile(`\bADR (\d+)`)
	elsewhere := regexp.MustCompile(`(?i)\bdesign (section|page|\.md)|\bsections? [\d. and]+ of the (design|service)`)
	for _, s := range goFiles(t) {
		for _, group := range s.file.Comments {
			text, line := strings.Join(strings.Fields(group.Text()), " "), s.line(group.Pos())
			cited := document.FindAllString(text, -1)
			for _, match := range decision.FindAllStringSubmatch(text, -1) {
				number, _ := strconv.Atoi(match[1])
				cited = append(cited, fmt.Sprintf("docs/adr/%04d-*.md", number))
			}
			for _, name := range cited {
				if found, err := filepath.Glob(filepath.Join(*shapeRoot, name)); err != nil || len(found) == 0 {
					t.Errorf("%s:%d: a comment cites %s, which is not here: %v", s.path, line, name, err)
				}
			}
			for _, name := range elsewhere.FindAllString(text, -1) {
				t.Errorf("%s:%d: a comment cites a %q, which is not in this repository", s.path, line, name)
			}
		}
	}
}

// othersNames are names of other programs and documents in comments.
var othersNames = []string{
	"TestMain", "WebAuthn", "clientDataJSON", "getPublicKey", "PublicKeyCredential", "SubjectPublicKeyInfo",
	"CommonMark", "CreateTransfer", "CronJobs", "DerivedCoreProperties", "ExternalPaymentTransactionStatus1Code", "GetBody", "GiB", "GitHub", "GitLab", "LibreOffice",
	"MarkFlagsMutuallyExclusive", "MarkFlagsRequiredTogether", "MaximumNArgs", "MinimumNArgs", "MurmurHash3", "NaN", "OpenAPI", "OpenTelemetry",
	"OpenTofu", "RoundTripper", "TeamCity", "ZoneBounds", "macOS", "relativeWorktrees",
	"SET", "SS", "department", // parts of examples
}

// source is a Go file of the production code.
type source struct {
	path string
	fset *token.FileSet
	file *ast.File
}

func (s source) line(at token.Pos) int { return s.fset.Position(at).Line }

// declaration is a name at the top of a file.
type declaration struct {
	name     string
	line     int
	doc      *ast.CommentGroup // of its own, or else of its group; nil for none
	inGroup  bool              // it is one of several names in parentheses, or its comment is beside it
	isHidden bool              // a method of a type that is not exported
}

func (s source) declared() []declaration {
	var all []declaration
	for _, decl := range s.file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			isHidden := decl.Recv != nil && !ast.IsExported(receiverName(decl.Recv.List[0].Type))
			all = append(all, declaration{decl.Name.Name, s.line(decl.Pos()), decl.Doc, false, isHidden})
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				all = append(all, s.declaredBy(decl, spec)...)
			}
		}
	}
	return all
}

func (s source) declaredBy(decl *ast.GenDecl, spec ast.Spec) []declaration {
	var names []*ast.Ident
	var doc, beside *ast.CommentGroup
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		names, doc = []*ast.Ident{spec.Name}, spec.Doc
	case *ast.ValueSpec:
		names, doc, beside = spec.Names, spec.Doc, spec.Comment
	}
	inGroup := decl.Lparen.IsValid() || len(names) > 1
	if doc == nil {
		doc = decl.Doc
	}
	if doc == nil {
		doc, inGroup = beside, true
	}
	var all []declaration
	for _, name := range names {
		all = append(all, declaration{name.Name, s.line(name.Pos()), doc, inGroup, false})
	}
	return all
}

// receiverName is the name of the type that a method has.
func receiverName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiverName(expr.X)
	case *ast.IndexExpr:
		return receiverName(expr.X)
	case *ast.IndexListExpr:
		return receiverName(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}

// productionFiles are the Go files that are no tests.
func productionFiles(t *testing.T) []source {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(goFiles(t)), func(s source) bool { return strings.HasSuffix(s.path, "_test.go") })
}

// goFiles are all Go files. The tests that read them have the same ones, and change none.
func goFiles(t *testing.T) []source {
	t.Helper()
	sources, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return sources
}

var parsed = sync.OnceValues(func() (sources []source, err error) {
	err = filepath.WalkDir(*shapeRoot, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			sources = append(sources, source{path, fset, file})
		}
		return err
	})
	return sources, err
})
