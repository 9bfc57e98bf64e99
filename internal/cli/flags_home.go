package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// belowHome gives each flag that names a file or a directory its path where it begins with ~/, which a shell leaves as
// it is behind an equals sign.
func (p *process) belowHome(root *cobra.Command, args []string) []string {
	home := p.host.Getenv("HOME")
	command, _, err := root.Find(args)
	if home == "" || err != nil || isCompletion(args) {
		return args
	}
	whole := make([]string, len(args))
	copy(whole, args)
	for i := 0; i < len(whole) && whole[i] != "--"; i++ {
		flag := flagOf(command, whole[i])
		if flag == nil || !namesPath(flag) {
			continue
		}
		if word, value, isJoined := strings.Cut(whole[i], "="); isJoined {
			whole[i] = word + "=" + inHome(home, value)
		} else if i+1 < len(whole) && flag.NoOptDefVal == "" {
			i++
			whole[i] = inHome(home, whole[i])
		}
	}
	return whole
}

func inHome(home, path string) string {
	if below, isBelow := strings.CutPrefix(path, "~/"); isBelow {
		return filepath.Join(home, below)
	}
	return path
}
