package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// practiceFlag is the flag with which approvals count in the sandbox too.
func (s *source) practiceFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.practice, "practice-approvals", false, "with --sandbox: wait for approvals as if money moved")
}

// checkPractice refuses to practise where money moves.
func (s *source) checkPractice() error {
	if s.practice && !s.sandbox {
		return errors.New("--practice-approvals goes with --sandbox: without it, every apply waits for approvals. Nothing was sent")
	}
	return nil
}

// waitsForApprovals reports whether an apply needs the approvals that rules want: always where money
// moves, and in the sandbox for practice.
func (s *source) waitsForApprovals() bool { return !s.sandbox || s.practice }

// practising is a command line as of command, for a command that knows the flag of practice.
func (s *source) practising(words string) string {
	if s.practice {
		words += " --practice-approvals"
	}
	return s.command(words)
}
