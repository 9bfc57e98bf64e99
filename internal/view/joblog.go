package view

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
)

// jobLog writes to the log of a CI job. Its invariant: nothing that is written to it is a command to
// the job's runner, by any author of the text.
type jobLog struct {
	to       io.Writer
	anywhere []string // text that begins a command in any place
	atStart  []string // text that does where only space precedes it in a line

	mu      sync.Mutex
	tail    []byte // of the line, as it was written; no longer than the longest beginning
	isStart bool   // only space was written to the line so far, and what atStart may begin with
}

// JobLog is a writer to what a CI job prints, which lookup recognises by its environment. Some runners
// take commands from what a job prints: GitHub Actions a line that begins with :: after spaces, and ##[
// anywhere; GitLab the markers of sections; Azure Pipelines and TeamCity theirs. The last character of
// such a beginning is written as an escape, such as \u003a. Outside of such a job it is to itself.
func JobLog(to io.Writer, lookup func(string) (string, bool)) io.Writer {
	isSet := func(name string) bool { value, ok := lookup(name); return ok && value != "" && value != "false" }
	log := &jobLog{to: to, isStart: true}
	if isSet("GITHUB_ACTIONS") {
		log.atStart = append(log.atStart, "::")
		log.anywhere = append(log.anywhere, "##[")
	}
	if isSet("GITLAB_CI") {
		log.anywhere = append(log.anywhere, "section_start:", "section_end:")
	}
	if isSet("TF_BUILD") {
		log.anywhere = append(log.anywhere, "##[", "##vso[")
	}
	if isSet("TEAMCITY_VERSION") {
		log.anywhere = append(log.anywhere, "##teamcity[")
	}
	if len(log.anywhere) == 0 {
		return to
	}
	return log
}

// Write implements io.Writer. Each byte is written before it returns: a beginning that is cut in two by
// two calls is seen in the second.
func (l *jobLog) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]byte, 0, len(text)+8)
	for _, c := range text {
		if l.begins(c) {
			out = append(out, escape(rune(c))...)
			l.tail, l.isStart = l.tail[:0], false
			continue
		}
		out = append(out, c)
		l.take(c)
	}
	if _, err := l.to.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// begins reports whether c would end the beginning of a command.
func (l *jobLog) begins(c byte) bool {
	if c != ':' && c != '[' {
		return false
	}
	ends := func(beginning string) bool {
		last := len(beginning) - 1
		return beginning[last] == c && bytes.HasSuffix(bytes.ToLower(l.tail), []byte(beginning[:last]))
	}
	return slices.ContainsFunc(l.anywhere, ends) || l.isStart && slices.ContainsFunc(l.atStart, ends)
}

// take notes a byte that was written as it is.
func (l *jobLog) take(c byte) {
	const tailMax = len("section_start:")
	if l.tail = append(l.tail, c); len(l.tail) > tailMax {
		l.tail = append(l.tail[:0], l.tail[1:]...)
	}
	switch {
	case c == '\n' || c == '\r':
		l.tail, l.isStart = l.tail[:0], true
	case c <= ' ' || c >= 0x80: // a character beyond ASCII may be a space as well, or a mark of the byte order
	case !slices.ContainsFunc(l.atStart, func(beginning string) bool { return strings.IndexByte(beginning, c) == 0 }):
		l.isStart = false
	}
}
