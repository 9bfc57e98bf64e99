package service

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"remit/internal/transfer"
)

// wordsMax bounds the characters of a foreign text that a reason repeats.
const wordsMax = 300

// clean makes a foreign text fit for a reason: no secret, no character that a person could
// not see, not endless.
func (c *Client) clean(text string) string { return visible(c.secrets.ScrubText(text)) }

func (c *Client) quote(text string) string { return fmt.Sprintf("%q", c.clean(text)) }

func visible(text string) string {
	if utf8.RuneCountInString(text) > wordsMax {
		text = string([]rune(text)[:wordsMax]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if transfer.Hidden(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// statusWords is a status as people know it: "503 Service Unavailable".
func statusWords(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}
