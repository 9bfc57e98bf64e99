package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// clausesMax is how many clauses such as "what is recorded" 10,000 words of comments may have: see docs/style.md.
const clausesMax = 5

// clauseVerbs follow "what" where it is the subject of a clause, in the place of a noun.
const clauseVerbs = `is|are|was|were|has|have|had|does|do|did|can|could|may|might|must|would|will|should|never|only|still|also|` +
	`stands?|stood|comes?|came|goes|went|happens?|happened|becomes?|became|begins?|began|ends?|ended|follows?|followed|` +
	`keeps?|kept|makes?|made|needs?|needed|waits?|waited|fails?|failed|belongs?|differs?|depends?|changes|changed|` +
	`leads?|led|tells?|told|says?|said|shows|showed|holds?|held|gives?|gave|takes?|took|moves|moved|lacks?|reads|writes|` +
	`records|counts|costs?|runs|asks|starts?|stops?|survives?|remains?|arrives?|fits|lets|names|refers|sends|waits|matters`

// TestCommentsNameTheirSubjects counts clauses in the places of nouns, and sentences that begin with one.
func TestCommentsNameTheirSubjects(t *testing.T) {
	clause := regexp.MustCompile(`(?i)\b(what(ever)?\s+(` + clauseVerbs + `)\b|who(m|se)?ever\b)|(?-i:(?:^|[.!?] )(?:What|Who)\b)`)
	words, found := 0, []string{}
	for _, s := range goFiles(t) {
		for _, group := range s.file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			words += len(strings.Fields(text))
			for _, match := range clause.FindAllString(text, -1) {
				found = append(found, fmt.Sprintf("%s:%d: %s", s.path, s.line(group.Pos()), match))
			}
		}
	}
	if len(found)*10_000 > clausesMax*words {
		t.Errorf("%d clauses in %d words of comments, and at most %d in 10,000 may be: name the subject\n%s", len(found), words, clausesMax, strings.Join(found, "\n"))
	}
	t.Logf("%d clauses in %d words of comments", len(found), words)
}
