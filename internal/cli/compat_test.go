package cli_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"remit/internal/proof/scripts"
)

var (
	freezeProgram = flag.String("freeze", "", "the program whose files TestFreeze keeps")
	freezeVersion = flag.String("freeze-version", "", "the name that testdata/compat has for them")
)

// TestFreeze keeps what a released program writes, for every later version to read. It runs
// testdata/compat/freeze.txtar with that program, and is skipped where none is given.
func TestFreeze(t *testing.T) {
	if *freezeProgram == "" || *freezeVersion == "" {
		return // nobody asked for it; testdata/compat/README.md says how to
	}
	into, err := filepath.Abs(filepath.Join("../../testdata/compat", *freezeVersion))
	if err != nil {
		t.Fatal(err)
	}
	params := scripts.Params(t)
	params.Files = []string{"../../testdata/compat/freeze.txtar"}
	setup := params.Setup
	params.Setup = func(env *testscript.Env) error {
		bin := filepath.Join(env.WorkDir, ".bin")
		err := errors.Join(os.Mkdir(bin, 0o700), os.Symlink(*freezeProgram, filepath.Join(bin, "remit")), setup(env))
		env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
		env.Setenv("INTO", into)
		return err
	}
	testscript.Run(t, params)
}
