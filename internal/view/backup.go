package view

import (
	"fmt"
	"io"
	"iter"
	"time"

	"remit/internal/text/english"
	"remit/state"
)

// Backup is a verified copy of a state.
type Backup struct {
	Type   string `json:"type"` // "backup"
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	Events int64  `json:"events"`
	Head   string `json:"head"`
}

// StateBackup writes where the copy of a state is and up to which hash, for a person.
func StateBackup(w io.Writer, b Backup, s Screen) error {
	p := newPage(w, s)
	p.line(span{fmt.Sprintf("The state was copied to %s and verified there: %s.", b.File, english.Plural(int(b.Events), "event")), toneGood})
	p.line(plain("Journal head: " + b.Head))
	return p.Flush()
}

// StateBackup writes the same for a program.
func (j *JSON) StateBackup(b Backup) error {
	b.Type = "backup"
	j.write(b)
	return j.end()
}

// stateLine is what a state says of itself.
type stateLine struct {
	Type        string         `json:"type"` // "state"
	Environment string         `json:"environment"`
	Lineage     string         `json:"lineage"`
	Service     state.Identity `json:"service"`
	CreatedAt   time.Time      `json:"created_at"`
	Serial      int64          `json:"serial"`
	Head        string         `json:"head"`
}

// StateExport writes a whole state: a "state", a "transfer" with all that is known of it for
// each detail, an "event" for each event, and a "state_exported" at its end, without which it
// was cut off. An error that details or events yield ends it and is returned.
func (j *JSON) StateExport(meta state.Meta, details iter.Seq2[*state.Detail, error], events iter.Seq2[state.Event, error]) error {
	j.write(stateLine{
		Type: "state", Environment: meta.Environment, Lineage: meta.Lineage, Service: meta.Service,
		CreatedAt: meta.CreatedAt, Serial: meta.Serial, Head: meta.Head,
	})
	transfers := 0
	for d, err := range details {
		if err != nil {
			_ = j.end()
			return err
		}
		j.write(newDetailLine(d))
		transfers++
		if j.err != nil {
			return j.end()
		}
	}
	var written int64
	for e, err := range events {
		if err != nil {
			_ = j.end()
			return err
		}
		j.write(eventLine{"event", e})
		written++
		if j.err != nil {
			return j.end()
		}
	}
	j.write(exportedLine{"state_exported", transfers, written})
	return j.end()
}

// exportedLine ends an export.
type exportedLine struct {
	Type      string `json:"type"` // "state_exported"
	Transfers int    `json:"transfers"`
	Events    int64  `json:"events"`
}
