package gitfiles_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/files/gitfiles"
)

// Each is held against what git itself reads of the user's files.
func TestEmailIsWhatTheUserToldGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed here (Debian: apt-get install git)")
	}
	for name, files := range map[string]map[string]string{
		"nothing":              {},
		"as git writes it":     {".gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.com\n"},
		"the other place":      {".config/git/config": "[user]\nemail=ada@example.com\n"},
		"both places":          {".config/git/config": "[user]\nemail=old@example.com\n", ".gitconfig": "[user]\nemail=ada@example.com\n"},
		"the last one":         {".gitconfig": "[user]\nemail=a@example.com\nemail=ada@example.com\n"},
		"in quotes":            {".gitconfig": "[user]\nemail = \"ada#1@example.com\" ; hers\n"},
		"escapes":              {".gitconfig": "[user]\nemail = ada\\\\\\\"@\\\nexample.com # hers\n"},
		"spaces at the end":    {".gitconfig": "[user]\nemail = ada lovelace   \n"},
		"capital letters":      {".gitconfig": "[USER]\nEMail = ada@example.com"},
		"on the section's own": {".gitconfig": "[user] email = ada@example.com\n"},
		"another's section":    {".gitconfig": "[user \"work\"]\nemail = ada@example.com\n[user.home]\nemail=b@example.com\n"},
		"after a comment":      {".gitconfig": "# [user]\n; email = x\n[user] ; me\n\temail = ada@example.com\n[core]\n\tbare\n"},
		"a file that is named": {".gitconfig": "[include]\npath = ~/work.inc\n", "work.inc": "[user]\nemail = ada@example.com\n"},
		"a file beside it":     {".gitconfig": "[user]\nemail=a@example.com\n[include]\npath = work.inc\n", "work.inc": "[user]\nemail = ada@example.com\n"},
		"a missing file":       {".gitconfig": "[include]\npath = nowhere\n[user]\nemail=ada@example.com\n"},
		"lines of Windows":     {".gitconfig": "[user]\r\n\temail = ada@example.com\r\n"},
		"nothing at all":       {".gitconfig": "[user]\nemail =\n"},
	} {
		t.Run(name, func(t *testing.T) {
			home := writeHome(t, files)
			cmd := exec.Command("git", "config", "--global", "--includes", "user.email")
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
			cmd.Dir = home
			if len(files) == 2 && files[".config/git/config"] != "" {
				cmd.Args = []string{"git", "config", "user.email"} // --global reads one file alone
			}
			out, _ := cmd.Output() // it fails where there is none
			want := strings.TrimSuffix(string(out), "\n")
			if got := (gitfiles.Identity{Home: home}).Email(); got != want {
				t.Errorf("%q, and git says %q", got, want)
			}
		})
	}
}

// Files that the reviewed directory could bring along are nobody's own.
func TestEmailIsNotOfTheWorkingTree(t *testing.T) {
	files := map[string]string{".gitconfig": "[user]\nemail = ceo@example.com\n", "deep/x.inc": "[user]\nemail = ceo@example.com\n"}
	home := writeHome(t, files)
	if got := (gitfiles.Identity{Home: home, Apart: home}).Email(); got != "" {
		t.Errorf("a home directory in the working tree says %q", got)
	}
	if got := (gitfiles.Identity{Home: ".", XDG: "."}).Email(); got != "" {
		t.Errorf("a home directory that depends on where one stands says %q", got)
	}
	own := writeHome(t, map[string]string{".gitconfig": "[user]\nemail = ada@example.com\n[include]\npath = " + filepath.Join(home, "deep/x.inc") + "\n"})
	if got := (gitfiles.Identity{Home: own, Apart: home}).Email(); got != "ada@example.com" {
		t.Errorf("an included file of the working tree makes it %q", got)
	}
}

func writeHome(t *testing.T, files map[string]string) string {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

// FuzzEmail reads anything as git's configuration, and ends.
func FuzzEmail(f *testing.F) {
	f.Add("[user]\n\temail = \"ada\\\"@example.com\" # hers\n[include \"x\"]\npath=.gitconfig\n[include]\npath=.gitconfig")
	f.Fuzz(func(t *testing.T, text string) {
		home := writeHome(t, map[string]string{".gitconfig": text})
		_ = gitfiles.Identity{Home: home}.Email()
	})
}
