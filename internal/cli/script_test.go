package cli_test

import (
	"testing"

	"remit/internal/proof/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m) }

// TestScripts runs promises to the user; packages proof/scripts and proof/programs run the others.
func TestScripts(t *testing.T) { scripts.Run(t, scripts.ToL) }
