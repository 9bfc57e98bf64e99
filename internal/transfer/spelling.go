package transfer

import "strings"

// OneSpelling is r with the asset in capitals and UUIDs in small letters (RFC 9562, section 4), whatever
// letters they were declared in: services take them for the same. It is for comparing; the letters
// declared are sent, recorded and fingerprinted.
func (r Request) OneSpelling() Request {
	r.Asset = AssetSpelled(r.Asset)
	for f := range FieldCount {
		if f.Side() != NoSide {
			party := r.text(f)
			*party = partySpelled(*party)
		}
	}
	return r
}

// AssetSpelled is an asset in one spelling: the letters of codes, which are those of ASCII, in capitals.
func AssetSpelled(asset string) string {
	isSmall := func(c byte) bool { return 'a' <= c && c <= 'z' }
	for i := range len(asset) {
		if isSmall(asset[i]) {
			spelled := []byte(asset)
			for j := i; j < len(spelled); j++ {
				if isSmall(spelled[j]) {
					spelled[j] -= 'a' - 'A'
				}
			}
			return string(spelled)
		}
	}
	return asset
}

func isSameAsset(a, b string) bool { return a == b || AssetSpelled(a) == AssetSpelled(b) }

// partySpelled is the ID of a party in one spelling: only the letters of a UUID are known to mean
// the same as capitals.
func partySpelled(id string) string {
	if hasCapital(id) && IsUUID(id) {
		return strings.ToLower(id)
	}
	return id
}

// hasCapital reports whether a text has a hexadecimal digit that is a capital letter.
func hasCapital(text string) bool {
	for i := range len(text) {
		if c := text[i]; 'A' <= c && c <= 'F' {
			return true
		}
	}
	return false
}

// isSameParty reports whether two IDs have one spelling.
func isSameParty(a, b string) bool {
	return a == b || len(a) == len(b) && strings.EqualFold(a, b) && IsUUID(a) && IsUUID(b)
}

// IsUUID reports whether a text is a UUID, in small letters or capitals.
func IsUUID(text string) bool {
	const length = 36
	if len(text) != length {
		return false
	}
	for i := range len(text) {
		c := text[i]
		isHyphen := i == 8 || i == 13 || i == 18 || i == 23
		if isHyphen != (c == '-') || !isHyphen && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}
