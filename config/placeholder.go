package config

import "remit/internal/text/lazyregexp"

var placeholders = lazyregexp.New(`(?i)^[<{\[].*[>}\]]$|\byour[-_ ]|change[-_]?me|replace[-_]?me|^x{4,}$|^\.{3}$|^todo$`)

// placeholder reports whether a text only marks the place of another one, as examples and templates have it.
func placeholder(text string) bool { return placeholders.MatchString(text) }
