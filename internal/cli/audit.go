package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/view"
	"remit/state"
)

func newAudit(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the journal, and prove that nobody changed it",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return p.unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newAuditVerify(p), newAuditLog(p), newAuditExport(p))
	return cmd
}

func newAuditVerify(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var check packCheck
	cmd := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "Check the journal's chain and the state against it, or a pack of evidence",
		Long: "Check the journal's chain, and the state against it. It names the first event that was\n" +
			"changed, removed, moved or added. With --head, the hash that an earlier run printed at\n" +
			"its end, it also finds a journal that was cut off or written anew.\n\n" +
			"With DIR, check a pack that remit audit export wrote, which needs no configuration and no\n" +
			"state. It names each file that was changed, is missing or was added.",
		Args: oneArgAtMost("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.streams.AsJSON {
				p.streams.JSON() // errors are told there too
			}
			if err := check.read(cmd, len(args) == 1); err != nil {
				return err
			}
			if len(args) == 1 {
				return verifyPack(cmd.Context(), p, &from, args[0], check)
			}
			return verifyState(cmd.Context(), p, &from, check.head)
		},
	}
	directoryFlags(&from, cmd)
	check.flags(cmd)
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

// verifyState checks the whole state, and changes nothing.
func verifyState(ctx context.Context, p *process, from *workspace.Directory, head string) error {
	w, err := open(p, from)
	if err != nil {
		return err
	}
	store, err := w.state.Backend.OpenReadOnly(ctx)
	if w.dir.Sandbox && errors.Is(err, state.ErrMissing) {
		return exit.WithHint(errors.New("the sandbox has no state yet: its first apply makes it"), w.dir.Command("apply"))
	}
	if err != nil {
		return w.state.Error(err)
	}
	defer func() { _ = store.Close() }() // it was only read
	defer boundGarbage(w.host.Getenv)()
	w.streams.Begin("checking the journal")
	defer w.streams.Quiet()
	meta, err := store.Verify(ctx, head)
	if err == nil {
		err = meta.Check(w.state.Binding.Environment, w.state.Binding.Lineage, w.state.Binding.Service)
	}
	if err != nil {
		return verifyError(w.state, err)
	}
	verified := view.Verified{Events: meta.Serial, Head: meta.Head, TailProven: head != ""}
	if verified.WrongClocks, err = allWrongClocks(ctx, w.host, w.state, store); err != nil {
		return err
	}
	w.streams.Quiet()
	if p.streams.AsJSON {
		err = p.streams.JSON().Verified(verified)
	} else {
		err = view.AuditVerified(p.streams.Out, verified, p.streams.Screen(p.streams.Out))
	}
	if err != nil {
		return err
	}
	if meta.Restored {
		return exit.WithCode(exit.WithHint(fmt.Errorf("the journal is whole up to event %d, and the state was restored from a dump: what was written after the dump is not in it. "+
			"Import the service's export of all transfer records; --complete is your word that they are all", meta.Serial), w.dir.Command("import FILE --complete")), exit.Look)
	}
	if meta.LacksAll() {
		return exit.WithCode(exit.WithHint(fmt.Errorf("the journal is whole up to event %d, and the state was made in place of one that is gone: the transfers that were sent before are not in it. "+
			"Import the service's export of all transfer records; --complete is your word that they are all", meta.Serial), w.dir.Command("import FILE --complete")), exit.Look)
	}
	if meta.Elsewhere && !meta.Forked { // as of a backup that is tried
		if _, err := fmt.Fprintf(w.streams.Err, "Notice: This is a copy. Event %d was written to the state under another path; the newest of this one is event %d.\n", meta.Lacks, meta.Serial); err != nil {
			return err
		}
	} else if meta.Lacks > 0 {
		return exit.WithCode(exit.WithHint(fmt.Errorf("the journal is whole up to event %d, and the state lacks event %d, which was written to it: "+
			"%s. %s the service's export of all transfer records; --complete is your word that they are all",
			meta.Serial, meta.Lacks, workspace.WhyLacks(meta), workspace.RestoreOrImport(meta)), w.dir.Command("import FILE --complete")), exit.Look)
	}
	return findings(ctx, w, store)
}

// findings names transfers whose records prove too little, with exit code 4.
func findings(ctx context.Context, w *opened, store workspace.ReadStore) error {
	snapshot, err := store.Snapshot(ctx)
	if errors.As(err, new(*state.MovedError)) { // it is read where it is now
		return nil
	}
	if err != nil {
		return w.state.Error(err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	w.streams.Begin("reading the records")
	defer w.streams.Quiet()
	count, err := tellFindings(ctx, w.streams, w.dir, snapshot)
	if err == nil && count > 0 {
		return exit.Code(exit.Look)
	}
	return err
}

// verifyError says what the journal proves no more, and what to do about that.
func verifyError(st *workspace.State, err error) error {
	var lost *state.HeadError
	var broken *state.ChainError
	switch {
	case errors.As(err, &lost):
		return fmt.Errorf("none of the events of the journal of %s, up to number %d, has the hash %s. "+
			"Either that is no head of this journal, or the journal was cut off or written anew since that head was printed, "+
			"and does not have what was sent after. Send nothing with it. Compare the hash with what the runs printed, "+
			"and restore the state from a backup that has it", st.Name, lost.Events, lost.Head)
	case errors.As(err, &broken):
		return exit.WithHint(fmt.Errorf("the journal of %s was changed: %w. The chain holds up to the event before it; "+
			"nothing proves what comes from there on. Put it away, with %s, "+
			"restore the state from a backup, and let that be checked. The changed one is put away by", st.Name, broken, st.Backend.Advice().Kept), st.Backend.PutAway("damaged"))
	}
	return st.Error(err)
}

func newAuditLog(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	cmd := &cobra.Command{
		Use:   "log [REF_ID]",
		Short: "Show the journal: who did what, when, where and under which plan",
		Args:  oneArgAtMost("REF_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			refID := ""
			if len(args) == 1 {
				refID = args[0]
			}
			return auditLog(cmd.Context(), p, &from, refID)
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

func auditLog(ctx context.Context, p *process, from *workspace.Directory, refID string) error {
	w, snapshot, done, err := openRead(ctx, p, from)
	if err != nil {
		return err
	}
	defer done()
	events := snapshot.Events(ctx, 0, refID)
	if p.streams.AsJSON {
		return p.streams.JSON().Audit(events)
	}
	runs := make(map[string]state.Run)
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return w.state.Error(err)
		}
		runs[run.Begun.RunID] = run
	}
	return view.Audit(p.streams.Out, events, runs, p.streams.Screen(p.streams.Out))
}
