package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"remit/internal/approval"
	"remit/planner"
)

// Bounds of a check.
const (
	findingsMax   = 100
	factsBytesMax = 64 << 20 // approvals and the names of files
)

// Finding is one thing that is wrong with a pack.
type Finding struct {
	File  string // "" where it is of the directory
	Line  int    // of the file; 0 where it is of the whole file
	Event int64  // of the journal; 0 where it is of none
	Text  string // the mistake, in words
	// Key is the fingerprint of a key that signed, where all that is wrong is what the caller's files say of it; ""
	// where the pack itself is wrong.
	Key string
	Why approval.Why // the reason for which Key does not count
}

// Options say what a pack is held against besides itself.
type Options struct {
	Faces   []Face
	Version string // of this remit
	// Manifest is the hash of the manifest that was kept elsewhere; "" for none.
	Manifest string
	// Head is a hash of the journal that was kept elsewhere; "" for none.
	Head string
	// Signers say whose key is whose; nil leaves that to the pack.
	Signers *approval.Signers
	// Revoked are keys that count no more; nil for none.
	Revoked *approval.Revoked
}

// Report is what a check found.
type Report struct {
	Facts    Facts // of the pack; made from its journal where that can be read
	Files    int   // that the manifest lists
	Manifest string
	Findings []Finding // at most 100 of them; empty where the pack is whole
	// SignedBy is whose signature of the manifest is good: a principal where Options.Signers
	// knows the key, else the key's fingerprint; "" where there is none.
	SignedBy string
	// HeadProven says that Options.Head is the hash of the run's last event or of a later one.
	HeadProven bool
}

// Whole reports whether nothing was found.
func (r *Report) Whole() bool { return len(r.Findings) == 0 }

// OnlyKeys reports whether something was found, and nothing but keys that do not count by the caller's files. The pack
// itself is then as whole as one of which nothing was found.
func (r *Report) OnlyKeys() bool {
	return !r.Whole() && !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Key == "" })
}

// Verify checks everything in a pack that can be checked. Mistakes are in the report; the
// error is that of the system, or of ctx.
func Verify(ctx context.Context, dir string, o Options) (*Report, error) {
	v := &verifier{dir: dir, options: o, report: &Report{}}
	if err := v.verify(ctx); err != nil {
		return nil, err
	}
	return v.report, nil
}

type verifier struct {
	dir     string
	options Options
	report  *Report
	there   map[string]bool // regular files of the directory: nothing else is opened
	other   map[string]bool // what else is in it, which was told
	files   manifest
}

// found notes a mistake.
func (v *verifier) found(file string, format string, args ...any) {
	v.add(Finding{File: file, Text: fmt.Sprintf(format, args...)})
}

// foundKey notes a key that does not count by the caller's files, whatever the pack itself is.
func (v *verifier) foundKey(file string, key approval.Key, why approval.Why, format string, args ...any) {
	v.add(Finding{File: file, Text: fmt.Sprintf(format, args...), Key: key.Fingerprint(), Why: why})
}

// add notes a finding. However many keys do not count, they leave room for a mistake of the pack itself.
func (v *verifier) add(f Finding) {
	switch {
	case len(v.report.Findings) < findingsMax:
		v.report.Findings = append(v.report.Findings, f)
	case f.Key == "":
		v.report.Findings[findingsMax-1] = f
	}
}

func (v *verifier) path(name string) string { return filepath.Join(v.dir, name) }

func (v *verifier) verify(ctx context.Context) error {
	if err := v.list(); err != nil {
		return err
	}
	if err := v.checkManifest(); err != nil {
		return err
	}
	if !v.there[JournalFile] {
		return nil // said so already
	}
	journal, err := os.Open(v.path(JournalFile))
	if err != nil {
		return err
	}
	defer func() { _ = journal.Close() }() // only read
	part, err := readPart(journal, v.options.Head)
	var broken *brokenError
	if errors.As(err, &broken) {
		v.add(Finding{File: JournalFile, Line: broken.line, Event: broken.event, Text: broken.reason})
		return nil
	}
	if err != nil {
		return err
	}
	v.checkHead(part)
	made, err := derive(ctx, part, "")
	if err != nil {
		v.found(JournalFile, "what became of the transfers does not follow from it: %v", err)
		return context.Cause(ctx)
	}
	return errors.Join(v.checkMade(made), v.checkPlan(ctx, part, made))
}

