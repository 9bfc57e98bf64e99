package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"remit/config"
	"remit/internal/files/lockfile"
	"remit/state"
)

// Block is the name of the chosen environment block; "" where the directory has none.
func (s *Directory) Block() string {
	if s.loaded == nil || len(s.loaded.Environments) == 0 {
		return ""
	}
	return s.loaded.Environment
}

// LockName is the name of the lock file of the environment that is worked on.
func (s *Directory) LockName() string { return lockfile.NameOf(s.Block()) }

// ReadLock reads what binds the environment that is worked on to a state; false where there is nothing. A lock
// file from before the environments were declared, or from while they were, counts as long as it is of this
// environment and there is no other.
func (s *Directory) ReadLock() (lockfile.File, bool, error) {
	found, name, err := s.findLock()
	return found, name != "", err
}

// findLock is ReadLock with the name of the file; "" where there is none.
func (s *Directory) findLock() (found lockfile.File, name string, err error) {
	name = s.LockName()
	found, there, err := lockfile.Read(s.Path, name)
	switch {
	case err != nil:
		return lockfile.File{}, "", err
	case there && s.Block() != "" && found.Environment != s.Block():
		return lockfile.File{}, "", fmt.Errorf("%s says environment %q, and by its name it belongs to environment %q; nothing was sent. "+
			"It is not written by hand and not copied: restore it from version control", name, found.Environment, s.Block())
	case there:
		return found, name, nil
	case s.loaded == nil:
		return lockfile.File{}, "", nil
	}
	other := lockfile.Name
	if s.Block() == "" {
		if strings.ContainsAny(s.loaded.Environment, `/\`) {
			return lockfile.File{}, "", nil // no file has such a name
		}
		other = lockfile.NameOf(s.loaded.Environment)
	}
	if found, there, err = lockfile.Read(s.Path, other); err != nil || !there || found.Environment != s.loaded.Environment {
		return lockfile.File{}, "", err
	}
	return found, other, nil
}

// BoundEnvironment is the environment of the lock file where the configuration could not be read: the one that
// somebody asked for, or that of a directory without environment blocks; "" where there is none. Where a file
// can't be read, that is not what went wrong first.
func (s *Directory) BoundEnvironment() string {
	flat, _, _ := lockfile.Read(s.Path, lockfile.Name)
	if s.asked == "" || s.asked == flat.Environment || strings.ContainsAny(s.asked, `/\`) {
		return flat.Environment
	}
	own, _, _ := lockfile.Read(s.Path, lockfile.NameOf(s.asked))
	return own.Environment
}

// WriteLock binds the environment that is worked on to a state. Where the file had its name from before the
// environments were declared, or from while they were, that name is returned, and the file has the right one
// then.
func (s *Directory) WriteLock(file lockfile.File) (renamed string, err error) {
	_, before, err := s.findLock()
	if err != nil {
		return "", err
	}
	name := s.LockName()
	if err := lockfile.Write(s.Path, name, file); err != nil || before == "" || before == name {
		return "", err
	}
	return before, os.Remove(filepath.Join(s.Path, before))
}

// Declares reports whether an environment block has the name.
func (s *Directory) Declares(environment string) bool {
	return slices.ContainsFunc(s.loaded.Environments, func(e config.DeclaredEnvironment) bool { return e.Name == environment })
}

// ProtectedBy is the protected environment whose money an apply moves: the chosen one, or another one of the directory
// that has the same client of the same service; "" for none.
func (s *Directory) ProtectedBy(service state.Identity) (string, error) {
	if s.loaded.Protected {
		return s.loaded.Environment, nil
	}
	others, err := s.WithClient(service)
	for _, other := range others {
		if other.Protected {
			return other.Name, nil
		}
	}
	return "", err
}

// WithClient are the other environments of the directory that have the same client of the same service, as their lock
// files say.
func (s *Directory) WithClient(service state.Identity) ([]config.DeclaredEnvironment, error) {
	var same []config.DeclaredEnvironment
	others, err := atService(s, service)
	for _, other := range others {
		if other.Service.HasClientOf(service) {
			same = append(same, other.DeclaredEnvironment)
		}
	}
	return same, err
}

// Bound is another environment of a directory and what its lock file binds it to.
type Bound struct {
	config.DeclaredEnvironment
	Service state.Identity
}

// WithOtherClient are the other environments of the directory that have another client of the same service, as their lock files say.
func WithOtherClient(s *Directory, service state.Identity) ([]Bound, error) {
	others, err := atService(s, service)
	return slices.DeleteFunc(others, func(other Bound) bool { return other.Service.HasClientOf(service) }), err
}

// atService are the other environments of the directory that have the same service, as their lock files say.
func atService(s *Directory, service state.Identity) ([]Bound, error) {
	if s.Sandbox || service == state.NoService() {
		return nil, nil
	}
	var others []Bound
	for _, e := range s.loaded.Environments {
		if e.Name == s.loaded.Environment {
			continue
		}
		of, there, err := s.lockOf(e.Name)
		if err != nil {
			return nil, err
		}
		if there && of.Service.HasServiceOf(service) {
			others = append(others, Bound{e, of.Service})
		}
	}
	return others, nil
}

// Named is the service that the configuration names and its client, as far as the files and the lock file tell it; false where they do not.
func Named(s *Directory) (named state.Identity, isNamed bool) {
	if s.Sandbox || s.loaded == nil || !s.loaded.ServiceDeclared() {
		return named, false
	}
	named = state.Identity{BaseURL: s.loaded.Service.BaseURL, Operator: string(s.loaded.Service.Operator), ClientID: s.loaded.Named().ID}
	if bound, there, err := s.ReadLock(); named.ClientID == "" && err == nil && there {
		named.ClientID = bound.Service.ClientID
	}
	return named, named.ClientID != ""
}

// lockOf is what the lock file of an environment says, be it the one from before the environment was declared.
func (s *Directory) lockOf(environment string) (of lockfile.File, there bool, err error) {
	of, there, err = lockfile.Read(s.Path, lockfile.NameOf(environment))
	if there || err != nil {
		return of, there, err
	}
	of, there, err = lockfile.Read(s.Path, lockfile.Name)
	return of, there && of.Environment == environment, err
}

// CheckOrphans refuses to make a state beside the lock file of an environment that is not declared: where an
// environment was renamed, a new state would have everything paid again.
func (s *Directory) CheckOrphans() error {
	entries, err := os.ReadDir(s.Path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		environment, isLockFile := lockfile.EnvironmentOf(entry.Name())
		if !isLockFile {
			continue
		}
		if environment == "" {
			file, _, err := lockfile.Read(s.Path, entry.Name())
			if err != nil {
				return err
			}
			environment = file.Environment
		}
		if environment == s.loaded.Environment || s.Declares(environment) {
			continue
		}
		return fmt.Errorf("%s binds this directory to the state of environment %q, which is not declared; nothing was made. "+
			"Where that environment has another name now, give it its old one: a state belongs to one environment for good, and in a new state "+
			"nothing is paid yet. Only where no transfer of it can be due again, remove the file", entry.Name(), environment)
	}
	return nil
}

// sandboxName is the directory of the sandbox's state and ledger, below that of the configuration.
const sandboxName = ".remit/sandbox"

// sandboxName is [sandboxName], or for an environment block the directory below it.
func (s *Directory) sandboxName() string {
	if s.Block() == "" {
		return sandboxName
	}
	return sandboxName + "/" + s.Block()
}

// SandboxDirectory is the directory of the sandbox of the environment that is worked on.
func (s *Directory) SandboxDirectory() string {
	return filepath.Join(s.Path, filepath.FromSlash(s.sandboxName()))
}

// SandboxEnvironment is what the sandbox is called in its state and in plans.
func (s *Directory) SandboxEnvironment() string {
	if s.Block() == "" {
		return state.Sandbox
	}
	return state.Sandbox + "/" + s.Block()
}

// filesOfStates match the names of states where the configuration says none.
var filesOfStates = []string{"remit.db", "remit.*.db"}

// FileOfState is the file of the directory that has the state of a lineage, although the configuration may name
// another place; "" for none.
func (s *Directory) FileOfState(lineage string) string {
	root := os.DirFS(s.Path)
	for _, pattern := range filesOfStates {
		names, _ := fs.Glob(root, pattern) // the pattern is right
		for _, name := range names {
			if meta, err := metaAt(s.Within(name)); err == nil && meta.Lineage == lineage {
				return name
			}
		}
	}
	return ""
}

// placeBlock is the block that names the file of a state.
func (s *Directory) placeBlock(name string) string {
	block := fmt.Sprintf("  state %q {\n    path = %q\n  }", config.StateSQLite, name)
	if of := s.Block(); of != "" {
		block = fmt.Sprintf("  environment %q {\n    %s\n  }", of, strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n  "))
	}
	return block
}

// metaAt describes the state in a file.
func metaAt(path string) (meta state.Meta, err error) {
	ctx := context.Background() // a file is there at once, or not
	store, err := NewSQLite(path, nil).OpenReadOnly(ctx)
	if err != nil {
		return meta, err
	}
	snapshot, err := store.Snapshot(ctx)
	if err == nil {
		meta = snapshot.Meta()
		err = snapshot.Close()
	}
	return meta, errors.Join(err, store.Close())
}
