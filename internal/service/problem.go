package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"html"
	"io"
	"mime"
	"strings"

	"remit/internal/transfer"
)

const (
	// problemTextMax bounds, in bytes, the kept text of an error body that is not a problem.
	problemTextMax = 2 << 10
	// problemMax bounds, in bytes, a problem that is kept as it came.
	problemMax = 64 << 10
)

// problem is an error body in the form of RFC 9457.
type problem struct {
	Type   string          `json:"type"`
	Title  string          `json:"title"`
	Status json.Number     `json:"status"`
	Detail string          `json:"detail"`
	Meta   json.RawMessage `json:"meta"`
}

// parseProblem reports whether body is one JSON object whose members of RFC 9457 have their
// types, at least one of the three that say something among them. Names are compared
// exactly; further members are allowed. A status may be a number in a string, which RFC 9457 has
// ignored; another text is the status of a transfer record, which has a type as well.
func parseProblem(body []byte) (problem, bool) {
	var fields map[string]json.RawMessage
	if transfer.TooDeep(body) || json.Unmarshal(body, &fields) != nil || fields == nil {
		return problem{}, false
	}
	var p problem
	for name, into := range map[string]any{
		"type": &p.Type, "title": &p.Title, "detail": &p.Detail, "status": &p.Status,
	} {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, into) != nil {
			return problem{}, false
		}
	}
	if p.Status != "" {
		if _, err := p.Status.Int64(); err != nil {
			return problem{}, false
		}
	}
	p.Meta = fields["meta"]
	return p, p.Type != "" || p.Title != "" || p.Detail != ""
}

// hasProblem reports whether an error body is one in the form of RFC 9457.
func hasProblem(body []byte) bool {
	_, ok := parseProblem(body)
	return ok
}

// alreadyExists reports whether the problem says that the ref_id is known.
func (p problem) alreadyExists() bool { return strings.HasSuffix(p.Type, "already-exists") }

// existing returns the transfer record in meta.existing; nil if none can be read.
func (p problem) existing() *transfer.Record {
	var meta map[string]json.RawMessage
	if json.Unmarshal(p.Meta, &meta) != nil {
		return nil
	}
	return recordIn(meta["existing"])
}

// recordIn returns raw as a transfer record; nil if it is none.
func recordIn(raw []byte) *transfer.Record {
	record, err := transfer.ParseRecord(raw)
	if err != nil {
		return nil
	}
	return &record
}

// words returns the title and the detail as a person reads them.
func (p problem) words() string {
	switch {
	case p.Title != "" && p.Detail != "":
		return visible(p.Title) + ": " + visible(p.Detail)
	case p.Title != "" || p.Detail != "":
		return visible(p.Title + p.Detail)
	}
	return visible(p.Type)
}

// textWords returns an error body that is no problem as a person reads it; of a page for a browser its title, "" where it has none.
func textWords(body []byte) string {
	text := strings.Join(strings.Fields(string(body[:min(len(body), problemTextMax)])), " ")
	if strings.HasPrefix(text, "<") {
		text = titleOf(text)
	}
	return visible(text)
}

// titleOf is the text of a page's title.
func titleOf(page string) string {
	const begin, end = "<title>", "</title>"
	small := strings.ToLower(page)
	from := strings.Index(small, begin)
	if from < 0 || len(small) != len(page) {
		return ""
	}
	title := page[from+len(begin):]
	to := strings.Index(small[from+len(begin):], end)
	return strings.TrimSpace(html.UnescapeString(title[:max(to, 0)]))
}

// isWebPage reports whether a body is one for people, such as that of a proxy or of another server.
func isWebPage(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

// isCutOff reports whether a body in JSON ends before its JSON does: its end was lost on the way, where neither a length nor the end
// of the connection tells, and the rest might have said that the transfer exists. Text that is no JSON at all is another matter.
func isCutOff(ex exchange) bool {
	media, _, _ := mime.ParseMediaType(ex.header.Get("Content-Type")) // "" where it can't be read
	isJSON := media == "application/json" || strings.HasSuffix(media, "+json") || bytes.HasPrefix(bytes.TrimSpace(ex.body), []byte("{"))
	var value json.RawMessage
	return isJSON && errors.Is(json.NewDecoder(bytes.NewReader(ex.body)).Decode(&value), io.ErrUnexpectedEOF)
}

// keep returns the part of an error body that the state keeps: a problem as it came, of anything else
// the first 2 KiB as a JSON string; nil if the body is empty.
func keep(body []byte, isProblem bool) json.RawMessage {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return nil
	case isProblem && len(body) <= problemMax:
		return bytes.Clone(body)
	}
	text := strings.ToValidUTF8(string(body[:min(len(body), problemTextMax)]), "?")
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return quoted
}
