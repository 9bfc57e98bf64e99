package config

import "regexp"

var placeholders = regexp.MustCompile(`(?i)^[<{\[].*[>}\]]$|\byour[-_ ]|change[-_]?me|replace[-_]?me|^x{4,}$|^\.{3}$|^todo$`)

// placeholder reports whether a text only marks the place of another one, as examples and templates have it.
func placeholder(text string) bool { return placeholders.MatchString(text) }

// The environment variables that replace arguments that are absent, or whose variable has no value.
const (
	environmentClientID         = "REMIT_CLIENT_ID"
	environmentClientSecret     = "REMIT_CLIENT_SECRET"
	environmentClientSecretFile = "REMIT_CLIENT_SECRET_FILE"
)
