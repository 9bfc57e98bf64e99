// Package programs runs remit beside programs of others: databases, browsers, shells, tools of signatures and of books.
package programs_test

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

// TestMain stops the PostgreSQL that scripts share after the tests.
func TestMain(m *testing.M) {
	suite.InMemory()        // but for scripts, which are on a disk as people are
	suite.SideBySide(12)    // scripts mostly wait: for processes, a service, a disk
	debug.SetGCPercent(400) // many commands run in this process, each with garbage of its own
	defer scripted.Remove()
	defer pgtest.CloseShared()
	suite.StartHearing(syscall.SIGHUP, syscall.SIGINT)
	m.Run()
}

// TestScripts runs every promise to the user in which another program has a part. Packages cli and proof/scripts run the others.
func TestScripts(t *testing.T) { scripts.Run(t, &scripted, scripts.Beside) }
