package config

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"remit/config/rows"
)

// besideCurrencies are words, in small letters, that say no currency alone and stand beside one that does: countries, and
// letters of signs.
var besideCurrencies = strings.Fields("us u.s usa ca can au hk nz sg nt mx uk gb s r р f cfa cfp fcfp rmb zl kc kčs din ден kn " +
	"american canadian canadiens australian zealand new hong kong singapore taiwan mexican british sterling swiss suisse suisses schweizer " +
	"danish danske swedish svenska norwegian norske icelandic czech polish hungarian romanian indian")

// pointedCurrencies are signs of currencies with points in them, in capitals and without the last point.
var pointedCurrencies = strings.Fields("د.إ ر.س ر.ق ر.ع د.ك د.ب د.م د.ت د.ج د.ل ل.د ل.ل ل.س ج.م د.ع ع.د د.أ ر.ي ج.س " +
	"R.O Q.R S.R U.S BS.S BS.F BS.D C.F.A F.CFA FR.CFA F.C.F.A R.M.B")

// localSigns are signs of currencies before which people write their words for thousands and millions, as in eFt.
var localSigns = strings.Fields("Ft FT Kč KČ zł ZŁ лв ЛВ руб РУБ грн ГРН дин ДИН TL lei kr Kr KR Rs")

// unclearBeside is the first word beside numbers that may say thousands, or another thing, where a currency is to stand; "" where there
// is none. One word alone is any currency, and of several each has to be known: nobody can list all words for thousands.
func unclearBeside(text string) string {
	var words []string
	for token := range strings.FieldsSeq(rows.NormalForm(text)) {
		if token = strings.Trim(token, "./"); slices.Contains(pointedCurrencies, strings.ToUpper(token)) {
			words = append(words, token)
			continue
		}
		words = append(words, strings.FieldsFunc(token, isNoWord)...)
	}
	for _, word := range words {
		if isCurrencyAndMore(word) || len(words) > 1 && !isKnownBeside(word) {
			return word
		}
	}
	return ""
}

// isNoWord reports whether a letter stands in no word and in no sign of a currency.
func isNoWord(c rune) bool { return !unicode.In(c, unicode.L, unicode.N, unicode.M, unicode.Sc) }

// isKnownBeside reports whether a word beside numbers says a currency, or stands beside one that does.
func isKnownBeside(word string) bool {
	return currenciesOf(word) != nil || isSign(word) || slices.Contains(besideCurrencies, strings.ToLower(word)) || slices.Contains(pointedCurrencies, strings.ToUpper(word))
}

// isCurrencyAndMore reports whether a word has a currency and letters that are none, such as Md€, eFt and USDk.
func isCurrencyAndMore(word string) bool {
	if isKnownBeside(word) {
		return false
	}
	for at := range word {
		head, tail := word[:at], word[at:]
		switch {
		case at == 0:
		case endsInCurrency(head, tail) && !isKnownBeside(head), beginsWithCurrency(head, tail) && !isKnownBeside(tail) && (len(tail) == 1 || currenciesOf(tail+head) == nil):
			return true
		}
	}
	return false
}

// isSign reports whether a text is one sign that is of currencies alone.
func isSign(text string) bool {
	sign, size := utf8.DecodeRuneInString(text)
	return size > 0 && size == len(text) && unicode.Is(unicode.Sc, sign)
}

func endsInCurrency(head, tail string) bool {
	isSmall := strings.ToUpper(head) != head
	return isSign(tail) || slices.Contains(localSigns, tail) || slices.Contains(usualCodes, tail) || isSmall && strings.ToUpper(tail) == tail && isCurrency(tail)
}

func beginsWithCurrency(head, tail string) bool {
	return isSign(head) || strings.ToUpper(head) == head && strings.ToLower(tail) == tail && isCurrency(head)
}

// unclearCurrency names the fault of such a word.
func unclearCurrency(text, word string) string {
	return fmt.Sprintf("has %q beside the number, in which %q is no currency that remit knows: it may say thousands. An amount is in units. "+
		"Have the file written with the sign or the code of the currency alone, or take the text off with trimprefix or trimsuffix, and multiply with decimal_mul where it says a multiple", text, word)
}
