package view

import "strings"

// overriddenTitle stands before the name of a limit that a person overrode.
const overriddenTitle = "Overridden limit"

// splitAccepted takes the limits that a person overrode out of the accepted names. They are the weightiest of it, and in the
// order of the flags they come last: no list of ref_ids may hide them.
func splitAccepted(accepted []string) (limits, others []string) {
	for _, text := range accepted {
		if name, isLimit := strings.CutPrefix(text, "override-limit="); isLimit {
			limits = append(limits, name)
		} else {
			others = append(others, text)
		}
	}
	return limits, others
}

// accepted writes each overridden limit, and then the list of what else was accepted, or only its beginning.
func (p *page) accepted(accepted []string, inBrief bool) {
	limits, others := splitAccepted(accepted)
	for _, name := range limits {
		p.paragraph("", overriddenTitle+": "+Visible(name), toneDoubt)
	}
	p.named("Accepted", others, inBrief)
}

// accepted is [page.accepted] in Markdown.
func (m *markdown) accepted(accepted []string) {
	limits, others := splitAccepted(accepted)
	for _, name := range limits {
		m.printf("**%s:** %s\n\n", overriddenTitle, codeSpan(name))
	}
	m.named("Accepted", others)
}

// acceptedLists are the same of a page of HTML, which shows every list whole.
func acceptedLists(title string, accepted []string) []namedList {
	limits, others := splitAccepted(accepted)
	return []namedList{{overriddenTitle + "s", limits}, {title, others}}
}
