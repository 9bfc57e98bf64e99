package transfer

import "strings"

// OneSpelling is r with the asset in capitals and UUIDs in small letters (RFC 9562, section 4), whatever
// letters they were declared in: services take them for the same. It is for comparing; what is
// declared is what is sent, recorded and fingerprinted.
func (r Request) OneSpelling() Request {
	if r.isOneSpelling() {
		return r
	}
	fields := r.Fields()
	for i := range fields {
		if fields[i].isSpelled() {
			*fields[i].text = fields[i].spelled()
		}
	}
	return r
}

func (r *Request) isOneSpelling() bool {
	fields := r.Fields()
	for i := range fields {
		if f := &fields[i]; f.isSpelled() && f.spelled() != *f.text {
			return false
		}
	}
	return true
}

// isSpelled reports whether a field may be written in other letters: it names a party or an asset.
func (f *Field) isSpelled() bool { return f.side != NoSide || f.isMoved && f.role != isAmount }

// spelled is the text of a field in one spelling.
func (f *Field) spelled() string {
	switch {
	case f.side == NoSide:
		return AssetSpelled(*f.text)
	case IsUUID(*f.text):
		return strings.ToLower(*f.text)
	}
	return *f.text
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
