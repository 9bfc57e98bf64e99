package config

import (
	"errors"
	"strings"
	"unicode/utf8"

	"remit/internal/transfer"
)

// checkSent refuses text that a reviewer could not tell from another.
func checkSent(text string) error {
	if err := checkSpacing(text); err != nil {
		return err
	}
	if first, last := text[0], text[len(text)-1]; first <= ' ' || last <= ' ' || first >= utf8.RuneSelf || last >= utf8.RuneSelf {
		return transfer.CheckRefID(text)
	}
	return transfer.CheckText(text)
}

// checkSpacing refuses a text that looks like the columns of a plan, or like a text that a plan cut
// short.
func checkSpacing(text string) error {
	switch {
	case strings.Contains(text, "  "):
		return errors.New("has two spaces or more in a row, which would look like two columns of a plan; write one")
	case strings.Contains(text, "…"):
		return errors.New("has a …, by which a plan shows that it left something out; write it otherwise")
	}
	return nil
}

// checkRefID refuses a text that may not be declared as a ref_id. A state of before may have one
// that is refused here for its spaces.
func checkRefID(text string) error {
	if err := checkSpacing(text); err != nil {
		return err
	}
	return transfer.CheckRefID(text)
}
