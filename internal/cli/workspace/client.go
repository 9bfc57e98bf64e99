package workspace

import (
	"fmt"
	"os"

	"remit/internal/files/lockfile"
	"remit/internal/text/english"
	"remit/state"
)

// OthersOf are the other environments whose lock files in the directory name the client, whatever their service is and
// whether or not they are declared.
func OthersOf(s *Directory, client string) ([]string, error) {
	if s.Sandbox || client == "" || client == state.NoService().ClientID {
		return nil, nil
	}
	entries, err := os.ReadDir(s.Path)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, entry := range entries {
		if _, isLockFile := lockfile.EnvironmentOf(entry.Name()); !isLockFile {
			continue
		}
		of, there, err := lockfile.Read(s.Path, entry.Name())
		if err != nil {
			return nil, err
		}
		if there && of.Environment != s.loaded.Environment && of.Service.ClientID == client {
			others = append(others, of.Environment)
		}
	}
	return others, nil
}

// EnvironmentsNamed is "the environment" and the name, or all of several names.
func EnvironmentsNamed(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	if len(names) == 1 {
		return "the environment " + quoted[0]
	}
	return "the environments " + english.List(quoted)
}

// checkSecret refuses the secret of the environment's variables where their client is that of another environment, and the service
// block names its own: the secret is the other client's.
func checkSecret(dir *Directory, beside string) error {
	others, err := OthersOf(dir, beside)
	if len(others) == 0 || err != nil {
		return err
	}
	return fmt.Errorf("REMIT_CLIENT_ID is the client of %s, and client_id names that of %q, so the secret that is set beside it is another client's. "+
		"Nothing was sent, and the secret was not sent. Set both to those of %[2]q, or remove REMIT_CLIENT_ID where the secret is that of client_id",
		EnvironmentsNamed(others), dir.loaded.Environment)
}