// list reads the directory.
func (v *verifier) list() error {
	entries, err := os.ReadDir(v.dir)
	if err != nil {
		return err
	}
	v.there, v.other = map[string]bool{}, map[string]bool{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			v.found(entry.Name(), "it is no regular file, and a pack has nothing else")
			v.other[entry.Name()] = true
			continue
		}
		v.there[entry.Name()] = true
	}
	return nil
}

// isMissing reports whether there is nothing of that name.
func (v *verifier) isMissing(name string) bool { return !v.there[name] && !v.other[name] }

// checkSums holds each file that the manifest lists against its sum there.
func (v *verifier) checkSums() error {
	for _, name := range slices.Sorted(maps.Keys(v.files)) {
		if v.isMissing(name) {
			v.found(name, "it is missing: %s lists it", ManifestFile)
		}
		if !v.there[name] {
			continue
		}
		sum, err := sumOfFile(v.path(name))
		if err != nil {
			return err
		}
		if sum != v.files[name] {
			v.found(name, "it was changed, or its line in %s was: its SHA-256 is %s, listed is %s", ManifestFile, sum, v.files[name])
		}
	}
	return nil
}

// checkManifest holds the files against the manifest.
func (v *verifier) checkManifest() error {
	if v.isMissing(ManifestFile) {
		v.found(ManifestFile, "it is missing, so this is no pack of evidence, or not all of one")
	}
	if !v.there[ManifestFile] {
		return nil
	}
	text, err := readAtMost(v.path(ManifestFile), manifestBytesMax)
	if errors.Is(err, errTooLong) {
		v.found(ManifestFile, "it was changed: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	v.report.Manifest = sumOf(text)
	if kept := v.options.Manifest; kept != "" && kept != v.report.Manifest {
		v.found(ManifestFile, "it was changed: its SHA-256 is %s, and that which was kept is %s", v.report.Manifest, kept)
	}
	if v.files, err = parseManifest(text); err != nil {
		v.found(ManifestFile, "it was changed: %v", err)
		return nil
	}
	v.report.Files = len(v.files)
	if err := v.checkSums(); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(v.there)) {
		if v.files[name] == "" && name != ManifestFile && name != ManifestSignature {
			v.found(name, "it was added: %s does not list it", ManifestFile)
		}
	}
	v.checkManifestSignature(text)
	return nil
}

func (v *verifier) checkHead(p *part) {
	if v.options.Head == "" {
		return
	}
	switch {
	case p.kept == 0:
		v.found(JournalFile, "none of its events has the hash %s that was kept: it was written anew, or the hash is older than the pack's first event, newer than its last, or of another journal", v.options.Head)
	case p.kept < p.journal.Last:
		v.add(Finding{File: JournalFile, Event: p.kept, Text: fmt.Sprintf("the hash that was kept is of this event, before the run's last one, which is event %d: it proves nothing of what came after. Keep the hash that the run printed at its end, or a later one", p.journal.Last)})
	default:
		v.report.HeadProven = true
	}
}

// checkMade makes the files again that follow from the journal's part.
func (v *verifier) checkMade(m *made) error {
	v.report.Facts = m.facts
	expected := map[string]bool{JournalFile: true, ManifestFile: true, ManifestSignature: true, PlanFile: m.facts.Plan.File != ""}
	for _, f := range m.files(v.options.Faces) {
		expected[f.name] = true
		if !v.there[f.name] {
			if v.isMissing(f.name) && v.files[f.name] == "" { // else the manifest has said so
				v.found(f.name, "it is missing")
			}
			continue
		}
		var err error
		switch f.name {
		case FactsFile:
			err = v.checkFacts(m)
		case LinesFile:
			err = v.compare(f, linesOf)
		case RegisterFile:
			err = v.compare(f, rowsOf)
		default:
			err = v.same(f)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.there)) {
		if !expected[name] && v.files[name] != "" {
			v.found(name, "it was added: the run has no such file")
		}
	}
	return nil
}

// same holds a file against the bytes that it must have.
func (v *verifier) same(f file) error {
	var want bytes.Buffer
	if err := f.write(&want); err != nil {
		return err
	}
	got, err := readAtMost(v.path(f.name), int64(want.Len()))
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		v.found(f.name, "it was changed: it is not what the journal has")
	}
	return nil
}

