package terminal

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/view"
)

// End shows the error that a command returned and returns the exit code. After a signal, an error with which
// nothing was sent has the code of that signal.
func (s *Streams) End(ctx context.Context, err error) int {
	code := s.say(err)
	if interrupted := exit.CodeOf(ctx); code == exit.Error && interrupted != exit.Done {
		return interrupted
	}
	return code
}

// say shows err and returns its code.
func (s *Streams) say(err error) int {
	s.Quiet()
	end := exit.Of(err)
	if end.Err == nil {
		return end.Code
	}
	s.keep(end.Err, end.Hint)
	// Nothing better can be done about an error that can't be shown than its exit code.
	if s.lines != nil {
		_ = s.lines.Error(end.Err, end.Hint)
	}
	_ = view.Error(s.Err, end.Err, end.Hint, s.Screen(s.Err))
	return end.Code
}

// keep remembers the first error for those who are told at the end: others follow from it.
func (s *Streams) keep(err error, hint string) {
	if s.Failed == nil {
		s.Failed, s.FailedHint = err, hint
	}
}

// Report shows diagnostics; it returns an exit code where one of them is an error.
func (s *Streams) Report(loaded *config.Configuration, diags hcl.Diagnostics) error {
	if s.AsJSON {
		return s.ReportIn(nil, diags)
	}
	return s.ReportText(loaded, diags)
}

// ReportText is [Streams.Report] that shows diagnostics as text on standard error even where [Streams.AsJSON] is set.
func (s *Streams) ReportText(loaded *config.Configuration, diags hcl.Diagnostics) error {
	var files map[string]*hcl.File
	if loaded != nil && len(diags) > 0 {
		files = loaded.Files()
	}
	return s.reportText(files, diags)
}

// ReportIn is [Streams.Report] with the files that the diagnostics point into.
func (s *Streams) ReportIn(files map[string]*hcl.File, diags hcl.Diagnostics) error {
	if !s.AsJSON {
		return s.reportText(files, diags)
	}
	if len(diags) == 0 {
		return nil
	}
	s.Quiet()
	return s.judge(diags, s.JSON().Diagnostics(diags))
}

func (s *Streams) reportText(files map[string]*hcl.File, diags hcl.Diagnostics) error {
	if len(diags) == 0 {
		return nil
	}
	s.Quiet()
	var err error
	if s.file != nil {
		err = s.JSON().Diagnostics(diags)
	}
	return s.judge(diags, errors.Join(err, view.Diagnostics(s.Err, diags, files, s.Screen(s.Err))))
}

// judge returns what showing diagnostics returned, and an exit code where one of them is an error.
func (s *Streams) judge(diags hcl.Diagnostics, shown error) error {
	if diags.HasErrors() {
		s.keep(asError(diags.Errs()[0]), "")
		return exit.Code(exit.Error)
	}
	return shown
}

// asError is a diagnostic as the reason why something failed: one without a place begins with its summary.
func asError(err error) error {
	if d, ok := errors.AsType[*hcl.Diagnostic](err); ok && d.Subject == nil {
		return fmt.Errorf("%s: %s", d.Summary, d.Detail)
	}
	return err
}
