package cli_test

import (
	"runtime/debug"
	"syscall"
	"testing"

	"remit/internal/proof/scripts"
	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// scripted is the remit of scripts.
var scripted = suite.Program{Package: "remit/internal/proof/machine/remit"}

// TestMain stops the PostgreSQL that tests share after them.
func TestMain(m *testing.M) {
	suite.InMemory()        // but for scripts, which are on a disk as people are
	suite.SideBySide(12)    // scripts mostly wait: for processes, a service, a disk
	debug.SetGCPercent(400) // many commands run in this process, each with garbage of its own
	defer scripted.Remove()
	defer pgtest.CloseShared()
	suite.StartHearing(syscall.SIGHUP, syscall.SIGINT)
	m.Run()
}

// TestScripts runs promises to the user; packages proof/scripts and proof/programs run the others.
func TestScripts(t *testing.T) { scripts.Run(t, &scripted, scripts.ToL) }
