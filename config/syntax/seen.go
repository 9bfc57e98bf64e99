package syntax

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/mistake"
	"remit/internal/transfer"
)

const seenOtherwise = "Text cannot be seen as it is"

// checkSeen refuses a file that a reader sees otherwise than the parser, in its comments too: HCL ends a line at a line feed alone, so
// that a block behind another end of a line may show, and be part of a comment. It tells the first place of each such character.
func checkSeen(content []byte, name string) hcl.Diagnostics {
	mark := len(content) - len(bytes.TrimPrefix(content, []byte("\ufeff")))
	first, count := map[rune]int{}, map[rune]int{}
	var order []rune
	var comments []hcl.Range
	for at, r := range transfer.HiddenIn(content[mark:]) {
		at += mark
		if transfer.JoinsLetters(r) && followsItsLetter(content[:at]) {
			continue // a value that may not have it, such as a ref_id, is refused where it is read
		}
		if transfer.JoinsLetters(r) && !strings.HasSuffix(name, ".json") {
			if comments == nil {
				comments = commentsOf(content)
			}
			if isWithin(comments, at) {
				continue
			}
		}
		if count[r]++; count[r] == 1 {
			first[r], order = at, append(order, r)
		}
	}
	var diags hcl.Diagnostics
	for _, r := range order {
		diags = append(diags, notSeen(content, name, first[r], r, count[r]-1))
	}
	return diags
}

// followsItsLetter reports whether the text before a character that joins letters ends in one that may need it: a letter of another
// alphabet, or an emoji. Behind the letters of ASCII it only hides.
func followsItsLetter(before []byte) bool {
	r, _ := utf8.DecodeLastRune(before)
	return r >= utf8.RuneSelf && r != utf8.RuneError
}

// notSeen is the mistake of a hidden character at an offset, of which the file has some more.
func notSeen(content []byte, name string, at int, r rune, more int) *hcl.Diagnostic {
	line := bytes.LastIndexByte(content[:at], '\n') + 1
	start := hcl.Pos{Line: 1 + bytes.Count(content[:at], []byte{'\n'}), Column: 1 + utf8.RuneCount(content[line:at]), Byte: at}
	end := start
	end.Column++
	end.Byte += utf8.RuneLen(r)
	why := transfer.SeenOtherwise(r)
	what := " Delete it."
	if strings.Contains(why, "new line") {
		what = " A reviewer could take the text behind it for lines of the file while it is part of a comment. End the line there with a line feed, or delete the character."
	}
	if more > 0 {
		what += fmt.Sprintf(" The file has it %d more times.", more)
		what = strings.Replace(what, " 1 more times", " once more", 1)
	}
	return mistake.New(hcl.Range{Filename: name, Start: start, End: end}, seenOtherwise, "Here is the character %U, %s.%s", r, why, what)
}

// commentsOf are the places of the comments of a file of native syntax, in order. They are not nil.
func commentsOf(content []byte) []hcl.Range {
	comments := []hcl.Range{}
	tokens, _ := hclsyntax.LexConfig(content, "", hcl.InitialPos) // the parser reports its mistakes
	for _, token := range tokens {
		if token.Type == hclsyntax.TokenComment {
			comments = append(comments, token.Range)
		}
	}
	return comments
}

// isWithin reports whether an offset is within one of some ranges, which are in order.
func isWithin(ranges []hcl.Range, at int) bool {
	i, _ := slices.BinarySearchFunc(ranges, at, func(r hcl.Range, at int) int { return r.End.Byte - at - 1 })
	return i < len(ranges) && ranges[i].Start.Byte <= at
}
