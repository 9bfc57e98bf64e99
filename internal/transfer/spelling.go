package transfer

import "strings"

// OneSpelling is r with the asset in capitals and UUIDs in the form of RFC 9562, section 4, with small letters, in
// whatever way they were declared (see [uuidOf]): services take them for the same. It is for comparing; the text
// declared is sent, recorded and fingerprinted.
func (r Request) OneSpelling() Request {
	r.Asset = AssetSpelled(r.Asset)
	for f := range FieldCount {
		if f.Side() != NoSide {
			party := r.text(f)
			*party = PartySpelled(*party)
		}
	}
	return r
}

// IsSpelled reports whether r is in the spelling of OneSpelling as it was declared.
func (r *Request) IsSpelled() bool {
	if AssetSpelled(r.Asset) != r.Asset {
		return false
	}
	for f := range FieldCount {
		if f.Side() != NoSide {
			if party := *r.text(f); PartySpelled(party) != party {
				return false
			}
		}
	}
	return true
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

// PartySpelled is the ID of a party in one spelling: only a UUID is known to be the same in several.
func PartySpelled(id string) string {
	if len(id) < uuidDigits || isUsualUUID(id) {
		return id
	}
	digits, ok := uuidOf(id)
	if !ok {
		return id
	}
	spelled := make([]byte, 0, uuidLength)
	for i, digit := range digits {
		if isGroupEnd(i) {
			spelled = append(spelled, '-')
		}
		spelled = append(spelled, digit)
	}
	return string(spelled)
}

// IsSameParty reports whether two IDs of parties have one spelling: they are the same text, or the same UUID.
func IsSameParty(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) < uuidDigits || len(b) < uuidDigits || differInDigit(a, b) {
		return false
	}
	x, isUUID := uuidOf(a)
	if !isUUID {
		return false
	}
	y, isUUID := uuidOf(b)
	return isUUID && x == y
}

// differInDigit reports whether the first letters in which two texts differ are digits of a UUID: then they are no
// spellings of one. Most IDs differ in an early one, so that nothing more is read of them.
func differInDigit(a, b string) bool {
	for i := range min(len(a), len(b)) {
		x, y := lowerHex(a[i]), lowerHex(b[i])
		if x != y || x == 0 && a[i] != b[i] {
			return x != 0 && y != 0
		}
	}
	return false
}

// IsUnusualUUID reports whether an ID is a UUID in another form than that of RFC 9562, whatever its letters.
func IsUnusualUUID(id string) bool {
	if len(id) < uuidDigits || len(id) == uuidLength && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		return false
	}
	_, isUUID := uuidOf(id)
	return isUUID
}

const (
	uuidDigits = 32
	uuidLength = 36 // with its four hyphens
)

// isGroupEnd reports whether a hyphen stands before the digit with a number in the usual form.
func isGroupEnd(digit int) bool { return digit == 8 || digit == 12 || digit == 16 || digit == 20 }

// isUsualUUID reports whether a text is a UUID with its hyphens and small letters, as nearly all are. A plan asks it
// several times a transfer, so it counts what it sees and decides at the end.
func isUsualUUID(text string) bool {
	if len(text) != uuidLength || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	strange := 0
	for i := range uuidLength {
		strange += int(strangeness[text[i]])
	}
	return strange == uuidLength-uuidDigits
}

// strangeness is 0 of a digit of a usual UUID, 1 of a hyphen, and more than all hyphens of anything else.
var strangeness = func() (of [256]uint8) {
	for c := range of {
		switch {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f':
		case c == '-':
			of[c] = 1
		default:
			of[c] = uuidLength
		}
	}
	return of
}()

// uuidOf reads a UUID in the forms in which programs write and read one: that of RFC 9562, section 4, in small letters
// or capitals, the same as a URN ("urn:uuid:"), in braces or parentheses, and with hyphens left out or elsewhere, as
// PostgreSQL's type uuid, .NET's Guid and Python's UUID read it. The digits are in small letters.
func uuidOf(text string) (digits [uuidDigits]byte, ok bool) {
	const urn = "urn:uuid:"
	switch last := len(text) - 1; {
	case last > len(urn) && strings.EqualFold(text[:len(urn)], urn):
		text = text[len(urn):]
	case last > 0 && (text[0] == '{' && text[last] == '}' || text[0] == '(' && text[last] == ')'):
		text = text[1:last]
	}
	n := 0
	for i := range len(text) {
		if text[i] == '-' && n > 0 && n < uuidDigits {
			continue
		}
		digit := lowerHex(text[i])
		if digit == 0 || n == uuidDigits {
			return digits, false
		}
		digits[n] = digit
		n++
	}
	return digits, n == uuidDigits
}

// lowerHex is a hexadecimal digit with a small letter; 0 of anything else.
func lowerHex(c byte) byte {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'f':
		return c
	case 'A' <= c && c <= 'F':
		return c + 'a' - 'A'
	}
	return 0
}
