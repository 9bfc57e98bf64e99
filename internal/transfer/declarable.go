package transfer

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// These are the rules for the request of a declaration: the configuration is held to it where it says so, and a saved plan, which
// is its author's file, once more. The errors go on after the name of what they are about.

// CheckDeclarable returns why no declaration can make the request: a saved plan that has it was changed. Spacing and
// decimals are looked at apart, by [Request.CheckSpacing] and [Scales.Allow].
func (r *Request) CheckDeclarable() error {
	if !r.Operation.Known() {
		return fmt.Errorf("no service has the operation %q", r.Operation)
	}
	for f := range FieldCount {
		text := r.text(f)
		if text == nil || f == fieldFingerprintKey {
			continue
		}
		if *text == "" {
			if fields[f].needed {
				return fmt.Errorf("its %s is missing", f.Name())
			}
			continue
		}
		if err := f.checkSent(*text); err != nil {
			return fmt.Errorf("its %s %w", f.Name(), err)
		}
	}
	if r.GoesToItself() {
		return fmt.Errorf("it goes from profile %q to itself", r.FromProfileID)
	}
	return r.checkPairs()
}

// checkSent is CheckSent of a field without a look at the spacing. The language has each text but a label, which may be a ref_id, in
// Unicode's normal form: in another one it looks the same, and is another party.
func (f Field) checkSent(text string) error {
	switch {
	case f == fieldRefID:
		return CheckRefID(text)
	case text[0] != ' ' && text[len(text)-1] != ' ' && Plain(text):
		return nil
	case !norm.NFC.IsNormalString(text):
		return errors.New("is not in Unicode's normal form C")
	}
	return checkSent(text)
}

func (r *Request) checkPairs() error {
	sent := len(r.Metadata)
	if r.FingerprintKey != "" {
		sent++
		if err := CheckPair(r.FingerprintKey, ""); err != nil {
			return fmt.Errorf("its metadata: %w", err)
		}
	}
	if sent > MetadataPairsMax || len(r.RecipientMetadata) > MetadataPairsMax {
		return fmt.Errorf("it has %d pairs of metadata and %d of the recipient's, and the service takes %d of each", sent, len(r.RecipientMetadata), MetadataPairsMax)
	}
	for _, pairs := range []Metadata{r.Metadata, r.RecipientMetadata} {
		for _, p := range pairs {
			if err := CheckPair(p.Key, p.Value); err != nil {
				return fmt.Errorf("its metadata %q: %w", p.Key, err)
			}
		}
	}
	return nil
}

// CheckSpacing refuses texts that no declaration may have since a version after 0.1.0, as [CheckSpacing] does.
func (r *Request) CheckSpacing() error {
	for f := range FieldCount {
		if text := r.text(f); text != nil {
			if err := CheckSpacing(*text); err != nil {
				return fmt.Errorf("its %s %w", f.Name(), err)
			}
		}
	}
	return nil
}

// CheckSent refuses text that a reviewer could not tell from another.
func CheckSent(text string) error {
	if err := CheckSpacing(text); err != nil {
		return err
	}
	return checkSent(text)
}

func checkSent(text string) error {
	if first, last := text[0], text[len(text)-1]; first <= ' ' || last <= ' ' || first >= utf8.RuneSelf || last >= utf8.RuneSelf {
		return CheckRefID(text)
	}
	return CheckText(text)
}

// CheckDeclaredRefID refuses a text that may not be declared as a ref_id. A state of before may have one
// that is refused here for its spaces.
func CheckDeclaredRefID(text string) error {
	if err := CheckSpacing(text); err != nil {
		return err
	}
	return CheckRefID(text)
}

// CheckSpacing refuses a text that looks like the columns of a plan, or like a text that a plan cut
// short.
func CheckSpacing(text string) error {
	switch {
	case strings.Contains(text, "  "):
		return errors.New("has two spaces or more in a row, which would look like two columns of a plan; write one")
	case strings.Contains(text, "…"):
		return errors.New("has a …, by which a plan shows that it left something out; write it otherwise")
	}
	return nil
}

// CheckPair refuses a pair of metadata that the service does not take, or that a reviewer could not see.
func CheckPair(key, value string) error {
	if key == "" {
		return errors.New("a key may not be empty")
	}
	if err := checkPairText("the key", key); err != nil {
		return err
	}
	return checkPairText("the value", value)
}

func checkPairText(what, text string) error {
	if len(text) <= TextLengthMax && Plain(text) {
		return nil
	}
	if n := utf8.RuneCountInString(text); n > TextLengthMax {
		return fmt.Errorf("%s has %d characters; the service takes %d", what, n, TextLengthMax)
	}
	if strings.ContainsAny(text, "\r\n") {
		return fmt.Errorf("%s has a line break, and is one line: write it without", what)
	}
	if err := CheckText(text); err != nil {
		return fmt.Errorf("%s %w", what, err)
	}
	return nil
}

// Allow reports whether an amount has no more decimals than its asset. Where it is false, scale is how many that are.
func (s Scales) Allow(amount Amount, asset string) (scale int, ok bool) {
	scale, isLimited := s.Of(asset)
	return scale, !isLimited || amount.ScaleWritten() <= scale
}
