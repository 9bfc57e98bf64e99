package transfer

import (
	"slices"
	"strings"
)

// CurrencyScale is how many decimals ISO 4217 gives the minor unit of a currency; false for
// codes that it does not list, or lists without a minor unit, such as XAU. The source is
// list one of SIX, the maintenance agency of ISO 4217, as published on 2024-06-25, with the
// amendments since: XCG and XAD came. Withdrawn ones stay. CLDR, which golang.org/x/text carries,
// says how many decimals people write, which is not the same: it gives IQD none.
func CurrencyScale(code string) (int, bool) {
	if len(code) != 3 {
		return 0, false
	}
	for scale, codes := range currencyCodes() {
		if i := strings.Index(codes, code); i >= 0 && i%4 == 0 {
			return scale, true
		}
	}
	return 0, false
}

// Currencies are the codes that ISO 4217 lists with a minor unit, in order.
func Currencies() []string {
	codes := currencyCodes()
	return slices.Sorted(strings.FieldsSeq(strings.Join(codes[:], "")))
}

// currencyCodes are the codes with 0, 1, 2, 3 and 4 decimals, each followed by a space.
func currencyCodes() [5]string {
	return [5]string{
		0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF ",
		2: "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD " +
			"CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS " +
			"GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL " +
			"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK " +
			"PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS " +
			"TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG ",
		3: "BHD IQD JOD KWD LYD OMR TND ",
		4: "CLF UYW ",
	}
}
