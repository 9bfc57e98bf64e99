package config_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"golang.org/x/tools/txtar"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/proof/suite"
)

// TestArchives loads every directory of every archive below testdata and compares all that
// is said of it. A file is named SENTENCE/NAME. Of the names, "options" is the command line
// and "want" the expectation: diagnostics, then transfers; .ci/update writes it.
func TestArchives(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var updated []txtar.File
			for _, c := range casesOf(archive) {
				t.Run(c.sentence, func(t *testing.T) {
					got := c.run(t)
					if diff := cmp.Diff(c.want, got); diff != "" && !suite.Update() {
						t.Errorf("-want +got:\n%s", diff)
					}
					updated = append(updated, c.files...)
					updated = append(updated, txtar.File{Name: c.sentence + "/want", Data: []byte(got)})
				})
			}
			if suite.Update() {
				archive.Files = updated
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// archiveCase is one directory of an archive.
type archiveCase struct {
	sentence string
	files    []txtar.File // all but want
	want     string
}

func casesOf(archive *txtar.Archive) []*archiveCase {
	var cases []*archiveCase
	for _, file := range archive.Files {
		sentence, name, _ := strings.Cut(file.Name, "/")
		if len(cases) == 0 || cases[len(cases)-1].sentence != sentence {
			cases = append(cases, &archiveCase{sentence: sentence})
		}
		c := cases[len(cases)-1]
		if name == "want" {
			c.want = string(file.Data)
			continue
		}
		c.files = append(c.files, file)
	}
	return cases
}

func (c *archiveCase) run(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	opts := config.Options{Version: "0.1.0"}
	for _, file := range c.files {
		_, name, _ := strings.Cut(file.Name, "/")
		if name == "options" {
			readOptions(t, &opts, string(file.Data))
			continue
		}
		write(t, dir, name, unescape(name, file.Data))
	}
	return describe(dir, opts)
}

// unescape makes bytes of what an archive can't hold: in CSV files, \r, \xNN.
func unescape(name string, data []byte) []byte {
	if !strings.HasSuffix(name, ".csv") {
		return data
	}
	for from, to := range map[string]string{`\r`: "\r", `\xff`: "\xff", `\bom`: "\xef\xbb\xbf", `\u202e`: "\u202e", `\n`: "\n"} {
		data = bytes.ReplaceAll(data, []byte(from), []byte(to))
	}
	return data
}

func readOptions(t *testing.T, opts *config.Options, text string) {
	t.Helper()
	environment := map[string]string{}
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "var":
			opts.Assignments = append(opts.Assignments, config.Assignment{Var: rest})
		case "var-file":
			opts.Assignments = append(opts.Assignments, config.Assignment{File: rest})
		case "env":
			name, value, _ := strings.Cut(rest, "=")
			environment[name] = value
		case "sandbox":
			opts.Sandbox = true
		case "version":
			opts.Version = rest
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	opts.Getenv = func(name string) string { return environment[name] }
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// describe is everything that is said of a directory.
func describe(dir string, opts config.Options) string {
	var out strings.Builder
	c, diags := config.Load(dir, opts)
	var mistakes mistake.Set
	mistakes.Add(diags)
	var transfers strings.Builder
	if !diags.HasErrors() {
		for transfer, diags := range c.Transfers(context.Background()) {
			mistakes.Add(diags)
			if len(diags) == 0 {
				describeTransfer(&transfers, transfer)
				describeRefusal(&transfers, c, &transfer)
			}
		}
	}
	for _, d := range mistakes.Diagnostics() {
		describeDiagnostic(&out, d)
	}
	if !mistakes.HasErrors() {
		out.WriteString(transfers.String())
	}
	return strings.ReplaceAll(out.String(), dir, "DIR")
}

func describeDiagnostic(out *strings.Builder, d *hcl.Diagnostic) {
	place := "-"
	if d.Subject != nil {
		place = fmt.Sprintf("%s:%d:%d", d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column)
	}
	severity := map[hcl.DiagnosticSeverity]string{hcl.DiagError: "error", hcl.DiagWarning: "warning"}[d.Severity]
	fmt.Fprintf(out, "%s: %s: %s\n", place, severity, d.Summary)
	for line := range strings.Lines(d.Detail + "\n") {
		fmt.Fprintf(out, "\t%s", line)
	}
}

// describeRefusal says why the plan that has a declared transfer would be refused, which none may be: a saved plan is held to
// what the language allows.
func describeRefusal(out *strings.Builder, c *config.Configuration, t *config.Transfer) {
	_, isAllowed := c.Scales().Allow(t.Request.Amount, t.Request.Asset)
	if err := errors.Join(t.Request.CheckDeclarable(), t.Request.CheckSpacing()); err != nil || !isAllowed {
		fmt.Fprintf(out, "\tbut no saved plan may have it: %v, decimals %v\n", err, isAllowed)
	}
}

func describeTransfer(out *strings.Builder, t config.Transfer) {
	fmt.Fprintf(out, "%s %s %s\n\t%s\n", t.Place, t.Request.Operation, t.Address, t.Request.Body())
	more := []string{}
	if t.Batch != "" {
		more = append(more, "batch "+t.Batch)
	}
	if t.FromLabel {
		more = append(more, "ref_id from label")
	}
	if !t.NotBefore.IsZero() {
		more = append(more, "not before "+t.NotBefore.String())
	}
	if !t.Expires.IsZero() {
		more = append(more, "expires "+t.Expires.String())
	}
	for _, d := range t.DependsOn {
		more = append(more, "after "+d.Block+d.Batch)
	}
	if t.DuplicateWithin != config.DuplicateWithinDefault {
		more = append(more, "duplicate within "+t.DuplicateWithin.String())
	}
	for _, ref := range t.AcceptDuplicateOf {
		more = append(more, "duplicate of "+ref)
	}
	if t.Request.FingerprintKey != "" {
		more = append(more, "fingerprint in "+t.Request.FingerprintKey)
	}
	if len(more) > 0 {
		fmt.Fprintf(out, "\t%s\n", strings.Join(more, ", "))
	}
}
