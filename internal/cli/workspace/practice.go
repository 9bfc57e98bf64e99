package workspace

import "errors"

// CheckPractice refuses to practise where money moves.
func (s *Directory) CheckPractice() error {
	if s.Practice && !s.Sandbox {
		return errors.New("--practice-approvals goes with --sandbox: without it, every apply waits for approvals. Nothing was sent")
	}
	return nil
}

// WaitsForApprovals reports whether an apply needs the approvals that rules want: always where money moves,
// and in the sandbox for practice.
func (s *Directory) WaitsForApprovals() bool { return !s.Sandbox || s.Practice }

// CommandWithPractice is [Directory.Command] for a command that has the flag of practice.
func (s *Directory) CommandWithPractice(words string) string {
	return s.Command(words + s.PracticeWord())
}

// PracticeWord is the flag of practice as a word behind others; "" where it was not given.
func (s *Directory) PracticeWord() string {
	if s.Practice {
		return " --practice-approvals"
	}
	return ""
}
