// Package plannertest forges saved plans, as an author may who has nothing but the file: it edits each field
// and line, and makes the file's hash, and its digest, anew.
//
// Its one invariant: it knows the documented format of a plan, and uses no code that reads one.
package plannertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/planner"
)

// Headings of the tables of docs/security.md for [Words].
const (
	HeadingWords = "| field | what it says |"
	HeadingAlone = "| field | without the state |"
)

// Words are the fields that the table with a heading lists in the page docs/security.md.
func Words(page, heading string) (map[string]bool, error) {
	_, table, found := strings.Cut(page, "\n"+heading+"\n")
	if !found {
		return nil, fmt.Errorf("docs/security.md has no table %q", heading)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	words := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(table, -1) {
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			words[word[1]] = true
		}
	}
	return words, nil
}

// Forge makes the hash of an edited file anew.
func Forge(raw []byte) []byte {
	const sum = `"sha256":"`
	at := bytes.LastIndex(raw, []byte(sum))
	if at < 0 {
		return raw
	}
	head := raw[:at+len(sum)]
	hash := sha256.Sum256(head)
	return append(bytes.Clone(head), hex.EncodeToString(hash[:])+"\"}\n"...)
}

// Forgeries are an edited file with its hash made anew, and one with its digest as well where that is another.
func Forgeries(raw []byte) [][]byte {
	forged := [][]byte{Forge(raw)}
	if other := Forge(Redigest(raw)); !bytes.Equal(other, forged[0]) {
		forged = append(forged, other)
	}
	return forged
}

// Redigest puts the digest into a file that its lines have; it returns the file as it is where they have none.
func Redigest(raw []byte) []byte {
	digest, ok := digestOf(raw)
	if !ok {
		return raw
	}
	return regexp.MustCompile(`"digest":"[0-9a-f]*"`).ReplaceAll(raw, []byte(`"digest":"`+digest+`"`))
}

// digestOf computes the digest of a saved plan as package planner does, from the bytes of the file.
func digestOf(raw []byte) (string, bool) {
	var header struct {
		Environment string   `json:"environment"`
		Accepted    []string `json:"accepted"`
		Service     struct {
			BaseURL    string `json:"base_url"`
			Operator   string `json:"operator"`
			ClientID   string `json:"client_id"`
			CustomerID string `json:"customer_id"`
			TokenURL   string `json:"token_url"`
		} `json:"service"`
	}
	lines := bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n"))
	if json.Unmarshal(lines[0], &header) != nil {
		return "", false
	}
	sent, ok := sentFingerprints(lines[1:])
	if !ok {
		return "", false
	}
	s := header.Service
	texts := []string{"remit-digest/1", header.Environment, s.BaseURL, s.Operator, s.ClientID, s.CustomerID}
	if s.TokenURL != "" {
		texts = append(texts, s.TokenURL)
	}
	texts = append(texts, strconv.Itoa(len(header.Accepted)))
	texts = append(texts, slices.Sorted(slices.Values(header.Accepted))...)
	texts = append(texts, strconv.Itoa(len(sent)))
	h := sha256.New()
	for _, text := range append(texts, sent...) {
		_, _ = fmt.Fprintf(h, "%d:%s,", len(text), text)
	}
	return hex.EncodeToString(h.Sum(nil)), true
}

// sentFingerprints are those of the requests that lines of a plan send, in order.
func sentFingerprints(lines [][]byte) ([]string, bool) {
	var sent []string
	for _, line := range lines {
		var c struct {
			Action   planner.Action   `json:"action"`
			Request  transfer.Request `json:"request"`
			Recorded struct {
				Fingerprint string `json:"fingerprint"`
			} `json:"recorded"`
		}
		if json.Unmarshal(line, &c) != nil {
			return nil, false
		}
		switch c.Action {
		case planner.Submit:
			sent = append(sent, c.Request.Fingerprint().String())
		case planner.Resolve:
			sent = append(sent, c.Recorded.Fingerprint)
		case planner.None, planner.Wait, planner.Expired, planner.Conflict, planner.Failed, planner.Undeclared:
		}
	}
	slices.Sort(sent)
	return sent, true
}

// Edit is a plan file with one edit.
type Edit struct {
	Raw   []byte
	Field string // as docs/security.md names it: the line, and the path without numbers
	What  string
}

