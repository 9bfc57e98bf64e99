//go:build unix

package pgtest

import (
	"os"
	"path/filepath"
)

// Place writes a file that only the user who runs the server may read, and returns its path.
func (s *Server) Place(name string, content []byte) (string, error) {
	path := filepath.Join(s.dir, name)
	err := os.WriteFile(path, content, 0o600)
	if err == nil && os.Geteuid() == 0 {
		err = os.Chown(path, nobody, nobody)
	}
	return path, err
}

// Admit puts lines before those of pg_hba.conf, which the next [Server.Run] reads.
func (s *Server) Admit(lines string) error {
	path := filepath.Join(s.data(), "pg_hba.conf")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(lines), text...), 0o600)
}
