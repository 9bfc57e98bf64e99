package view

import (
	"fmt"
	"io"
	"slices"

	"remit/executor"
	"remit/internal/approval"
	"remit/internal/text/english"
)

// Exported says that a pack of evidence was written.
type Exported struct {
	Type      string `json:"type"` // "evidence"
	Dir       string `json:"dir"`
	RunID     string `json:"run_id"`
	Files     int    `json:"files"`    // without the manifest
	Manifest  string `json:"manifest"` // SHA-256 of the manifest
	Head      string `json:"head"`     // of the journal when the pack was made
	Events    int    `json:"events"`   // in full
	Withheld  int    `json:"withheld"` // events of which the pack has the digest alone
	Approvals int    `json:"approvals"`
	NoPlan    string `json:"no_plan,omitempty"` // why there is no plan
}

// Exported writes that a pack of evidence was written.
func (j *JSON) Exported(e Exported) error {
	e.Type = "evidence"
	j.write(e)
	return j.end()
}

// AuditExported writes, for a person, that a pack of evidence was written, and the command that
// checks it. It returns only errors of w.
func AuditExported(w io.Writer, e Exported, check string, s Screen) error {
	p := newPage(w, s)
	p.line(span{fmt.Sprintf("The evidence of run %s is in %s: %s and SHA256SUMS.", e.RunID, Visible(e.Dir), english.Plural(e.Files, "file")), toneGood})
	p.fields([]field{
		{"journal", journalText(e)},
		{"head", e.Head},
		{"approvals", fmt.Sprint(e.Approvals)},
		{"manifest", e.Manifest},
	})
	if e.NoPlan != "" {
		p.paragraph("", "It has no plan: "+e.NoPlan+".", toneNone)
	}
	p.line()
	p.paragraph("", "Keep the hash of the manifest in another place than the pack. To check the pack against it:", toneNone)
	p.command("", check)
	return p.Flush()
}

func journalText(e Exported) string {
	text := english.Plural(e.Events, "event")
	if e.Withheld > 0 {
		text += fmt.Sprintf(", and %s up to the head by their digests alone", english.Plural(e.Withheld, "other"))
	}
	return text
}

// PackFinding is one thing that is wrong with a pack of evidence.
type PackFinding struct {
	File  string `json:"file"`
	Line  int    `json:"line,omitempty"`
	Event int64  `json:"event,omitempty"` // of the journal
	Text  string `json:"text"`
	// Key is the fingerprint of a key that the reader's files do not let count, while the pack itself agrees.
	Key string       `json:"key,omitempty"`
	Why approval.Why `json:"why,omitempty"` // of Key
}

// VerifiedPack is what a check of a pack of evidence found.
type VerifiedPack struct {
	Type           string        `json:"type"` // "verified_evidence"
	Dir            string        `json:"dir"`
	Whole          bool          `json:"whole"`
	RunID          string        `json:"run_id,omitempty"`
	Files          int           `json:"files"`
	Manifest       string        `json:"manifest,omitempty"`
	ManifestProven bool          `json:"manifest_proven"` // it is the hash that was kept elsewhere
	Head           string        `json:"head,omitempty"`
	HeadProven     bool          `json:"head_proven"`    // a hash that was kept elsewhere is of the run's end, or later
	SignersProven  bool          `json:"signers_proven"` // keys were held against an allowed_signers file of the reader
	SignedBy       string        `json:"signed_by,omitempty"`
	Environment    string        `json:"environment,omitempty"`
	Digest         string        `json:"digest,omitempty"`
	Approvers      []string      `json:"approvers,omitempty"`
	Results        []PackResult  `json:"results,omitempty"`
	Findings       []PackFinding `json:"findings,omitempty"`
}

// PackResult is the count and the sums of one result.
type PackResult struct {
	Result executor.Result `json:"result"`
	Count  int             `json:"count"`
	Assets []PackAsset     `json:"assets"`
}

// PackAsset is a part of a result.
type PackAsset struct {
	Asset string `json:"asset"`
	Count int    `json:"count"`
	Sum   string `json:"sum"`
}

