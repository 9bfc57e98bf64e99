package confusable

// latinAlike is the Latin letter that a Cyrillic or a Greek one looks like, after the confusables of Unicode's Technical Standard 39; any
// other letter is itself.
func latinAlike(r rune) rune {
	switch r {
	case 'А', 'Α':
		return 'A'
	case 'В', 'Β':
		return 'B'
	case 'С', 'Ϲ':
		return 'C'
	case 'Е', 'Ε':
		return 'E'
	case 'Н', 'Η':
		return 'H'
	case 'І', 'Ӏ', 'Ι':
		return 'I'
	case 'Ј', 'Ϳ':
		return 'J'
	case 'К', 'Κ':
		return 'K'
	case 'М', 'Μ':
		return 'M'
	case 'Ν':
		return 'N'
	case 'О', 'Ο':
		return 'O'
	case 'Р', 'Ρ':
		return 'P'
	case 'Ԛ':
		return 'Q'
	case 'Ѕ':
		return 'S'
	case 'Т', 'Τ':
		return 'T'
	case 'Ѵ':
		return 'V'
	case 'Ԝ':
		return 'W'
	case 'Х', 'Χ':
		return 'X'
	case 'У', 'Ү', 'Υ':
		return 'Y'
	case 'Ζ':
		return 'Z'
	case 'а', 'α':
		return 'a'
	case 'с', 'ϲ':
		return 'c'
	case 'ԁ':
		return 'd'
	case 'е':
		return 'e'
	case 'һ':
		return 'h'
	case 'і', 'ι':
		return 'i'
	case 'ј', 'ϳ':
		return 'j'
	case 'к', 'κ':
		return 'k'
	case 'ӏ':
		return 'l'
	case 'о', 'ο', 'σ':
		return 'o'
	case 'р', 'ρ':
		return 'p'
	case 'ԛ':
		return 'q'
	case 'ѕ':
		return 's'
	case 'υ':
		return 'u'
	case 'ѵ', 'ν':
		return 'v'
	case 'ԝ':
		return 'w'
	case 'х', 'χ':
		return 'x'
	case 'у', 'γ':
		return 'y'
	case 'Ё':
		return 'Ë'
	case 'Ї':
		return 'Ï'
	case 'ё':
		return 'ë'
	case 'ї':
		return 'ï'
	}
	return r
}
