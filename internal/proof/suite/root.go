package suite

import (
	"os"
	"path/filepath"
	"sync"
)

// root is the directory of go.mod, the first one above the test.
var root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("a test that is in no repository")
		}
		dir = filepath.Dir(dir)
	}
})

// InRoot is a path below the root of the repository, for packages whose callers are in several directories. The first call is
// made before a test changes to another directory.
func InRoot(path ...string) string { return filepath.Join(append([]string{root()}, path...)...) }
