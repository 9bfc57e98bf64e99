package host

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// browserVariables are the variables by which a browser finds the desktop and its own profile.
var browserVariables = []string{
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE",
	"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS",
}

// Opener is the path of the program that opens pages in the user's browser: xdg-open, or open of macOS. It is "" where the
// user sits at no desktop of this machine, and where PATH does not have the program. It is never one below a directory
// in which remit works, or below the top of its repository: who writes files there would choose what remit starts.
func (h *Host) Opener(dir string) string {
	name, hasDesktop := "xdg-open", h.Getenv("DISPLAY") != "" || h.Getenv("WAYLAND_DISPLAY") != ""
	if runtime.GOOS == "darwin" {
		name, hasDesktop = "open", true
	}
	if !hasDesktop || h.Getenv("SSH_CONNECTION") != "" {
		return ""
	}
	here, err := topOf(".")
	if err != nil {
		return ""
	}
	there, err := topOf(dir)
	if err != nil {
		return ""
	}
	for _, dir := range filepath.SplitList(h.Getenv("PATH")) {
		path, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil || !filepath.IsAbs(dir) || isBelow(path, here) || isBelow(path, there) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// topOf is the top of the repository that has a directory, or the directory itself outside of one.
func topOf(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	for top := dir; filepath.Dir(top) != top; top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return top, nil
		}
	}
	return dir, nil
}

func isBelow(path, dir string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// Open starts a program with a file that has a page, and does not wait for it: it may be the browser itself. It outlives remit, hears
// nothing of the terminal, and gets no secret of the environment. Every user of the machine can read the arguments of a program; the
// page, which may have a token, the user of remit alone. The function that is returned removes it.
func (h *Host) Open(ctx context.Context, program string, page []byte) (remove func(), err error) {
	dir, err := os.MkdirTemp(h.shownDir(), "remit-") // for its owner alone
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a file that stays says nothing once remit has ended
	file := filepath.Join(dir, "remit.html")
	if err = os.WriteFile(file, page, 0o600); err == nil {
		err = h.start(ctx, program, file)
	}
	if err != nil {
		remove()
		return nil, err
	}
	return remove, nil
}

// shownDir is a directory of which browsers show files: that of temporary ones, or the user's own where they have snaps. Those, such
// as Ubuntu's Firefox, have a /tmp of their own, and see nothing hidden.
func (h *Host) shownDir() string {
	home := h.Getenv("HOME")
	if info, err := os.Stat(filepath.Join(home, "snap")); err == nil && info.IsDir() && filepath.IsAbs(home) {
		return home
	}
	return os.TempDir()
}

// start starts a program with an argument, apart from remit.
func (h *Host) start(ctx context.Context, program, file string) error {
	file, err := filepath.Abs(file) // the program is elsewhere
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, file)
	cmd.Env = h.Environment(browserVariables...)
	cmd.Dir = string(filepath.Separator)
	cmd.SysProcAttr = detached() // Ctrl-C is for remit
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // its end says nothing
	return nil
}
