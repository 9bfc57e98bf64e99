//go:build unix

package scripts_test

import (
	"syscall"
	"testing"

	"remit/internal/proof/scripts"
	"remit/internal/proof/suite"
)

// scripted is the remit of scripts.
var scripted = suite.Program{Package: "remit/internal/proof/machine/remit"}

func TestMain(m *testing.M) {
	suite.SideBySide(12) // scripts mostly wait: for processes, a service, a disk
	defer scripted.Remove()
	suite.StartHearing(syscall.SIGHUP, syscall.SIGINT)
	m.Run()
}

// TestScripts runs promises to the user; packages cli and proof/programs run the others.
func TestScripts(t *testing.T) { scripts.Run(t, &scripted, scripts.FromM) }
