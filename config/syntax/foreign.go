package syntax

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/text/lazyregexp"
)

// foreign says of a file that cannot be parsed what it is instead; nil where it seems to be one of
// the language.
func foreign(content []byte, name string) *hcl.Diagnostic {
	at := func(line int) hcl.Range {
		return text{name: name, lines: strings.Split(string(content), "\n")}.at(line)
	}
	top := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	isZIP := bytes.HasPrefix(content, []byte("PK\x03\x04")) // which has any bytes in it
	if !isZIP && bytes.IndexByte(content, 0) >= 0 || bytes.HasPrefix(content, []byte("\xff\xfe")) || bytes.HasPrefix(content, []byte("\xfe\xff")) {
		return ours(mistake.New(top, "File is not UTF-8", "This file is UTF-16, or no text at all. Save it again as UTF-8, in Notepad by:\n\n  File > Save as > Encoding: UTF-8"))
	}
	if line, marker := conflict(content); line > 0 {
		return ours(mistake.New(at(line), "Merge conflict is left in the file", "%s is a marker of git: two people changed the same lines. Keep the right ones, and delete the others and the lines that begin with <<<<<<<, ======= and >>>>>>>.", marker))
	}
	for _, kind := range kinds {
		if strings.HasSuffix(name, ".json") && kind.isJSON {
			continue
		}
		if kind.begins.Match(content) {
			return ours(mistake.New(at(firstLine(content)), kind.summary, "%s", kind.detail))
		}
	}
	if !utf8.Valid(content) {
		line := 1 + bytes.Count(content[:firstInvalid(content)], []byte("\n"))
		return ours(mistake.New(at(line), "File is not UTF-8", "A letter of this line, such as ä or é, is not encoded in UTF-8. Save the file as UTF-8 in the editor."))
	}
	return nil
}

func ours(d *hcl.Diagnostic) *hcl.Diagnostic {
	d.Extra = &mistake.Origin{Column: d.Subject.Filename, Reason: d.Detail}
	return d
}

// conflict finds the first marker that a merge left: its line, which is 0 for none, and its signs.
func conflict(content []byte) (line int, marker string) {
	for i, text := range bytes.Split(content, []byte("\n")) {
		for _, marker := range []string{"<<<<<<< ", ">>>>>>> ", "||||||| "} {
			if bytes.HasPrefix(text, []byte(marker)) {
				return i + 1, strings.TrimSpace(marker)
			}
		}
		if string(bytes.TrimRight(text, "\r")) == "=======" {
			return i + 1, "======="
		}
	}
	return 0, ""
}

// firstInvalid is where the first byte is that is no UTF-8.
func firstInvalid(content []byte) int {
	for i := 0; i < len(content); {
		r, size := utf8.DecodeRune(content[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(content)
}

// firstLine is the first line with text.
func firstLine(content []byte) int {
	trimmed := bytes.TrimLeft(content, "\ufeff \t\r\n")
	return 1 + bytes.Count(content[:len(content)-len(trimmed)], []byte("\n"))
}

// kinds are files that someone may take for a configuration, by how they begin.
var kinds = []struct {
	begins          *lazyregexp.Regexp
	summary, detail string
	isJSON          bool
}{
	{
		lazyregexp.New("^PK\x03\x04"), "File is a workbook",
		"This is a workbook or another ZIP file. Name it with its own ending, and let a data block read it:\n\n  data \"xlsx\" \"payroll\" {", false,
	},
	{lazyregexp.New(`^%PDF`), "File is a PDF", "This is a PDF, and no text. Put the configuration in its place, or move the file out of the directory.", false},
	{lazyregexp.New(`^\{\\rtf`), "File is one of a word processor", "This file was saved by a word processor with its formats. Save it there as plain text in UTF-8.", false},
	{
		lazyregexp.New(`(?i)^[\s\x{feff}]*<(!doctype|html|\?xml|!--)`), "File is HTML or XML",
		"This file begins as a page of the web or XML does, and a comment of the language begins with #. If a page was saved by mistake, put the configuration in its place.", false,
	},
	{
		lazyregexp.New(`^(diff --git .*|--- .*\n\+\+\+ .*|@@ .*)`), "File is a patch",
		"This file says how another one changes, and is none itself. Apply it to that one:\n\n  git apply FILE", false,
	},
	{
		lazyregexp.New("^\\s*```"), "Fence of a page is left in the file",
		"Three backquotes begin and end an example on a page of Markdown. Delete these lines, here and at the end.", false,
	},
	{
		lazyregexp.New(`^(\s*[;#].*\n|\s*\n)*\[+[A-Za-z_][\w.-]*\]+[ \t\r]*\n`), "File is INI or TOML",
		"This file has sections in brackets. In the language of remit a block has braces, and a text quotation marks:\n\n  transfer \"internal\" \"rent\" {\n    amount = \"8200.00\"\n  }", true,
	},
	{
		lazyregexp.New(`^[\s\x{feff}]*[{\[]`), "File is JSON",
		"This file begins as JSON does, and its name says that it is HCL. Give it a name that ends in .hcl.json:\n\n  main.hcl.json", true,
	},
	{
		lazyregexp.New(`^(\s*#.*\n|\s*\n)*(---\s*\n|[\w-]+:[ \t]*\r?\n\s*(- |[\w-]+:))`), "File is YAML",
		"This file is written in YAML. In the language of remit a block has braces, and an argument an equals sign:\n\n  transfer \"internal\" \"rent\" {\n    amount = \"8200.00\"\n  }", true,
	},
	{
		lazyregexp.New(`^[\s\x{feff}]*[^\s={}"#/,;\t][^={}"\n,;\t]*([,;\t])[^={}"\n]*\n[^={}\n]*[,;\t]`), "File is CSV",
		"This file has rows with a delimiter between fields. It belongs in a file whose name ends in .csv, which a data block reads:\n\n  data \"csv\" \"payroll\" {\n    file = \"payroll.csv\"\n    key  = \"employee\"\n  }", true,
	},
}
