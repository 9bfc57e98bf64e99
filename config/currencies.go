package config

import (
	"slices"
	"strings"
	"unicode"

	"remit/config/rows"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// assetWords are words for currencies, with their codes.
var assetWords = map[string]string{
	"DOLLAR": "USD", "DOLLARS": "USD", "$": "USD", "US$": "USD", "BUCKS": "USD", "EURO": "EUR", "EUROS": "EUR", "€": "EUR", "POUND": "GBP", "POUNDS": "GBP", "£": "GBP",
	"YEN": "JPY", "¥": "JPY", "FRANC": "CHF", "FRANCS": "CHF", "FRANKEN": "CHF", "SFR": "CHF", "840": "USD", "978": "EUR", "826": "GBP", "392": "JPY", "756": "CHF",
}

// sharedWords are words and signs for more than one currency, with their codes; the first is that of assetWords, where that has them too.
var sharedWords = map[string]string{
	"$": dollars, "DOLLAR": dollars, "DOLLARS": dollars, "£": pounds, "POUND": pounds, "POUNDS": pounds, "¥": "JPY CNY", "元": "CNY TWD",
	"C$": "CAD NIO", "U$": "USD UYU", "₩": "KRW KPW", "LEI": "RON MDL", "LEU": "RON MDL", "BS": "BOB VES", "DH": "AED MAD", "DHS": "AED MAD", "FRANC": francs, "FRANCS": francs, "FR": francs, "KR": "SEK NOK DKK ISK", "RS": rupees, "₨": rupees, "RUPEE": rupees, "RUPEES": rupees,
}

const (
	dollars = "USD CAD AUD NZD SGD HKD TWD MXN ARS CLP COP BRL UYU DOP CUP CUC CVE NIO MOP BBD BMD BND BSD BZD FJD GYD JMD KYD LRD NAD SBD SRD TTD XCD"
	pounds  = "GBP GIP FKP SHP EGP LBP SYP SDG SSP"
	francs  = "CHF XAF XOF XPF BIF CDF DJF GNF KMF RWF"
	rupees  = "INR PKR LKR NPR MUR SCR IDR"
)

// ownSigns are signs of one currency that are no word of assetWords, with its code.
var ownSigns = map[string]string{
	"₹": "INR", "ZŁ": "PLN", "KČ": "CZK", "FT": "HUF", "R$": "BRL", "₽": "RUB", "₺": "TRY", "₪": "ILS", "₴": "UAH", "₫": "VND", "฿": "THB", "₦": "NGN",
	"₱": "PHP", "₡": "CRC", "₲": "PYG", "₸": "KZT", "₼": "AZN", "₾": "GEL", "֏": "AMD", "৳": "BDT", "₭": "LAK", "៛": "KHR", "₮": "MNT", "؋": "AFN", "₵": "GHS", "GH₵": "GHS", "E£": "EGP", "L£": "LBP",
	"KD": "KWD", "RM": "MYR", "RP": "IDR", "TL": "TRY", "ЛВ": "BGN", "РУБ": "RUB", "ГРН": "UAH", "ДИН": "RSD", "KSH": "KES", "TSH": "TZS", "USH": "UGX",
	"円": "JPY", "원": "KRW", "N$": "NAD", "J$": "JMD", "RD$": "DOP", "TT$": "TTD", "FJ$": "FJD",
	"CA$": "CAD", "CAN$": "CAD", "A$": "AUD", "AU$": "AUD", "HK$": "HKD", "NZ$": "NZD", "S$": "SGD", "NT$": "TWD", "MX$": "MXN",
	"MEX$": "MXN", "BZ$": "BZD", "BDS$": "BBD", "EC$": "XCD", "CI$": "KYD", "G$": "GYD", "L$": "LRD", "SI$": "SBD", "SR$": "SRD", "MOP$": "MOP", "COL$": "COP",
	"UY$": "UYU", "$U": "UYU", "$A": "AUD", "AR$": "ARS", "GB£": "GBP", "CN¥": "CNY", "JP¥": "JPY",
	"DKR": "DKK", "SKR": "SEK", "NKR": "NOK", "IKR": "ISK", "ÍKR": "ISK", "NRS": "NPR", "SLRS": "LKR", "YTL": "TRY",
}

// exactSigns are signs that in other letters are words or multiples, such as km.
var exactSigns = map[string]string{"B$": "BND BSD", "KM": "BAM", "RF": "RWF", "Kz": "AOA", "Db": "STN", "FG": "GNF", "CF": "KMF", "Ar": "MGA", "ZK": "ZMW"}

// usualCodes are codes of currencies that are no words.
var usualCodes = []string{"USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN", "CZK", "CNY", "INR", "BRL", "MXN", "ZAR", "SGD", "HKD"}

var (
	bracketedCode = lazyregexp.New(`[(\[]\s*([A-Z]{3}|€|£)\s*[)\]]`)
	lastCode      = lazyregexp.New(`[ _-]([A-Za-z]{3})$`)
)

// currencyOf is the currency that the name of a column says, as Net (EUR) and net_eur do; "" for none.
func currencyOf(header string) string {
	if found := bracketedCode.FindStringSubmatch(header); found != nil {
		if code := assetWords[found[1]]; code != "" {
			return code
		}
		if slices.Contains(usualCodes, found[1]) {
			return found[1]
		}
	}
	if found := lastCode.FindStringSubmatch(header); found != nil && slices.Contains(usualCodes, strings.ToUpper(found[1])) {
		return strings.ToUpper(found[1])
	}
	return ""
}

// currenciesIn are the codes of the currencies of which a text may say one, as "€", "net EUR" and "$" do; none where it says no currency,
// or two.
func currenciesIn(text string) []string {
	var codes []string
	for word := range strings.FieldsFuncSeq(text, isNoWord) {
		of := currenciesOf(word)
		switch {
		case of == nil:
		case codes == nil:
			codes = of
		default:
			codes = slices.DeleteFunc(codes, func(code string) bool { return !slices.Contains(of, code) })
			if len(codes) == 0 {
				return nil
			}
		}
	}
	return codes
}

// currenciesOf are the codes of the currencies for which a word or a sign stands. A code that could be a word has capital letters.
func currenciesOf(word string) []string {
	upper := strings.ToUpper(word)
	switch {
	case sharedWords[upper] != "":
		return strings.Fields(sharedWords[upper])
	case assetWords[upper] != "":
		return []string{assetWords[upper]}
	case ownSigns[upper] != "":
		return []string{ownSigns[upper]}
	case exactSigns[word] != "":
		return strings.Fields(exactSigns[word])
	case slices.Contains(usualCodes, upper) || upper == word && isCurrency(word):
		return []string{upper}
	}
	return nil
}

// isWithoutDecimals reports whether one of the currencies has no decimals.
func isWithoutDecimals(codes []string) bool {
	return slices.ContainsFunc(codes, func(code string) bool { scale, found := transfer.CurrencyScale(code); return found && scale == 0 })
}

// fittingFormats are examples of the formats of numbers that a text fits which is no plain decimal. Text beside its digits that is no
// currency, such as kg, is not taken for one.
func fittingFormats(text string) []string {
	isNone := func(example string) bool {
		format, err := rows.ParseNumberFormat(example)
		return err != nil || unclearBeside(format.Currency()) != "" || format.Currency() != "" && !saysCurrency.MatchString(format.Currency()) && currenciesIn(format.Currency()) == nil
	}
	return slices.DeleteFunc(rows.FittingNumberFormats(text), isNone)
}

// saysCurrency matches a text that is the sign or the code of a currency, whatever its words are.
var saysCurrency = lazyregexp.New(`^(?:\p{Sc}|[A-Z]{3})$`)

// isDollarSign reports whether codes are those of a text that says no more than the sign or the word for dollars and pesos.
func isDollarSign(codes []string) bool { return len(codes) > 1 && codes[0] == "USD" }

// isCurrency reports whether ISO 4217 has a code.
func isCurrency(code string) bool {
	_, found := transfer.CurrencyScale(transfer.AssetSpelled(code))
	return found
}

// currencyHeaders are what people call the column of the currency, in small letters alone.
var currencyHeaders = []string{
	"currency", "currencycode", "currencyiso", "isocurrency", "amountcurrency", "paymentcurrency", "ccy", "cur", "curr", "asset", "assetcode",
	"währung", "waehrung", "whg", "devise", "monnaie", "moneda", "divisa", "valuta", "waluta", "moeda", "měna", "valuuta", "valiuta", "通貨", "货币",
}

// isCurrencyHeader reports whether a column is called as the column of the currency is.
func isCurrencyHeader(header string) bool {
	letters := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, header)
	return slices.Contains(currencyHeaders, letters)
}
