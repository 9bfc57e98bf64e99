//go:build unix && !darwin

package workspace

// Commands that show a directory and its disk to a person.
const (
	showRoom   = "df -h"
	showAccess = "ls -la"
	showOne    = "ls -ld"
	showMount  = "findmnt --target"
)
