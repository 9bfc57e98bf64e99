package rows

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"remit/internal/transfer"
)

// multipleWords are words, in small letters, for so many units of a currency, and for parts of one: an amount beside them is not in units.
var multipleWords = strings.Fields("mm mn mln mio mill mil million millions millionen millones milhões milioni mrd mdr mia mld bn bln bio billion billions " +
	"tsd tsnd tausend thousand thousands thou ths tys mille miles mila lac lacs lakh lakhs lk cr crore crores тыс млн млрд triệu nghìn tỷ ribu juta jt " +
	"tkr mkr kkr mdkr mnkr md hundred hundreds dozen dozens dz doz dutzend dtzd douzaine " +
	"tis tisíc tisic ezer bin mii хил хиляди χιλ tūkst tūkstantis tuh tuhat tys tyś тис тысяч " +
	"cent cents ct cts ¢ pence penny pfennig rappen öre øre ore grosz groszy gr kop коп paise paisa fils halala halalas centavo centavos centime centimes gbx")

const (
	// letterMultiples are those of one letter. Before a number alone, such as in L 5, the letter is a sign of a currency.
	letterMultiples = "k t m b l c p"
	// numeralMultiples stand for thousands and more inside of words of East Asia.
	numeralMultiples = "千万億亿兆百千萬仟佰拾十천만억조백십"
)

// checkCurrency returns why a text beside numbers says no currency: the amount of 1.5 T€ is not 1.5.
func checkCurrency(text string, isBefore bool) error {
	isBetween := func(c rune) bool { return !unicode.In(c, unicode.L, unicode.M, unicode.Sc) }
	words := strings.FieldsFunc(text, isBetween)
	for _, word := range words {
		if isMultiple(word, isBefore && len(words) == 1) {
			return fmt.Errorf("has %q beside the number, which says a multiple or a part of a unit, such as thousands or cents. An amount is in units: have the file written so, or take the text off with trimprefix or trimsuffix, and multiply with decimal_mul", text)
		}
	}
	return nil
}

// isMultiple reports whether a word beside a number says a multiple or a part of a unit.
func isMultiple(word string, isSign bool) bool {
	letters := strings.TrimFunc(word, func(c rune) bool { return unicode.Is(unicode.Sc, c) })
	small := strings.ToLower(letters)
	switch {
	case strings.ContainsAny(word, "¢"+numeralMultiples), word == "GBp", slices.Contains(multipleWords, small):
		return true
	case letters == word:
		if slices.Contains(strings.Fields(letterMultiples), small) && !isSign {
			return true
		}
	case slices.Contains([]string{"k", "t", "m"}, small): // T€, and $m
		return true
	}
	for _, code := range []string{strings.TrimLeft(letters, "kKtTmM"), strings.TrimRight(letters, "kmn")} {
		if _, isCurrency := transfer.CurrencyScale(code); isCurrency && code != letters {
			return true // TEUR, and EURm
		}
	}
	return false
}
