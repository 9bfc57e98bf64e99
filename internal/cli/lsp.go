package cli

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/workspace"
	"remit/internal/lsp"
)

func newLSP(p *process) *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve an editor: mistakes as you type, completion, formatting",
		Long: "Serve an editor that speaks the Language Server Protocol, on standard input and\n" +
			"output. It checks the files that are open as remit validate does, unsaved text too. It\n" +
			"starts no program, asks no network, reads no state, and reads no file outside of the\n" +
			"folders that are open. The editor starts it and ends it.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lsp.Serve(cmd.Context(), p.streams.In, p.streams.Out, lsp.Options{
				Check: p.checkForEditor, Now: p.host.Now, Version: p.host.Version, Folder: folder,
			})
		},
	}
	cmd.Flags().StringVar(&folder, "chdir", "", "the `directory` to work in, where the editor opens no folder")
	cmd.Flags().Bool("stdio", false, "speak on standard input and output, as without it")
	return cmd
}

// checkForEditor validates a directory as remit validate does there, with texts that are not saved. Whatever leads out of the
// editor's folder is left out.
func (p *process) checkForEditor(ctx context.Context, of lsp.Checking) ([]lsp.Checked, error) {
	h := *p.host
	h.Environ = nil // what the environment sets for other directories is no mistake of this one
	h.LookupEnv = withinFolder(p.host.LookupEnv, of.Directory, of.Folder)
	from := &workspace.Directory{Path: of.Directory, Unsaved: of.Unsaved, Memory: of.Memory}
	names := unchosen(&h, from)
	if len(names) < 2 {
		names = []string{""}
	}
	all := make([]validated, len(names))
	facts := make([]map[string]*config.BlockFacts, len(names))
	for i, name := range names {
		dir := *from
		dir.Environment = name
		all[i], facts[i] = check(ctx, &h, &dir)
	}
	if len(all) > 1 {
		shareNoState(all)
	}
	checked := make([]lsp.Checked, len(all))
	for i, v := range all {
		checked[i] = lsp.Checked{Environment: v.environment, Configuration: v.loaded, Facts: facts[i], Diagnostics: ownOf(all, i), Files: v.files}
	}
	return checked, ctx.Err()
}

// withinFolder is an environment whose root of includes and policy directory are in the editor's folder: a root that holds the
// folder ends at the folder, and others are left out.
func withinFolder(lookupEnv func(string) (string, bool), directory, folder string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, isSet := lookupEnv(name)
		if !isSet || value == "" || !slices.Contains([]string{"REMIT_ROOT", "REMIT_POLICY_DIR"}, name) {
			return value, isSet
		}
		if !filepath.IsAbs(value) {
			value = filepath.Join(directory, value)
		}
		at, err := filepath.EvalSymlinks(value)
		top, failed := filepath.EvalSymlinks(folder)
		if err != nil || failed != nil {
			return "", false
		}
		below, err := filepath.Rel(top, at)
		if err == nil && filepath.IsLocal(below) {
			return value, true
		}
		above, err := filepath.Rel(at, top)
		if name == "REMIT_ROOT" && err == nil && filepath.IsLocal(above) {
			return folder, true
		}
		return "", false
	}
}
