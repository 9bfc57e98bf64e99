package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/workspace"
	"remit/internal/sandbox"
	"remit/internal/view"
	"remit/state"
)

// The bounds of a completion: a shell waits for it.
const (
	completionTime = 2 * time.Second
	completionMax  = 500 // values
)

// values returns the words that may complete begun.
type values func(c *completing, begun string) ([]string, cobra.ShellCompDirective)

// completing is one question of a shell. It reads the configuration and the state, and writes nothing.
type completing struct {
	process *process
	from    workspace.Directory
}

// isCompletion reports whether a shell asks for words. Nothing else needs them, and cobra keeps what a flag completes
// for as long as the process lives.
func isCompletion(args []string) bool {
	return len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd)
}

// completeWords gives each command and flag below root the values that a shell may offer.
func completeWords(p *process, root *cobra.Command) {
	for _, cmd := range root.Commands() {
		completeWords(p, cmd)
		if of := argumentValues()[cmd.CommandPath()]; of != nil {
			cmd.ValidArgsFunction = of.function(p)
		} else if cmd.ValidArgs == nil && !strings.ContainsAny(cmd.Use, " ") {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for name, of := range flagValues(cmd) {
			if cmd.Flags().Lookup(name) != nil && cmd.RegisterFlagCompletionFunc(name, of.function(p)) != nil {
				panic("completion of --" + name + " is registered twice")
			}
		}
	}
}

// argumentValues are those of the arguments of commands.
func argumentValues() map[string]values {
	return map[string]values{
		"remit state show":       refIDs(nil),
		"remit why":              declaredOrRecorded,
		"remit state forget":     refIDs(nil),
		"remit audit log":        refIDs(nil),
		"remit resolve":          refIDs(func(t *state.Transfer) bool { return isOpen(t.Status) }),
		"remit reversal":         refIDs(func(t *state.Transfer) bool { return t.Status == state.Recorded || t.Status == state.Adopted }),
		"remit schedule preview": schedules,
	}
}

// isOpen reports whether resolve has something to settle.
func isOpen(s state.Status) bool {
	return s == state.InDoubt || s == state.Unverified || s == state.Conflict
}

// flagValues are those of flags, by their names.
func flagValues(cmd *cobra.Command) map[string]values {
	all := map[string]values{
		"target": targets, "run": runs, "batch": batches, "override-limit": limits,
		"accept-duplicates": countOf(batches), "accept-renames": countOf(blocks),
		"fault": faults, "show": words("all"), "on-refusal": words("continue", "stop"),
		"environment": environments, "chdir": directories, "policy-dir": directories, "root": directories, "test-directory": directories,
	}
	switch cmd.CommandPath() {
	case "remit export":
		all["format"] = words(bookFaces().names()...)
	case "remit graph":
		all["format"] = words(graphFaces().names()...)
	}
	return all
}

// function is what cobra calls. A failure offers nothing: a shell has nowhere to show it.
func (v values) function(p *process) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		begun = unquoted(begun)
		list, directive := v(&completing{p, directoryOf(cmd)}, begun)
		list = slices.DeleteFunc(list, func(word string) bool {
			return !strings.HasPrefix(word, begun) || strings.ContainsFunc(word, unshowable) || isCommand(word)
		})
		return list[:min(len(list), completionMax)], directive
	}
}

// unquoted is a word as it was typed so far, without the quotation mark before it and the backslashes in it: fish
// hands a word over with them.
func unquoted(word string) string {
	if trimmed := strings.TrimLeft(word, `'"`); len(trimmed) < len(word) {
		word = trimmed
	}
	return strings.NewReplacer(`\\`, `\`, `\`, "").Replace(word)
}

// unshowable reports whether a shell would show a character otherwise than it is.
func unshowable(r rune) bool { return r != '\t' && view.Visible(string(r)) != string(r) }

// isCommand reports whether a shell may carry out a part of a word, described behind a tab. Files under review have
// such words, and bash inserts what several words begin with as it is and evaluates the line at the next tab.
func isCommand(word string) bool {
	word, _, _ = strings.Cut(word, "\t")
	return strings.ContainsAny(word, "$`();&|<>")
}

// declared is the configuration as far as it can be read; nil for none. Its mistakes are told by the
// command itself.
func (c *completing) declared() *config.Configuration {
	options := c.from.Options(c.process.ctx, c.process.host)
	options.Need = config.NeedAll
	loaded, _ := config.Load(c.from.Path, options)
	return loaded
}

// whileAShellWaits is the context of what is read for a completion.
func (c *completing) whileAShellWaits() (context.Context, context.CancelFunc) {
	return context.WithTimeout(c.process.ctx, cmp.Or(c.process.shellWaits, completionTime))
}

// recorded calls look with the state, where there is one.
func (c *completing) recorded(look func(ctx context.Context, snapshot state.Snapshot) error) {
	ctx, cancel := c.whileAShellWaits()
	defer cancel()
	c.process.streams.AsJSON = false // the words before the completed one may have --json
	w, err := open(c.process, &c.from)
	if err != nil {
		return
	}
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return
	}
	defer done()
	_ = look(ctx, snapshot) // a failure offers the values found before it
}

