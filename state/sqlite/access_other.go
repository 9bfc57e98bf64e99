//go:build !linux

package sqlite

// DeniedAt is unknown here.
func DeniedAt(string) (Denied, bool) { return Denied{}, false }
