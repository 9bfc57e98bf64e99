// Package programs runs remit beside programs of others: databases, browsers, shells, tools of signatures and of books.
package programs_test

import (
	"testing"

	"remit/internal/proof/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m) }

// TestScripts runs promises to the user; packages cli and proof/scripts run the others.
func TestScripts(t *testing.T) { scripts.Run(t, scripts.Beside) }
