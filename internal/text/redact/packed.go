package redact

// The value of each character of base64 and base64url (RFC 4648, sections 4 and 5), and of each
// hexadecimal digit; noDigit for every other byte.
var (
	base64Digits = digits("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "-+", "_/")
	hexDigits    = digits("0123456789abcdef", "Aa", "Bb", "Cc", "Dd", "Ee", "Ff")
)

const noDigit = 0xff

// digits is the table of an alphabet; each twin is a character and the one that it stands for.
func digits(alphabet string, twins ...string) *[256]byte {
	var table [256]byte
	for i := range table {
		table[i] = noDigit
	}
	for i := range len(alphabet) {
		table[alphabet[i]] = byte(i)
	}
	for _, twin := range twins {
		table[twin[0]] = table[twin[1]]
	}
	return &table
}

// runs looks into what of l may be base64 or hexadecimal digits. All of a run is removed: a part of
// the rest of one may have a secret.
func (s *search) runs(l layer, packed int) []span {
	var found []span
	eachRun(l.bytes, base64Digits, runMin, func(from, to int) bool {
		run := l.bytes[from:to]
		if packed == 0 {
			if len(run) < undecidedMin {
				return true
			}
			found = append(found, l.source(from, to))
			return l.tracked
		}
		if s.inBase64(run, packed-1) || s.inHex(run, packed-1) {
			found = append(found, l.source(from, to))
			return l.tracked
		}
		return true
	})
	return found
}

// eachRun calls do with each run of at least so many digits, until it returns false.
func eachRun(b []byte, table *[256]byte, least int, do func(from, to int) bool) {
	// A run that is long enough has a digit at each multiple of its least length.
	for i := least - 1; i < len(b); {
		if table[b[i]] == noDigit {
			i += least
			continue
		}
		from, to := i, i+1
		for from > 0 && table[b[from-1]] != noDigit {
			from--
		}
		for to < len(b) && table[b[to]] != noDigit {
			to++
		}
		if to-from >= least && !do(from, to) {
			return
		}
		i = to + least
	}
}

// inBase64 reports whether a run holds a secret: as nobody can tell where in it base64 begins, at
// each of the four places.
func (s *search) inBase64(run []byte, packed int) bool {
	if s.areText && !mayUnpackToText(run) {
		return false
	}
	for start := range 4 {
		decoded := appendBase64(s.scratch[packed][:0], run[start:])
		s.scratch[packed] = decoded
		if s.worthALook(decoded) && len(s.through(layer{bytes: decoded}, packed)) > 0 {
			return true
		}
	}
	return false
}

// mayUnpackToText reports whether a run may unpack to text of LengthMin bytes from one of the four places on. It
// unpacks nothing: most runs are identifiers, which unpack to bytes that are no text.
func mayUnpackToText(run []byte) bool {
	// So many bytes of text are all of the three bytes of eight digits, wherever they begin.
	const both = 1<<4 | 1
	var bits, wereText uint32
	for i, c := range run {
		bits = bits<<6 | uint32(base64Digits[c])
		wereText <<= 1
		if i >= 3 && bits&0x808080 == 0 && isText(byte(bits>>16)) && isText(byte(bits>>8)) && isText(byte(bits)) {
			wereText |= 1
		}
		if wereText&both == both {
			return true
		}
	}
	return false
}

func appendBase64(to, run []byte) []byte {
	for ; len(run) >= 4; run = run[4:] {
		bits := uint32(base64Digits[run[0]])<<18 | uint32(base64Digits[run[1]])<<12 | uint32(base64Digits[run[2]])<<6 | uint32(base64Digits[run[3]])
		to = append(to, byte(bits>>16), byte(bits>>8), byte(bits))
	}
	if len(run) >= 2 {
		to = append(to, base64Digits[run[0]]<<2|base64Digits[run[1]]>>4)
	}
	if len(run) == 3 {
		to = append(to, base64Digits[run[1]]<<4|base64Digits[run[2]]>>2)
	}
	return to
}

// worthALook reports whether something unpacked may hold a secret. Text that is no base64 unpacks to
// bytes that are no text, and whatever a secret of text is written in, is text.
func (s *search) worthALook(decoded []byte) bool {
	if !s.areText {
		return true
	}
	// Each look is at the last byte of a place where a secret could be, and goes back from there.
	for last := LengthMin - 1; last < len(decoded); {
		first := last
		for first > last-LengthMin && isText(decoded[first]) {
			first--
		}
		if first == last-LengthMin {
			return true
		}
		last = first + LengthMin
	}
	return false
}

func isText(b byte) bool { return ' ' <= b && b < 0x7f || b == '\t' || b == '\n' || b == '\r' }

// inHex is inBase64 for hexadecimal digits.
func (s *search) inHex(run []byte, packed int) (isIn bool) {
	eachRun(run, hexDigits, 2*LengthMin, func(from, to int) bool {
		for start := from; start < from+2; start++ {
			decoded := s.scratch[packed][:0]
			for i := start; i+1 < to; i += 2 {
				decoded = append(decoded, hexDigits[run[i]]<<4|hexDigits[run[i+1]])
			}
			s.scratch[packed] = decoded
			isIn = isIn || s.worthALook(decoded) && len(s.through(layer{bytes: decoded}, packed)) > 0
		}
		return !isIn
	})
	return isIn
}
