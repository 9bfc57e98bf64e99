package sandbox

import (
	"encoding/json"
	"net/http"
)

// problemBase begins the type of each problem; nothing is to be found there.
const problemBase = "https://sandbox.invalid/problems/"

// problem is an error body in the form of RFC 9457. It is an error, too.
type problem struct {
	Type   string         `json:"type"`
	Title  string         `json:"title"`
	Status int            `json:"status"`
	Detail string         `json:"detail,omitempty"`
	Meta   map[string]any `json:"meta,omitempty"`
}

// Error returns the title and the detail.
func (p *problem) Error() string { return p.Title + ": " + p.Detail }

func (p *problem) write(w http.ResponseWriter) {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // our own structs always have a JSON form
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_, _ = w.Write(body)
}

func fail(w http.ResponseWriter, status int, kind, title string) {
	(&problem{Type: problemBase + kind, Title: title, Status: status}).write(w)
}

func invalid(status int, kind, detail string) *problem {
	return &problem{Type: problemBase + kind, Title: "The request is not valid", Status: status, Detail: detail}
}
