package view_test

import (
	"bytes"
	"strings"
	"testing"

	"remit/internal/view"
)

// TestAReviewIsAsLargeAsThePage compares the bytes of a review of 10,000 transfers with those of show --html, whose rows it has.
func TestAReviewIsAsLargeAsThePage(t *testing.T) {
	const formMax = 4 << 10
	plan, options := crowdedPlan(10_000), view.PlanOptions{Saved: true, ShowAll: true}
	var review bytes.Buffer
	ask := view.Passkeys{RPID: "localhost", Challenge: strings.Repeat("A", 43), IDs: []string{strings.Repeat("A", 43)}}
	if err := view.ReviewHTML(&review, plan, options, ask); err != nil {
		t.Fatal(err)
	}
	parts := 0
	for _, file := range view.ServedFiles() {
		parts += len(file.Content)
	}
	shown := planHTML(t, plan, options)
	if most := len(shown) + formMax; review.Len()+parts > most+len(view.ServedFiles()["ask.js"].Content)+len(view.ServedFiles()["ask.css"].Content) {
		t.Errorf("the review has %d bytes and its parts %d, show --html has %d", review.Len(), parts, len(shown))
	}
	if rows := strings.Count(review.String(), "<tr"); rows < 10_000 {
		t.Errorf("the review has %d rows", rows)
	}
}
