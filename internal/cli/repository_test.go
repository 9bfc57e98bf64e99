package cli_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"remit/internal/proof/suite"
)

// repositoryConfig names a program wherever git takes one, and includes a file outside.
const repositoryConfig = `[core]
	repositoryformatversion = 1
	bare = false
	worktree = .
	fsmonitor = "sh trap"
	hooksPath = hooks
	pager = "sh trap"
	editor = "sh trap"
	sshCommand = "sh trap"
	attributesFile = ../outside/file
[include]
	path = ../../outside/file
[filter "trap"]
	clean = "sh trap"
	smudge = "sh trap"
	process = "sh trap"
	required = true
[diff "trap"]
	textconv = "sh trap"
	command = "sh trap"
[extensions]
	partialClone = origin
[remote "origin"]
	url = "ext::sh trap"
	promisor = true
[user]
	name = the-canary
	email = the-canary@example.com
`

// repositories are hostile ones by name: files of each, and links out, below the directory above that of the
// configuration, which is work.
var repositories = map[string]struct{ files, links map[string]string }{
	"a bare one inside": {files: map[string]string{
		"work/HEAD": "ref: refs/heads/main\n", "work/config": repositoryConfig, "work/refs/heads/main": "1111111111111111111111111111111111111111\n", "work/objects/info/packs": "",
	}},
	"a .git inside": {files: map[string]string{
		"work/.git/HEAD": "ref: refs/heads/main\n", "work/.git/config": repositoryConfig, "work/.git/refs/heads/main": "1111111111111111111111111111111111111111\n",
		"work/.git/objects/info/alternates": "../../../outside\n", "work/.gitattributes": "* filter=trap diff=trap\n", "work/.git/hooks/post-index-change": "#!/bin/sh\nsh trap\n",
	}},
	"a .git above": {files: map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/config": repositoryConfig, ".git/packed-refs": "1111111111111111111111111111111111111111 refs/heads/main\n",
	}},
	"a ref that leads out":          {files: map[string]string{"work/.git/HEAD": "ref: ../../outside/file\n", "work/.git/config": repositoryConfig}},
	"a .git that is a file":         {files: map[string]string{"work/.git": "gitdir: ../outside\n"}},
	"a .git that names a file":      {files: map[string]string{"work/.git": "gitdir: ../outside/file\n"}},
	"a common directory outside":    {files: map[string]string{"work/.git/HEAD": "ref: refs/heads/main\n", "work/.git/commondir": "../../outside\n"}},
	"a HEAD that is a link out":     {files: map[string]string{"work/.git/config": repositoryConfig}, links: map[string]string{"work/.git/HEAD": "../../outside/file"}},
	"a .git that is a link out":     {links: map[string]string{"work/.git": "../outside/directory"}},
	"a config that is a link out":   {files: map[string]string{"work/.git/HEAD": "ref: refs/heads/main\n"}, links: map[string]string{"work/.git/config": "../../outside/file"}},
	"a packed-refs that leads out":  {files: map[string]string{"work/.git/HEAD": "ref: refs/heads/main\n"}, links: map[string]string{"work/.git/packed-refs": "../../outside/file"}},
	"an index that is a link out":   {files: map[string]string{"work/.git/HEAD": "1111111111111111111111111111111111111111\n"}, links: map[string]string{"work/.git/index": "../../outside/file"}},
	"objects that are a link out":   {files: map[string]string{"work/.git/HEAD": "1111111111111111111111111111111111111111\n"}, links: map[string]string{"work/.git/objects": "../../outside/directory"}},
	"a submodule's .git with a way": {files: map[string]string{"work/.git": "gitdir: .git-elsewhere\n", "work/.git-elsewhere/HEAD": "ref: refs/heads/main\n", "work/.git-elsewhere/config": repositoryConfig}},
}

// TestNoCommandTrustsARepository has each command work in a repository that somebody else made: none starts a
// program, prints a byte of a file outside, or takes a name from it.
func TestNoCommandTrustsARepository(t *testing.T) {
	setTraps(t)
	share := suite.Dose(2, 1, 1) // one of so many
	for n, name := range slices.Sorted(maps.Keys(repositories)) {
		if n%share != 0 {
			continue
		}
		repository := repositories[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHostile(t)
			top := filepath.Dir(h.dir)
			for path, text := range repository.files {
				path = filepath.Join(top, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				writeFile(t, path, text)
			}
			for path, to := range repository.links {
				path = filepath.Join(top, path)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(to, path)); err != nil {
					t.Fatal(err)
				}
			}
			for _, line := range everyCommand {
				h.run(line)
			}
			if after := h.list(); len(after) != len(h.before) {
				t.Errorf("the outside was %q and is %q", h.before, after)
			}
		})
	}
}