// errEnough ends a look that has found as much as is offered.
var errEnough = errors.New("enough")

// refIDs are those of the transfers that keep keeps, each with its status and amount; nil keeps all.
func refIDs(keep func(*state.Transfer) bool) values {
	return func(c *completing, begun string) (list []string, _ cobra.ShellCompDirective) {
		c.recorded(func(ctx context.Context, snapshot state.Snapshot) error {
			for t, err := range snapshot.Transfers(ctx) {
				if err != nil || len(list) == completionMax {
					return errors.Join(err, errEnough)
				}
				if strings.HasPrefix(t.RefID, begun) && (keep == nil || keep(&t)) {
					list = append(list, fmt.Sprintf("%s\t%s, %s %s", t.RefID, t.Status, t.Amount, t.Asset))
				}
			}
			return nil
		})
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// runs are the IDs of runs, the newest first, and the word for the newest.
func runs(c *completing, _ string) ([]string, cobra.ShellCompDirective) {
	list := []string{runLatest + "\tthe newest run"}
	c.recorded(func(ctx context.Context, snapshot state.Snapshot) error {
		for run, err := range snapshot.Runs(ctx) {
			if err != nil || len(list) == completionMax {
				return errors.Join(err, errEnough)
			}
			list = append(list, run.Begun.RunID+"\tbegun "+run.BegunAt.UTC().Format(time.RFC3339))
		}
		return nil
	})
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// targets are what --target takes: blocks and batches, and where a whole block is typed, its keys of for_each.
func targets(c *completing, begun string) ([]string, cobra.ShellCompDirective) {
	list, directive := blocks(c, begun)
	if block, _, hasKey := strings.Cut(begun, "["); slices.Contains(list, block) && (hasKey || !isBegun(list, block)) {
		for t := range c.transfers() {
			if t.Block != block || t.Address == block || !strings.HasPrefix(t.Address, begun) {
				continue
			}
			if list = append(list, t.Address); len(list) >= completionMax {
				break
			}
		}
	}
	names, _ := batches(c, "")
	for _, name := range names {
		list = append(list, "batch."+name)
	}
	return list, directive
}

// isBegun reports whether a name is the beginning of another one of a list.
func isBegun(list []string, name string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return other != name && strings.HasPrefix(other, name) })
}

// blocks are the addresses of transfer blocks.
func blocks(c *completing, _ string) (list []string, _ cobra.ShellCompDirective) {
	if loaded := c.declared(); loaded != nil {
		for _, block := range loaded.Blocks() {
			list = append(list, block.Address)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func batches(c *completing, _ string) (list []string, _ cobra.ShellCompDirective) {
	if loaded := c.declared(); loaded != nil {
		for _, batch := range loaded.Batches {
			list = append(list, batch.Name)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// environments are the environment blocks, with what they say of themselves.
func environments(c *completing, _ string) (list []string, _ cobra.ShellCompDirective) {
	declared, _ := config.Environments(c.from.Path, config.Options{}) // the readable ones are offered
	for _, e := range declared {
		word := e.Name
		if e.Description != "" {
			word += "\t" + e.Description
		}
		list = append(list, word)
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func schedules(c *completing, _ string) (list []string, _ cobra.ShellCompDirective) {
	if loaded := c.declared(); loaded != nil {
		for i := range loaded.Schedules {
			list = append(list, loaded.Schedules[i].Name)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

func limits(c *completing, _ string) (list []string, _ cobra.ShellCompDirective) {
	if loaded := c.declared(); loaded != nil {
		for _, limit := range loaded.Controls().Limits {
			list = append(list, limit.Name)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// countOf are names with a colon behind which a count is typed.
func countOf(names values) values {
	return func(c *completing, begun string) (list []string, _ cobra.ShellCompDirective) {
		found, _ := names(c, begun)
		for _, name := range found {
			list = append(list, name+":")
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

func faults(*completing, string) (list []string, _ cobra.ShellCompDirective) {
	for _, kind := range sandbox.FaultKinds() {
		list = append(list, string(kind))
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// words are values that are always the same.
func words(list ...string) values {
	return func(*completing, string) ([]string, cobra.ShellCompDirective) {
		return slices.Clone(list), cobra.ShellCompDirectiveNoFileComp
	}
}

func directories(*completing, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