// checkFacts holds what a pack says in short against the journal, field by field.
func (v *verifier) checkFacts(m *made) error {
	text, err := readAtMost(v.path(FactsFile), factsBytesMax)
	if err != nil {
		return err
	}
	var facts Facts
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&facts); err != nil {
		v.found(FactsFile, "it was changed, or a newer remit wrote it: %v", err)
		return nil
	}
	if facts.Format != Format {
		v.found(FactsFile, "its format is %q, and this remit reads %q", facts.Format, Format)
		return nil
	}
	if !bytes.Equal(facts.text(), text) {
		v.found(FactsFile, "it was changed: it is not as remit writes it")
	}
	want := m.facts
	want.Remit = facts.Remit // the one thing that the journal does not have
	v.report.Facts = want
	got, expected := fields(facts), fields(want)
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		if !bytes.Equal(got[name], expected[name]) {
			v.found(FactsFile, "its %q is not what the journal says", name)
		}
	}
	return nil
}

func fields(f Facts) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(f.text(), &all); err != nil {
		panic(err) // it was just written
	}
	return all
}

// checkPlan holds the plan against the run: its own hashes, and that each request which the
// run wrote down is one of the plan's, byte for byte.
func (v *verifier) checkPlan(ctx context.Context, p *part, m *made) error {
	if m.facts.Plan.File == "" {
		return nil
	}
	if !v.there[PlanFile] {
		if v.isMissing(PlanFile) && v.files[PlanFile] == "" {
			v.found(PlanFile, "it is missing")
		}
		return nil
	}
	digest, err := v.digestPlan()
	if err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", digest.SHA256()); got != m.facts.Plan.SHA256 {
		v.found(PlanFile, "it was changed: its SHA-256 is %s, and the journal says %s", got, m.facts.Plan.SHA256)
	}
	v.checkApprovals(digest, p, m)
	plan, err := openPlan(v.path(PlanFile))
	var changed *planner.ChangedError
	if errors.As(err, &changed) {
		v.add(Finding{File: PlanFile, Line: changed.Line, Text: "it was changed: " + changed.Reason})
		return nil
	}
	if err != nil {
		return err
	}
	b := p.run.Begun
	h := plan.Header
	for _, said := range []struct{ name, plan, journal string }{
		{"digest", plan.Digest, b.Digest},
		{"plan_id", h.PlanID, b.PlanID},
		{"environment", h.Environment, b.Environment},
		{"controls", h.Controls, b.Controls},
	} {
		if said.plan != said.journal {
			v.found(PlanFile, "its %s is %s, and the journal says %s", said.name, said.plan, said.journal)
		}
	}
	return v.checkRequests(ctx, p, plan)
}

func (v *verifier) digestPlan() (*approval.Digest, error) {
	file, err := os.Open(v.path(PlanFile))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	digest := approval.NewDigest()
	_, err = io.Copy(digest, file)
	return digest, err
}

// String says where it is, and what.
func (f Finding) String() string {
	var at []string
	if f.File != "" {
		at = append(at, f.File)
	}
	if f.Line > 0 {
		at = append(at, fmt.Sprintf("line %d", f.Line))
	}
	if f.Event > 0 {
		at = append(at, fmt.Sprintf("event %d", f.Event))
	}
	return strings.Join(at, ", ") + ": " + f.Text
}
