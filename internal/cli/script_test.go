package cli_test

import (
	"testing"

	"remit/internal/proof/scripts"
	"remit/internal/proof/suite"
)

// product is the remit that users have; scripts have one whose clocks they set.
var product = suite.Program{Package: "remit"}

func TestMain(m *testing.M) {
	defer product.Remove()
	scripts.Main(m)
}

// TestScripts runs promises to the user; packages proof/scripts and proof/programs run the others.
func TestScripts(t *testing.T) { scripts.Run(t, scripts.ToL) }