// Edits yields a file with each line and each field edited, deleted and doubled.
func Edits(raw []byte) iter.Seq[Edit] {
	lines := bytes.SplitAfter(raw, []byte("\n"))
	lines = lines[:len(lines)-1]
	return func(yield func(Edit) bool) {
		for n, line := range lines {
			kind := lineKind(n, len(lines), line)
			with := func(instead ...[]byte) []byte {
				return bytes.Join(slices.Concat(lines[:n], instead, lines[n+1:]), nil)
			}
			if kind != "header" && kind != "footer" {
				if !yield(Edit{with(), kind, fmt.Sprintf("line %d deleted", n)}) || !yield(Edit{with(line, line), kind, fmt.Sprintf("line %d doubled", n)}) {
					return
				}
			}
			for _, e := range editsOfValue(string(line), 0, kind) {
				if !yield(Edit{with([]byte(e.text)), e.field, fmt.Sprintf("line %d, %s", n, e.what)}) {
					return
				}
			}
		}
	}
}

func lineKind(n, count int, line []byte) string {
	switch {
	case n == 0:
		return "header"
	case n == count-1:
		return "footer"
	case bytes.HasPrefix(line, []byte(`{"kept":`)):
		return "kept"
	}
	return "line"
}

type textEdit struct{ text, field, what string }

// editsOfValue edits the value that begins at an offset of a line of JSON, and the values in it.
func editsOfValue(line string, at int, path string) []textEdit {
	var all []textEdit
	end := valueEnd(line, at)
	replace := func(from, to int, with, what string) {
		all = append(all, textEdit{line[:from] + with + line[to:], path, path + " " + what})
	}
	value := line[at:end]
	switch value[0] {
	case '{':
		all = append(editsOfMembers(line, at, path), addedMembers(line, at, end, path)...)
	case '[':
		replace(at, end, "[]", "emptied")
		all = append(all, editsOfElements(line, at, path)...)
	case '"':
		for _, with := range otherTexts(value) {
			replace(at, end, with, "is "+with)
		}
	case 't':
		replace(at, end, "false", "is false")
	case 'f':
		replace(at, end, "true", "is true")
	default:
		n, _ := strconv.ParseInt(value, 10, 64)
		replace(at, end, strconv.FormatInt(n+1, 10), "is one more")
		replace(at, end, strconv.FormatInt(n-1, 10), "is one less")
		replace(at, end, "0", "is 0")
	}
	return all
}

// editsOfMembers deletes each member of an object, and edits its value.
func editsOfMembers(line string, at int, path string) []textEdit {
	var all []textEdit
	for from := at + 1; line[from] != '}'; {
		nameEnd := valueEnd(line, from)
		name, _ := strconv.Unquote(line[from:nameEnd])
		start := nameEnd + 1
		next := elementEnd(line, start)
		inner := path + "." + name
		if name != "sha256" {
			cut := line[:from] + line[next:]
			cut = strings.Replace(cut, ",}", "}", 1)
			all = append(all, textEdit{cut, inner, inner + " deleted"})
			all = append(all, editsOfValue(line, start, inner)...)
		}
		from = next
	}
	return all
}

// addedMembers adds each member that an object lacks, at its start and at its end.
func addedMembers(line string, at, end int, path string) []textEdit {
	var all []textEdit
	for _, member := range additions(path) {
		name, _, _ := strings.Cut(member, ":")
		if strings.Contains(line[at:end], name+":") {
			continue
		}
		rest := strings.TrimSuffix(member, ",")
		all = append(all, textEdit{
			line[:at+1] + rest + "," + line[at+1:], path + "." + strings.Trim(name, `"`), path + "." + name + " added",
		})
		moved := line[:end-1] + "," + rest + line[end-1:]
		if path == "footer" {
			moved = strings.Replace(line, `,"applicable":`, ","+rest+`,"applicable":`, 1)
		}
		all = append(all, textEdit{moved, path + "." + strings.Trim(name, `"`), path + "." + name + " added at the end"})
	}
	return all
}

// editsOfElements deletes each element of a list, and edits it.
func editsOfElements(line string, at int, path string) []textEdit {
	var all []textEdit
	for from := at + 1; line[from] != ']'; {
		next := elementEnd(line, from)
		cut := strings.Replace(line[:from]+line[next:], ",]", "]", 1)
		all = append(all, textEdit{cut, path, path + " without an element"})
		all = append(all, editsOfValue(line, from, path)...)
		from = next
	}
	return all
}

