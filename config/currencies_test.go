package config_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"remit/config"
	"remit/internal/transfer"
)

func TestCurrenciesInText(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "net": "", "units": "", "all in": "", "€/m2": "EUR", "EUR": "EUR", "eur": "EUR", "(GBP)": "GBP", "US$": "USD", "USD $": "USD", "840": "USD",
		"KWD": "KWD", "try": "", "TRY": "TRY", "EUR USD": "", "zł": "PLN", "Kč": "CZK", "12.– CHF": "CHF", "SFr.": "CHF", "HK$": "HKD", "¥": "JPY CNY", "kr.": "SEK NOK DKK ISK",
	} {
		if got := strings.Join(config.CurrenciesIn(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := config.CurrenciesIn("$"); len(got) < 20 || got[0] != "USD" {
		t.Errorf("the dollar sign is that of %q", got)
	}
}

// TestAMultipleIsNoCurrency has the words for thousands and more of many languages, none of which a list has to know.
func TestAMultipleIsNoCurrency(t *testing.T) {
	for text := range strings.SplitSeq("tis. Kč|tis.Kč|ezer Ft|eFt|Md€|miilei|хил. лв|хил.лв|хиллв|т.р.|труб|χιλ. €|tūkst. €|h Kč|USDk|€bb|$b|MioEUR|tKč|CRs|"+
		"jtt Rp|tuhatta €|þús. kr|هزار ریال|Tausender Kč|rs. hundredfold|zehn zł|XT$|b$|$B|B $ k", "|") {
		if config.UnclearBeside(text) == "" {
			t.Errorf("%q is taken for a currency", text)
		}
	}
}

// TestCurrenciesStandBesideNumbers has what people of many countries write before and behind amounts.
func TestCurrenciesStandBesideNumbers(t *testing.T) {
	for text := range strings.SplitSeq("|kr|kr.|Kč|zł|zl|Ft|лв|лв.|CHF|US$|R$|Rs.|Rs|د.إ|د.إ.|ر.س|S/|B/.|KD|Fr.|SFr.|sFr.|FCFA|F CFA|CFA|F|L|€|$|£|¥|円|元|人民币|美元|日本円|원|₹|₺|TL|lei|Lei|руб|руб.|р.|грн|"+
		"Dirham|Dirhams|dirhams|PESOS|Pesos|soles|KRONER|kroner|kronor|Euro|euroa|Eur|EURO|euros|dollars|US dollars|New Zealand dollars|Swiss francs|USD $|$ USD|$ CA|$ US|$CAD|$US|CAD$|"+
		"U$S|Bs|Bs.|Bs.S|KSh|Ksh.|RMB|CN¥|CN¥ RMB|kr DKK|SEK kr|Dkr|SKr|NRs|Rp|Rp.|RM|₫|đ|VNĐ|฿|บาท|₪|ден|ден MKD|дин.|din|Br|Birr|kn|USDT|RUBLES|LEKS|Tk.|K|zł PLN|€ EUR|HK$|NT$|Bds$|EC$|"+
		"U.S. dollars|C.F.A.|KM|KM BAM|GH₵|Q|Gs.|֏|тг|тенге|₸|сум|сом|AED|SAR|ريال|درهم|Afl.|TZS|TSh|ZAR R|COL$|B$|$U|RUB р.", "|") {
		if word := config.UnclearBeside(text); word != "" {
			t.Errorf("%q of %q is taken for a multiple", word, text)
		}
	}
}

// TestSignsAreThoseOfCLDR compares the signs of currencies with those that CLDR gives them. Signs of one letter could be words, and T$
// says thousands of dollars too.
func TestSignsAreThoseOfCLDR(t *testing.T) {
	printer := message.NewPrinter(language.Und)
	for _, code := range transfer.Currencies() {
		unit, err := currency.ParseISO(code)
		if err != nil {
			continue
		}
		sign := printer.Sprint(currency.NarrowSymbol(unit))
		letters := strings.TrimSuffix(sign, ".")
		if sign == code || sign == "T$" || utf8.RuneCountInString(letters) == 1 && unicode.IsLetter([]rune(letters)[0]) {
			continue
		}
		if got := config.CurrenciesIn(sign); !slices.Contains(got, code) {
			t.Errorf("%q is the sign of %q, want %s", sign, got, code)
		}
	}
}
