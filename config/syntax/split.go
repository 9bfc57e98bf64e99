package syntax

import (
	"bytes"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Bounds of parts.
const (
	SplitAbove = 32 << 10 // bytes of a file that is read in parts
	partBytes  = 4 << 10  // about so long are the parts of transfers
)

// Part is some whole blocks of a file in HCL's native syntax. A file that is parsed in parts
// needs memory for few of them at once, and all cores.
//
// Parts that each parse without a mistake mean together what the file means: each ends with
// a line, outside of every bracket, text and comment, or it would be a mistake that it ends
// there; so the tokens of the file are those of its parts. Where a part has a mistake, the
// whole file is parsed to say which.
type Part struct {
	name          string
	content       []byte
	start         hcl.Pos
	TransfersOnly bool // it has transfer blocks and nothing else, and is parsed late
	Body          *hclsyntax.Body
}

// Content is the text of the part, which is not to be changed.
func (p *Part) Content() []byte { return p.content }

// Split cuts a file where a line ends at the top, so that transfer blocks have parts of their own: several of them share one, unless
// each is to have its own. It is nil where the file has a mistake for certain: a text that its line does not end, a bracket too
// few or of another kind, or a hidden character.
func Split(content []byte, name string, each bool) []*Part {
	if checkSeen(content, name) != nil {
		return nil
	}
	outline := outline{src: content}
	var parts []*Part
	for from, line := 0, 1; from < len(content); {
		end, ok := outline.next()
		if outline.wrong {
			return nil
		}
		if !ok {
			end = len(content)
		}
		segment := content[from:end]
		isTransfer := ok && startsTransfer(segment)
		if n := len(parts) - 1; n < 0 || !parts[n].takes(isTransfer, ok && isBlank(segment), each) {
			start := hcl.Pos{Line: line, Column: 1, Byte: from}
			parts = append(parts, &Part{name: name, start: start, TransfersOnly: isTransfer})
		}
		last := parts[len(parts)-1]
		last.content = content[last.start.Byte:end]
		line += bytes.Count(segment, []byte{'\n'})
		from = end
	}
	return parts
}

// takes reports whether lines can be added to the part: those of a transfer, nothing but a
// comment, or neither.
func (p *Part) takes(isTransfer, isBlank, each bool) bool {
	if p.TransfersOnly {
		return isBlank || isTransfer && !each && len(p.content) < partBytes
	}
	return !isTransfer
}

func startsTransfer(lines []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(lines, " \t"), []byte("transfer"))
	return ok && bytes.IndexAny(rest, " \t\"") == 0
}

func isBlank(lines []byte) bool {
	text := bytes.TrimLeft(lines, " \t\r\n")
	return len(text) == 0 || text[0] == '#' || bytes.HasPrefix(text, []byte("//"))
}

// Parse returns the body; nil where it has a mistake or is not what it was taken for.
func (p *Part) Parse() *hclsyntax.Body {
	body := parsePlain(p.content, p.name, p.start)
	if body == nil {
		body = p.parseAny()
	}
	isOther := func(b *hclsyntax.Block) bool { return b.Type != "transfer" }
	if body == nil || len(body.Attributes) > 0 || p.TransfersOnly && slices.ContainsFunc(body.Blocks, isOther) {
		return nil
	}
	return body
}

// parseAny parses with HCL's own parser; nil where there is a mistake.
func (p *Part) parseAny() *hclsyntax.Body {
	if CheckNesting(p.content, p.name, p.start, hclsyntax.LexConfig).HasErrors() {
		return nil
	}
	file, diags := hclsyntax.ParseConfig(p.content, p.name, p.start)
	if len(diags) > 0 {
		return nil
	}
	return file.Body.(*hclsyntax.Body)
}

// Nav finds the block at an offset for snippets, as the Nav of a whole file does.
type Nav []*Part

// ContextString names the block that an offset is in.
func (n Nav) ContextString(offset int) string {
	i, found := slices.BinarySearchFunc(n, offset, func(p *Part, offset int) int { return p.start.Byte - offset })
	if !found {
		i--
	}
	if i < 0 {
		return ""
	}
	file, _ := parse(n[i].content, n[i].name)
	if file == nil {
		return ""
	}
	whole, ok := file.Nav.(interface{ ContextString(offset int) string })
	if !ok {
		return ""
	}
	return whole.ContextString(offset - n[i].start.Byte)
}
