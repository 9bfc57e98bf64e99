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

// Opener is the path of the program that opens addresses in the user's browser: xdg-open, or open of macOS. It is "" where the
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

// Open starts a program with an address, and does not wait for it: it may be the browser itself. It outlives remit, hears nothing of the
// terminal, and gets no secret of the environment.
func (h *Host) Open(ctx context.Context, program, address string) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, address)
	cmd.Env = h.Environment(browserVariables...)
	cmd.Dir = string(filepath.Separator)
	cmd.SysProcAttr = detached() // Ctrl-C is for remit
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // its end says nothing
	return nil
}
