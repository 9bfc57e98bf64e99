package view

import (
	"strings"

	"remit/planner"
	"remit/state"
)

// sandboxLine is what all begins with that happens where no money moves.
func sandboxLine(environment string) string {
	const line = "SANDBOX: no money moves"
	if of, isNamed := strings.CutPrefix(environment, state.Sandbox+"/"); isNamed {
		return line + " (environment " + Visible(of) + ")"
	}
	return line
}

// environmentWord is an environment with the word for a protected one.
func (s Screen) environmentWord(environment string) string {
	if s.Protected {
		return environment + ", protected"
	}
	return environment
}

// environmentLine is the first line of what a command writes: where money moves, in a colour of its own where the
// environment is protected.
func (p *page) environmentLine(isSandbox bool, environment string, of state.Identity) {
	if isSandbox {
		p.line(span{sandboxLine(environment), toneGood})
		return
	}
	said := strong("Environment: " + Visible(p.environmentWord(environment)))
	if p.Protected {
		said.tone = toneDoubt
	}
	p.line(said, plain(inBrackets(serviceName(planner.Header{Service: of}))))
}

// environmentHead is [page.environmentLine] in Markdown.
func (m *markdown) environmentHead(s Screen, isSandbox bool, environment string, of state.Identity) {
	if isSandbox {
		m.printf("**%s**\n\n", sandboxLine(environment))
		return
	}
	word := ""
	if s.Protected {
		word = ", **protected**"
	}
	m.printf("**Environment:** %s%s (%s)\n\n", codeSpan(environment), word, codeSpan(serviceName(planner.Header{Service: of})))
}
