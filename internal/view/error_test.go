package view_test

import (
	"bytes"
	"errors"
	"testing"

	"remit/internal/view"
)

func TestError(t *testing.T) {
	err := errors.New("lock the state: it is held by ana on books-1 since 2026-11-27T14:00:00Z for apply\nThe service said: \x1b[2Kall paid")
	for ending, screen := range screens() {
		var b bytes.Buffer
		if err := view.Error(&b, err, "remit force-unlock", screen); err != nil {
			t.Fatal(err)
		}
		golden(t, "error."+ending, b.Bytes())
	}
}
