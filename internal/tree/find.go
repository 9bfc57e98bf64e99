package tree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"remit/config"
	"remit/internal/files/confined"
)

// The bounds of a search. A directory beyond them is never left out in silence: the search fails.
const (
	DepthMax          = 16     // directories below each other
	DirectoriesMax    = 50_000 // that are looked into
	ConfigurationsMax = 2_000
)

// Found is what a search found. Each list is in the order of names, which are relative to the directory of the search
// and have slashes.
type Found struct {
	Configurations []string // "." is the directory of the search itself; one that can't be read is among them
	Shared         []string // directories whose files declare only what others use
	Links          []string // that were not followed
}

// Find looks for configurations in a directory and below it. A directory is one that has a lock file, as isLock
// knows it by its name, or files for which [config.IsOwn] holds, or that can't be read, so that nobody knows. Find
// follows no link and looks into no directory whose name begins with a dot or is node_modules. It fails beyond a
// bound, where the directory of the search can't be read, and with the cause of ctx.
func Find(ctx context.Context, top string, isLock func(name string) bool) (*Found, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, fmt.Errorf("look for configurations in %s: %w", top, confined.Plain(err))
	}
	defer func() { _ = root.Close() }() // only read
	s := search{top: top, root: root.FS(), isLock: isLock, found: &Found{}}
	if err := s.directory(ctx, "."); err != nil {
		return nil, err
	}
	return s.found, nil
}

// search is one [Find] under way.
type search struct {
	top    string
	root   fs.FS
	isLock func(name string) bool
	found  *Found
	seen   int // directories
}

func (s *search) directory(ctx context.Context, at string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.seen++; s.seen > DirectoriesMax {
		return s.beyond("more than %d directories", DirectoriesMax)
	}
	if strings.Count(at, "/")+1 > DepthMax {
		return s.beyond("directories more than %d below each other, such as %s", DepthMax, at)
	}
	entries, err := fs.ReadDir(s.root, at)
	switch {
	case err != nil && at == ".":
		return fmt.Errorf("look for configurations in %s: %w", s.top, confined.Plain(err))
	case err != nil:
		return s.isOne(at) // somebody else's perhaps; its mistake is shown
	}
	if err := s.judge(at, entries); err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(at, entry.Name())
		switch {
		case strings.HasPrefix(entry.Name(), "."), entry.Name() == "node_modules":
		case entry.IsDir():
			if err := s.directory(ctx, name); err != nil {
				return err
			}
		case entry.Type()&fs.ModeSymlink != 0:
			if info, err := os.Stat(filepath.Join(s.top, name)); err == nil && info.IsDir() {
				s.found.Links = append(s.found.Links, name)
			}
		}
	}
	return nil
}

// judge says what a directory of these entries is.
func (s *search) judge(at string, entries []fs.DirEntry) error {
	hasLock, hasSource := false, false
	for _, entry := range entries {
		hasLock = hasLock || s.isLock(entry.Name())
		hasSource = hasSource || config.IsSource(entry.Name()) && !entry.IsDir()
	}
	switch {
	case hasLock, hasSource && config.IsOwn(filepath.Join(s.top, at)):
		return s.isOne(at)
	case hasSource:
		s.found.Shared = append(s.found.Shared, at)
	}
	return nil
}

// isOne takes a directory for a configuration.
func (s *search) isOne(at string) error {
	s.found.Configurations = append(s.found.Configurations, at)
	if len(s.found.Configurations) > ConfigurationsMax {
		return s.beyond("more than %d configurations", ConfigurationsMax)
	}
	return nil
}

func (s *search) beyond(format string, args ...any) error {
	return fmt.Errorf("%s has "+format+": name a directory below it with --chdir", slices.Insert(args, 0, any(s.top))...)
}

// EntityOf is the entity to which a configuration belongs: the first directory of its name, and for one in the
// directory of the search itself the name of that.
func EntityOf(configuration, top string) string {
	if configuration != "." {
		first, _, _ := strings.Cut(configuration, "/")
		return first
	}
	if absolute, err := filepath.Abs(top); err == nil {
		top = absolute
	}
	return filepath.Base(top)
}
