package view

import (
	"fmt"
	"io"

	"remit/internal/text/english"
)

// Generated is a file of blocks for what the state has and no file declared.
type Generated struct {
	File    string
	Blocks  int
	LeftOut []LeftOut // in order of ref_id
}

// LeftOut is a transfer that has no block, and why.
type LeftOut struct {
	RefID  string `json:"ref_id"`
	Reason string `json:"reason"`
}

// generatedMost is how many of those without a block are listed.
const generatedMost = 20

// GeneratedConfig lists the written files, for a person. It returns only errors of w.
func GeneratedConfig(w io.Writer, g *Generated, s Screen) error {
	p := newPage(w, s)
	switch {
	case g.Blocks > 0:
		p.paragraph("", fmt.Sprintf("Wrote %s to %s, for transfers that the state has and no file declared. A plan has nothing to do for it. Nothing was sent.",
			english.Plural(g.Blocks, "block"), Visible(g.File)), toneStrong)
	case len(g.LeftOut) > 0:
		p.paragraph("", "No block was written.", toneStrong)
	default:
		p.paragraph("", "Every transfer that the state has is declared. No file was written.", toneStrong)
	}
	if len(g.LeftOut) > 0 {
		p.line()
		p.line(strong("No block for " + english.Plural(len(g.LeftOut), "transfer")))
		for i := range g.LeftOut[:min(len(g.LeftOut), generatedMost)] {
			p.paragraph("  ", Visible(g.LeftOut[i].RefID+": "+g.LeftOut[i].Reason), toneDoubt)
		}
		if more := len(g.LeftOut) - generatedMost; more > 0 {
			p.line(dim(fmt.Sprintf("  and %d more", more)))
		}
	}
	if g.Blocks > 0 {
		p.line()
		p.line(plain("Next:"))
		p.command("", p.here("remit plan"))
	}
	return p.Flush()
}

// generatedLine is a [Generated] for programs.
type generatedLine struct {
	Type    string    `json:"type"` // "generated"
	File    string    `json:"file"`
	Blocks  int       `json:"blocks"` // 0: there is no file
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// Generated writes the list of written files. It returns the first error of writing.
func (j *JSON) Generated(g *Generated) error {
	j.write(generatedLine{"generated", g.File, g.Blocks, g.LeftOut})
	return j.end()
}