// elementEnd is the end of the value that begins at an offset, with the comma behind it.
func elementEnd(line string, at int) int {
	end := valueEnd(line, at)
	if line[end] == ',' {
		end++
	}
	return end
}

// otherTexts are what a text may be instead: one that is a moment, an action or the body of a request
// is another one of these.
func otherTexts(value string) []string {
	text, _ := strconv.Unquote(value)
	all := []string{`""`, quoted(text + "x")}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		for _, d := range []time.Duration{-100 * 24 * time.Hour, -time.Hour, time.Minute, 100 * 24 * time.Hour} {
			all = append(all, quoted(at.Add(d).Format(time.RFC3339Nano)))
		}
	}
	for _, a := range planner.Actions() {
		if slices.Contains(planner.Actions(), planner.Action(text)) && string(a) != text {
			all = append(all, quoted(string(a)))
		}
	}
	if file, _, ok := strings.Cut(text, ":"); ok && strings.HasSuffix(file, ".hcl") {
		all = append(all, quoted("other.hcl:7"))
	}
	if sum, err := decimal.NewFromString(text); err == nil {
		all = append(all, quoted(sum.Add(decimal.NewFromInt(1)).String()), quoted("0"))
	}
	if strings.HasPrefix(text, `{"amount"`) {
		all = append(all, quoted(strings.Replace(text, `"80.00"`, `"90.00"`, 1)), quoted(strings.Replace(text, "to-", "ot-", 1)), quoted(strings.Replace(text, "landlord", "thief", 1)))
	}
	return all
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// additions are members that an object may have and that one plan or another leaves out.
func additions(path string) []string {
	switch path {
	case "header":
		return []string{
			`"targets":["batch.pay"]`, `"author_key":"SHA256:x"`, `"accepted":["accept-late=1"]`, `"expires":"2027-01-01T00:00:00Z"`,
			`"windows":[{"name":"w","timezone":"UTC","open":[],"until":"2027-01-01T00:00:00Z"}]`, `"origin":{"commit":"x"}`,
		}
	case "line":
		return []string{
			`"address":"transfer.internal.x"`, `"place":"x.hcl:1"`, `"batch":"x"`, `"from_label":true`, `"naming":"written"`, `"reverses":"x"`, `"duplicate_within":1`,
			`"accept_duplicate_of":["x"]`, `"again":true`, `"after":["x"]`, `"until":"2027-01-01T00:00:00Z"`, `"never":true`, `"expires":"2027-01-01T00:00:00Z"`,
			`"due":"2026-11-01T00:00:00Z"`, `"catch_up":1`, `"occurrence":"s 2026-11-01"`, `"windows":["w"]`, `"reason":"why"`, `"next":"do"`,
			`"differences":[{"field":"amount","asked":"1","answered":"2"}]`, `"recorded":{"status":"refused"}`,
			`"signals":[{"kind":"look-alike","ref_id":"x","accepted":"accept-duplicate=x"}]`,
		}
	case "line.signals":
		return []string{`"accepted":"accept-duplicate=x"`, `"place":"x.hcl:1"`, `"ref_id":"x"`, `"detail":"x"`}
	case "kept.kept":
		return []string{`"batch":"x"`, `"block":"x"`, `"due":"2026-11-01T00:00:00Z"`, `"occurrence":"s 2026-11-01"`, `"reverses":"x"`}
	case "footer":
		return []string{
			`"obstacles":[{"kind":"limit","count":1,"detail":"x"}]`, `"namings":["x"]`,
			`"batches":[{"name":"x","count":0,"assets":[],"hash_total":"0"}]`,
		}
	case "footer.batches":
		return []string{`"controlled":true`, `"control":{"place":"x:1","count":1}`}
	}
	return nil
}

// valueEnd is where the value ends that begins at an offset of a line of JSON without spaces.
func valueEnd(line string, at int) int {
	d := json.NewDecoder(strings.NewReader(line[at:]))
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		panic(fmt.Sprintf("no JSON at %q", line[at:]))
	}
	return at + int(d.InputOffset())
}
