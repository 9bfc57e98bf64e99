package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"remit/executor"
	"remit/internal/approval"
	"remit/internal/transfer"
	"remit/state"
)

// made is what the journal's part of a pack makes of the rest of it, the plan aside.
type made struct {
	facts     Facts
	past      *executor.PastRun
	approvals []state.Approval
}

// derive reads how the run's transfers ended.
func derive(ctx context.Context, p *part, version string) (*made, error) {
	past, err := executor.ReadPast(ctx, p, p.run.Begun.RunID)
	if err != nil {
		return nil, err
	}
	b := p.run.Begun
	m := &made{past: past, approvals: b.Approvals}
	m.facts = Facts{
		Format: Format, Remit: version,
		Environment: b.Environment, Lineage: b.Lineage, Service: b.Service, Origin: b.Origin,
		Run: RunFacts{
			RunID: b.RunID, By: b.By, Begun: p.run.BegunAt, Ended: p.run.EndedAt,
			PlanID: b.PlanID, Digest: b.Digest, Author: b.Author, Controls: b.Controls, ControlList: b.ControlList, Accepted: b.Accepted,
		},
		Plan:      PlanFacts{Absent: planAbsent},
		Approvals: []Approval{},
		Journal:   p.journal,
		Results:   results(past),
	}
	if ended := p.run.Ended; ended != nil {
		m.facts.Run.Complete, m.facts.Run.Stopped = ended.Complete, ended.Error
	}
	if b.PlanSHA256 != "" {
		m.facts.Plan = PlanFacts{File: PlanFile, Name: b.PlanFile, SHA256: b.PlanSHA256}
	}
	for i, a := range b.Approvals {
		m.facts.Approvals = append(m.facts.Approvals, Approval{
			Role: a.Role, Principal: a.Principal, Fingerprint: a.Fingerprint, Key: a.Key,
			File: approvalFile(i, a), FoundAs: a.File, SHA256: a.SHA256,
		})
	}
	return m, nil
}

// approvalFile names the file of an approval: the name that it had beside the plan may be any.
func approvalFile(i int, a state.Approval) string {
	if isPasskey(a) {
		return fmt.Sprintf("approval-%02d%s", i+1, approval.PasskeySuffix)
	}
	return fmt.Sprintf("approval-%02d.sig", i+1)
}

func results(past *executor.PastRun) []Result {
	list := []Result{}
	totals := past.Summary().Totals
	for _, result := range executor.Results() {
		t := totals[result]
		if t == nil {
			continue
		}
		r := Result{Result: result, Count: t.Count(), Assets: []Asset{}}
		for total := range t.All() {
			r.Assets = append(r.Assets, Asset{total.Asset, total.Count, transfer.Digits(total.Sum)})
		}
		list = append(list, r)
	}
	return list
}

// file is one file that is made from the journal's part.
type file struct {
	name  string
	write func(io.Writer) error
}

func (m *made) files(faces []Face) []file {
	list := []file{{FactsFile, copyOf(m.facts.text())}}
	for _, face := range faces {
		list = append(list, file{face.File, func(w io.Writer) error { return face.Write(w, m.past) }})
	}
	if text := m.signers(false); len(text) > 0 {
		list = append(list, file{SignersFile, copyOf(text)})
	}
	if text := m.signers(true); len(text) > 0 {
		list = append(list, file{PasskeysFile, copyOf(text)})
	}
	for i, a := range m.approvals {
		list = append(list, file{approvalFile(i, a), copyOf([]byte(a.Signature))})
	}
	return list
}

// text is the facts as a pack has them.
func (f *Facts) text() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil {
		panic(err) // texts, numbers and times of the journal
	}
	return b.Bytes()
}

// signers is an allowed_signers file of OpenSSH with the keys as they are in the journal, or an allowed_passkeys
// file; empty where nobody approved so.
func (m *made) signers(passkeys bool) []byte {
	var b bytes.Buffer
	for _, a := range m.approvals {
		switch {
		case isPasskey(a) != passkeys:
		case passkeys:
			fmt.Fprintf(&b, "%s %s\n", principalText(a.Principal), strings.TrimPrefix(a.Key, "passkey "))
		default:
			fmt.Fprintf(&b, "%s namespaces=\"remit-plan\" %s\n", principalText(a.Principal), a.Key)
		}
	}
	return b.Bytes()
}

// principalText is a principal as an allowed_signers file has it.
func principalText(name string) string {
	if strings.ContainsAny(name, " \t") {
		return `"` + name + `"`
	}
	return name
}
