package calendar

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rickar/cal/v2"
	"github.com/rickar/cal/v2/ar"
	"github.com/rickar/cal/v2/at"
	"github.com/rickar/cal/v2/au"
	"github.com/rickar/cal/v2/be"
	"github.com/rickar/cal/v2/bg"
	"github.com/rickar/cal/v2/br"
	"github.com/rickar/cal/v2/ca"
	"github.com/rickar/cal/v2/ch"
	"github.com/rickar/cal/v2/cz"
	"github.com/rickar/cal/v2/de"
	"github.com/rickar/cal/v2/dk"
	"github.com/rickar/cal/v2/ecb"
	"github.com/rickar/cal/v2/es"
	"github.com/rickar/cal/v2/fr"
	"github.com/rickar/cal/v2/gb"
	"github.com/rickar/cal/v2/gr"
	"github.com/rickar/cal/v2/hr"
	"github.com/rickar/cal/v2/ie"
	"github.com/rickar/cal/v2/it"
	"github.com/rickar/cal/v2/jp"
	"github.com/rickar/cal/v2/lt"
	"github.com/rickar/cal/v2/lv"
	"github.com/rickar/cal/v2/mw"
	"github.com/rickar/cal/v2/nc"
	"github.com/rickar/cal/v2/nl"
	"github.com/rickar/cal/v2/no"
	"github.com/rickar/cal/v2/nz"
	"github.com/rickar/cal/v2/pl"
	"github.com/rickar/cal/v2/ro"
	"github.com/rickar/cal/v2/ru"
	"github.com/rickar/cal/v2/se"
	"github.com/rickar/cal/v2/si"
	"github.com/rickar/cal/v2/sk"
	"github.com/rickar/cal/v2/ua"
	"github.com/rickar/cal/v2/us"
	"github.com/rickar/cal/v2/za"
)

// sets are the holidays that have a name of their own: those of countries by ISO 3166-1, of
// their parts by ISO 3166-2, and of central banks by the names that these go by.
var sets = sync.OnceValue(func() map[string][]*cal.Holiday {
	// The library makes times in the zone of the machine. Where its clocks skip midnight, a
	// holiday would be a day too early there.
	cal.DefaultLoc = time.UTC
	return map[string][]*cal.Holiday{
		"ar": ar.Holidays, "at": at.Holidays, "be": be.Holidays, "bg": bg.Holidays, "br": br.Holidays,
		"ca": ca.Holidays, "ch": ch.Holidays, "cz": cz.Holidays, "de": de.Holidays, "dk": dk.Holidays,
		"es": es.Holidays, "fr": fr.Holidays, "gb": gb.Holidays, "gr": gr.Holidays, "hr": hr.Holidays,
		"ie": ie.Holidays, "it": it.Holidays, "jp": jp.Holidays, "lt": lt.Holidays, "lv": lv.Holidays,
		"mw": mw.Holidays, "nc": nc.Holidays, "nl": nl.Holidays, "no": no.Holidays, "nz": nz.Holidays,
		"pl": pl.Holidays, "ro": ro.Holidays, "ru": ru.Holidays, "se": se.Holidays, "si": si.Holidays,
		"sk": sk.Holidays, "ua": ua.Holidays, "us": us.Holidays, "za": za.Holidays,

		"ecb": ecb.Holidays, "fed": federalReserve(),

		"au-act": au.HolidaysACT, "au-nsw": au.HolidaysNSW, "au-nt": au.HolidaysNT, "au-qld": au.HolidaysQLD,
		"au-sa": au.HolidaysSA, "au-tas": au.HolidaysTAS, "au-vic": au.HolidaysVIC, "au-wa": au.HolidaysWA,

		"ch-ag": ch.HolidaysAG, "ch-ai": ch.HolidaysAI, "ch-ar": ch.HolidaysAR, "ch-be": ch.HolidaysBE,
		"ch-bl": ch.HolidaysBL, "ch-bs": ch.HolidaysBS, "ch-fr": ch.HolidaysFR, "ch-ge": ch.HolidaysGE,
		"ch-gl": ch.HolidaysGL, "ch-gr": ch.HolidaysGR, "ch-ju": ch.HolidaysJU, "ch-lu": ch.HolidaysLU,
		"ch-ne": ch.HolidaysNE, "ch-nw": ch.HolidaysNW, "ch-ow": ch.HolidaysOW, "ch-sg": ch.HolidaysSG,
		"ch-sh": ch.HolidaysSH, "ch-so": ch.HolidaysSO, "ch-sz": ch.HolidaysSZ, "ch-tg": ch.HolidaysTG,
		"ch-ti": ch.HolidaysTI, "ch-ur": ch.HolidaysUR, "ch-vd": ch.HolidaysVD, "ch-vs": ch.HolidaysVS,
		"ch-zg": ch.HolidaysZG, "ch-zh": ch.HolidaysZH,

		"de-bb": de.HolidaysBB, "de-be": de.HolidaysBE, "de-bw": de.HolidaysBW, "de-by": de.HolidaysBY,
		"de-hb": de.HolidaysHB, "de-he": de.HolidaysHE, "de-hh": de.HolidaysHH, "de-mv": de.HolidaysMV,
		"de-ni": de.HolidaysNI, "de-nw": de.HolidaysNW, "de-rp": de.HolidaysRP, "de-sh": de.HolidaysSH,
		"de-sl": de.HolidaysSL, "de-sn": de.HolidaysSN, "de-st": de.HolidaysST, "de-th": de.HolidaysTH,
	}
})

// federalReserve are the holidays of the Federal Reserve Banks: those of the federal
// government, but one on a Saturday is not observed on the Friday before
// (https://www.frbservices.org/about/holiday-schedules).
func federalReserve() []*cal.Holiday {
	fromSunday := []cal.AltDay{{Day: time.Sunday, Offset: 1}}
	all := make([]*cal.Holiday, 0, len(us.Holidays))
	for _, holiday := range us.Holidays {
		if holiday.Observed != nil {
			holiday = holiday.Clone(&cal.Holiday{Observed: fromSunday})
		}
		all = append(all, holiday)
	}
	return all
}

// HolidaySets are the names of all sets of holidays, sorted.
func HolidaySets() []string { return slices.Sorted(maps.Keys(sets())) }

// addHolidays adds what a set of holidays closes in the years that dates may be in. It is
// false where there is no such set. Where two holidays fall on one day, the first named of
// them is kept.
func addHolidays(set string, into map[Date]string) bool {
	holidays, ok := sets()[set]
	if !ok {
		return false
	}
	// A holiday of the next year may be observed in this one.
	for year := YearMin - 1; year <= YearMax+1; year++ {
		for _, holiday := range holidays {
			_, observed := holiday.Calc(year)
			if observed.Year() < YearMin || observed.Year() > YearMax {
				continue // or there is none in that year, which is the year 1
			}
			if d := dateOf(observed); into[d] == "" {
				into[d] = holiday.Name + " (" + set + ")"
			}
		}
	}
	return true
}