// PackVerified writes what a check of a pack of evidence found.
func (j *JSON) PackVerified(v VerifiedPack) error {
	v.Type = "verified_evidence"
	j.write(v)
	return j.end()
}

// AuditPackVerified writes, for a person, the result of a check of a pack of evidence: its
// mistakes, or its proofs and the facts that it leaves unproven. It returns only errors of w.
func AuditPackVerified(w io.Writer, v VerifiedPack, s Screen) error {
	p := newPage(w, s)
	if !v.Whole {
		v.writeFindings(p)
		return p.Flush()
	}
	p.line(span{fmt.Sprintf("%s is whole: %s, and each follows from the journal, the plan and the signatures.", Visible(v.Dir), english.Plural(v.Files, "file")), toneGood})
	rows := []field{{"run", v.RunID}, {"environment", v.Environment}, {"plan digest", v.Digest}}
	for _, r := range v.Results {
		for _, a := range r.Assets {
			rows = append(rows, field{resultWord(r.Result), fmt.Sprintf("%d  %s %s", a.Count, a.Asset, p.Scales.Shown(a.Sum, a.Asset))})
		}
	}
	for _, name := range v.Approvers {
		rows = append(rows, field{"approved by", name})
	}
	rows = append(rows, field{"journal head", v.Head}, field{"manifest", v.Manifest})
	if v.SignedBy != "" {
		rows = append(rows, field{"signed by", v.SignedBy})
	}
	p.fields(rows)
	v.writeGaps(p)
	return p.Flush()
}

// writeFindings names the faults. People and keys change while a pack stays as it is: where all findings are of keys, it
// is not called another pack.
func (v VerifiedPack) writeFindings(p *page) {
	count := len(v.Findings)
	isOfPack := slices.ContainsFunc(v.Findings, func(f PackFinding) bool { return f.Key == "" })
	said := fmt.Sprintf("but the keys here do not confirm %s.", english.Plural(count, "signature"))
	switch {
	case isOfPack:
		said = fmt.Sprintf("is not the evidence that was exported: %s.", english.Plural(count, "finding"))
	case v.isProven():
		said = "is as it was exported, " + said
	default:
		said = "agrees with itself, " + said
	}
	p.paragraph("", Visible(v.Dir)+" "+said, toneBad)
	p.line()
	for _, f := range v.Findings {
		p.paragraph("", findingText(f), toneBad)
	}
	if isOfPack {
		return
	}
	p.line()
	v.writeOrigin(p)
	if slices.ContainsFunc(v.Findings, func(f PackFinding) bool { return f.Why == approval.UnknownKey }) {
		p.paragraph("", "People and keys change. For a key that the file does not have, give the file of the time of the run, from the commit that the rules were read from, "+
			"never from the pack. A key that is used no more may stay in the file with valid-before: it counts for earlier runs.", toneNone)
	}
}

// isProven reports whether a hash that was kept elsewhere is of the pack.
func (v VerifiedPack) isProven() bool { return v.ManifestProven || v.HeadProven }

// writeGaps says what a whole pack does not prove by itself.
func (v VerifiedPack) writeGaps(p *page) {
	v.writeOrigin(p)
	if len(v.Approvers) > 0 && !v.SignersProven {
		p.paragraph("", "Without --allowed-signers, the keys are those that the journal names: nothing shows whose they are.", toneDoubt)
	}
}

// writeOrigin says where nothing shows that a pack is the one that was exported.
func (v VerifiedPack) writeOrigin(p *page) {
	if !v.isProven() {
		p.paragraph("", "Without --manifest or --head, nothing shows that it is the pack that was exported: a journal and a pack that somebody made up as a whole "+
			"look the same. Give the hash of the manifest that the export printed, or the journal head that the run printed, from where it was kept.", toneDoubt)
	}
}

func findingText(f PackFinding) string {
	at := Visible(f.File)
	if f.Line > 0 {
		at += fmt.Sprintf(", line %d", f.Line)
	}
	if f.Event > 0 {
		at += fmt.Sprintf(", event %d", f.Event)
	}
	return at + ": " + Visible(f.Text)
}
