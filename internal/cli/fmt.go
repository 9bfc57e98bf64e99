package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/files/confined"
	"remit/internal/files/wholefile"
	"remit/internal/text/english"
	"remit/internal/view"
)

// formattedBytesMax bounds a file that is formatted: all of it is in memory, several times.
const formattedBytesMax = 256 << 20

// formatter is remit fmt.
type formatter struct {
	streams                *terminal.Streams
	check, diff, recursive bool
	unformatted            int
	failed                 []error // of files, after which the others were formatted
}

func newFmt(p *process) *cobra.Command {
	f := &formatter{streams: p.streams}
	dir := "."
	cmd := &cobra.Command{
		Use:   "fmt [FILE | DIRECTORY | -]...",
		Short: "Rewrite configuration files in the canonical layout",
		Long: "Rewrite configuration files in the canonical layout: those named, those of the\n" +
			"directories named, or those of this directory. With - it reads standard input and\n" +
			"writes to standard output. JSON files are left alone. It prints the name of each file\n" +
			"that changed.",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			for _, arg := range args {
				if err := f.path(dir, arg); err != nil {
					return err
				}
			}
			if len(f.failed) > 0 {
				return f.failures()
			}
			if f.check && f.unformatted > 0 {
				return exit.Code(exit.Partial)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "chdir", ".", "work in this `directory`")
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing; exit 3 where a file is not formatted")
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show what changes")
	cmd.Flags().BoolVar(&f.recursive, "recursive", false, "go into directories below, too")
	return cmd
}

func (f *formatter) path(dir, name string) error {
	if name == "-" {
		return f.stdinToStdout()
	}
	path := filepath.Join(dir, name)
	if filepath.IsAbs(name) {
		path = name
	}
	top, start := formatRoot(dir, name)
	root, err := os.OpenRoot(top)
	if err != nil {
		return fmt.Errorf("format %s: %w", name, confined.Plain(err))
	}
	defer func() { _ = root.Close() }() // wholefile writes
	info, err := root.Stat(start)
	if err != nil {
		return fmt.Errorf("format %s: %w", name, confined.Plain(err))
	}
	if !info.IsDir() {
		return f.file(root, start, path)
	}
	return fs.WalkDir(root.FS(), filepath.ToSlash(start), func(below string, entry fs.DirEntry, err error) error {
		shown := filepath.Join(path, strings.TrimPrefix(below, start))
		if start == "." {
			shown = filepath.Join(path, below)
		}
		switch {
		case err != nil:
			return fmt.Errorf("format %s: %w", shown, confined.Plain(err))
		case entry.IsDir():
			if below != start && (!f.recursive || strings.HasPrefix(entry.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		case !formatted(entry.Name()):
			return nil
		}
		return f.file(root, below, shown)
	})
}

// goOn keeps the error of a file for the end: the others are formatted.
func (f *formatter) goOn(err error) error {
	f.failed = append(f.failed, err)
	return nil
}

// failures is the error of all files that were not formatted. The author's mistakes were shown.
func (f *formatter) failures() error {
	var texts []string
	for _, err := range f.failed {
		if _, isShown := errors.AsType[exit.Code](err); !isShown {
			texts = append(texts, err.Error())
		}
	}
	if len(texts) == 0 {
		return exit.Code(exit.Error)
	}
	if more := len(texts) - namedMax; more > 0 {
		texts = append(texts[:namedMax], fmt.Sprintf("and %s more", english.Plural(more, "file")))
	}
	return errors.New(strings.Join(texts, "\n"))
}

// formatRoot is the directory out of which nothing may lead that a name leads to, and the name in it: the
// directory of work where the name is below that, else a directory that was named, or a file's.
func formatRoot(dir, name string) (top, below string) {
	if filepath.IsLocal(name) {
		return dir, filepath.Clean(name)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return name, "."
	}
	return filepath.Dir(name), filepath.Base(name)
}

// formatted reports whether a file of this name has a canonical layout: configuration,
// tests, variables, but no editor's leftovers.
func formatted(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "~") &&
		(strings.HasSuffix(name, ".hcl") || strings.HasSuffix(name, ".hclvars"))
}

func (f *formatter) stdinToStdout() error {
	before, err := confined.ReadAtMost(f.streams.In, formattedBytesMax)
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	after, err := f.format(before, "<stdin>")
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		f.unformatted++
	}
	if f.check {
		return nil
	}
	_, err = f.streams.Out.Write(after)
	return err
}

// file formats a file below root, which is shown as path.
func (f *formatter) file(root *os.Root, name, path string) error {
	before, err := confined.Read(root, name, formattedBytesMax)
	if err != nil {
		return f.goOn(fmt.Errorf("format %s: %w", path, err))
	}
	after, err := f.format(before, path)
	if _, isShown := errors.AsType[exit.Code](err); isShown {
		return f.goOn(err)
	}
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	if isLinked(root, name) && !f.check {
		return f.goOn(fmt.Errorf("format %s: is a link or behind one, and remit writes through none; name the file that it leads to", path))
	}
	f.unformatted++
	if _, err := fmt.Fprintln(f.streams.Out, path); err != nil {
		return err
	}
	if f.diff {
		if _, err := f.streams.Out.Write(diff.Diff("old/"+path, before, "new/"+path, after)); err != nil {
			return err
		}
	}
	if f.check {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil {
		err = wholefile.Replace(path, info.Mode(), func(w io.Writer) error {
			_, err := w.Write(after)
			return err
		})
	}
	if err != nil {
		return f.goOn(fmt.Errorf("replace %s: %w", path, err))
	}
	return nil
}

// isLinked reports whether a file below root, or a directory on the way to it, is a link.
func isLinked(root *os.Root, name string) bool {
	for at := name; at != "."; at = filepath.Dir(at) {
		if info, err := root.Lstat(at); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

func (f *formatter) format(source []byte, name string) ([]byte, error) {
	after, diags := config.Format(source, name)
	if !diags.HasErrors() {
		return after, nil
	}
	files := map[string]*hcl.File{name: {Bytes: source}}
	if err := view.Diagnostics(f.streams.Err, diags, files, f.streams.Screen(f.streams.Err)); err != nil {
		return nil, err
	}
	return nil, exit.Code(exit.Error)
}
