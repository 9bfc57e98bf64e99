package cli_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// programs are all places of the product that start a program, with the reason. A new one has a
// line here that says who chooses the program: never a file of the configuration's directory.
var programs = map[string]string{
	"remit/internal/cli/host Command":                "--notify-command and REMIT_SIGN_COMMAND: whoever starts remit names them",
	"remit/internal/cli/host start":                  "xdg-open or open of PATH, outside of the repository, where a person sits at a desktop and a terminal",
	"remit/internal/approval/sshkey signWithOpenSSH": "ssh-keygen of PATH, for the key that --key or --sign names: it alone can talk to a security key",
	"github.com/mattn/go-shellwords shellRun":        "what stands in backticks, where a parser is told to run it; splitWords tells none",
	"golang.org/x/sys/unix Exec":                     "a name for syscall.Exec; nothing calls it",
}

// TestProgramsThatAreStarted reads the source of remit and of all that it is linked of.
func TestProgramsThatAreStarted(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}\t{{.Dir}}{{range .GoFiles}}\t{{.}}{{end}}{{range .CgoFiles}}\t{{.}}{{end}}{{end}}", "remit").Output()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for _, name := range words[2:] {
			for _, start := range startsIn(t, filepath.Join(words[1], name)) {
				found[words[0]+" "+start.function] = true
				if !start.hasEnvironment && strings.HasPrefix(words[0], "remit") {
					t.Errorf("%s of %s starts a program with all of the environment, and so with remit's secrets: set Env", start.function, words[0])
				}
			}
		}
	}
	want := map[string]bool{}
	for place := range programs {
		want[place] = true
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("places that start a program (-listed +found):\n%s", diff)
	}
}

// start is a function that starts a program.
type start struct {
	function       string
	hasEnvironment bool // it sets the program's
}

// startsIn are the functions of a file that start a program.
func startsIn(t *testing.T, file string) []start {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // of imported packages, by the name that the file gives them
	for _, spec := range parsed.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	if names["."] == "os/exec" {
		t.Fatalf("%s imports os/exec without its name", file)
	}
	var starts []start
	for _, declared := range parsed.Decls {
		at := start{function: "(a variable)"}
		if function, ok := declared.(*ast.FuncDecl); ok {
			at.function = function.Name.Name
		}
		begins := false
		ast.Inspect(declared, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if of, ok := n.X.(*ast.Ident); ok {
					begins = begins || startsProgram(names[of.Name], n.Sel.Name)
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					selected, ok := to.(*ast.SelectorExpr)
					at.hasEnvironment = at.hasEnvironment || ok && selected.Sel.Name == "Env"
				}
			}
			return true
		})
		if begins {
			starts = append(starts, at)
		}
	}
	return starts
}

// startsProgram reports whether a function of the standard library, or one like it, starts a program.
func startsProgram(from, function string) bool {
	switch from {
	case "os/exec":
		return function == "Command" || function == "CommandContext" || function == "Cmd"
	case "os":
		return function == "StartProcess"
	case "syscall", "golang.org/x/sys/unix":
		return function == "Exec" || function == "ForkExec" || function == "StartProcess"
	case "plugin":
		return function == "Open"
	}
	return false
}

// A test of the test: each way to start a program is seen.
func TestStartsAreSeen(t *testing.T) {
	for name, body := range map[string]string{
		"Command":      `import "os/exec"; func f() { exec.Command("x").Run() }`,
		"another name": `import run "os/exec"; func f() { run.CommandContext(nil, "x").Run() }`,
		"a Cmd":        `import "os/exec"; func f() { (&exec.Cmd{Path: "x"}).Run() }`,
		"a process":    `import "os"; func f() { os.StartProcess("x", nil, nil) }`,
		"the process":  `import "syscall"; func f() { syscall.Exec("x", nil, nil) }`,
		"a variable":   `import "os/exec"; var f = exec.Command`,
	} {
		file := filepath.Join(t.TempDir(), "a.go")
		writeFile(t, file, fmt.Sprintf("package a\n%s\n", body))
		if got := startsIn(t, file); len(got) != 1 || got[0].hasEnvironment {
			t.Errorf("%s: %v", name, got)
		}
	}
}
