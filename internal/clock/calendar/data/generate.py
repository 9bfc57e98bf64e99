#!/usr/bin/env python3
"""Writes holidays.txt, which package calendar reads: the holidays of countries, of their parts and of
central banks, as the Python library `holidays` has them.

    python3 internal/clock/calendar/data/generate.py DATE > internal/clock/calendar/data/holidays.txt

DATE is the day of the library's release. The library, of the newest release, must be importable. It is
a tool of this repository alone: remit has the text and nothing of the library. Dates of holidays are
facts; their names are translated to English where the library can.
"""
import datetime
import sys
import warnings

import holidays

FIRST, LAST = 2010, 2040

COUNTRIES = """ae ar at be bg br ca ch cl cn co cz de dk ee es fi fr gb gr hk hr hu ie in is it jp kr lt lu lv mw mx
nc nl no nz pl pt ro ru se sg si sk ua us za""".split()
PARTS = {
    "au": "act nsw nt qld sa tas vic wa",
    "ch": "ag ai ar be bl bs fr ge gl gr ju lu ne nw ow sg sh so sz tg ti ur vd vs zg zh",
    "de": "bb be bw by hb he hh mv ni nw rp sh sl sn st th",
}
# What banks close for, where that is more than the public holidays of the whole country.
CATEGORIES = {"ca": ("public", "government"), "se": ("public", "de_facto")}
SUBDIVISION = {"gb": "ENG"}  # bank holidays of England and Wales
# These governments say year by year which days are added or moved, with these words in their names.
ANNOUNCED = {"cn": "substituted", "ar": "Bridge"}


def country(code, part=None):
    """The holidays of a country or a part of it, by date."""
    made = {}
    for language in ("en_US", None):
        try:
            made = holidays.country_holidays(
                code.upper(), subdiv=part or SUBDIVISION.get(code), years=range(FIRST, LAST + 1),
                language=language, categories=CATEGORIES.get(code, ("public",)))
            break
        except (ValueError, NotImplementedError, FileNotFoundError):
            continue
    return dict(made.items())


def most_cantons(parts):
    """Swiss law names one holiday; these are the days that more than half of the cantons have."""
    votes = {}
    for days in parts:
        for day, name in days.items():
            votes.setdefault(day, []).append(name)
    return {day: names[0] for day, names in votes.items() if len(names) > len(parts) / 2}


def with_banks(days, exchange, names):
    """The days, and those of an exchange that banks close for by custom."""
    closed = holidays.financial_holidays(exchange, years=range(FIRST, LAST + 1), language="en_US")
    return days | {day: name for day, name in closed.items() if name in names and day not in days}


def good_friday(year):
    """Two days before Easter, by the anonymous Gregorian algorithm."""
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    k = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * k) // 451
    month, day = divmod(h + k - 7 * m + 114, 31)
    return datetime.date(year, month, day + 1) - datetime.timedelta(days=2)


def known(code, days):
    """The last year of which every day is certain."""
    last = LAST
    now = int(sys.argv[1][:4])
    # Where the moon is sighted, what lies ahead is an estimate.
    estimated = [day.year for day, name in days.items() if "estimated" in name and day.year >= now]
    if estimated:
        last = min(estimated) - 1
    if code in ANNOUNCED:
        last = max(day.year for day, name in days.items() if ANNOUNCED[code] in name)
    if max(day.year for day in days) < now:  # Ukraine has none while martial law lasts
        last = now
    return min(last, max(now, *(day.year for day in days)))


def federal_reserve(us):
    """https://www.frbservices.org/about/holiday-schedules: a holiday on a Saturday moves nowhere."""
    return {day: name for day, name in us.items() if not ("observed" in name and day.weekday() == 4)}


def bank_of_japan(jp):
    """https://www.boj.or.jp/en/about/outline/holi.htm: national holidays, and the turn of the year."""
    days = dict(jp)
    for year in range(FIRST, LAST + 1):
        for month, day in ((1, 2), (1, 3), (12, 31)):
            days.setdefault(datetime.date(year, month, day), "Bank holiday")
    return days


def ranges(years):
    """2010,2012-2015"""
    out, years = [], sorted(years)
    while years:
        n = 1
        while n < len(years) and years[n] == years[0] + n:
            n += 1
        out.append(str(years[0]) if n == 1 else f"{years[0]}-{years[n - 1]}")
        years = years[n:]
    return ",".join(out)


def write(name, days, until):
    print(f"[{name}] {until}")
    by_name = {}
    for day, what in days.items():
        for one in what.split("; ")[:1]:
            by_name.setdefault(one, {}).setdefault(f"{day:%m-%d}", []).append(day.year)
    for what in sorted(by_name):
        print(what, *(f"{at}:{ranges(years)}" for at, years in sorted(by_name[what].items())), sep="\t")


def main():
    warnings.simplefilter("ignore")
    print(f"# Of the Python library holidays {holidays.__version__} of {sys.argv[1]}, by generate.py. Years {FIRST} to {LAST}.")
    print("# [SET] LAST_YEAR_KNOWN, and for each holiday its name and MM-DD:YEARS.")
    sets = {}
    for code in COUNTRIES:
        days = country(code)
        sets[code] = (days, known(code, days))
    for code, parts in PARTS.items():
        for part in parts.split():
            days = country(code, part.upper())
            sets[f"{code}-{part}"] = (days, known(code, days))
    for year in range(FIRST, LAST + 1):  # the library lacks it in some years (General Holidays Ordinance, cap. 149)
        sets["hk"][0].setdefault(good_friday(year), "Good Friday")
    sets["ch"] = (most_cantons([days for name, (days, _) in sets.items() if name.startswith("ch-")]), LAST)
    sets["br"] = (with_banks(sets["br"][0], "B3", ("Carnival", "Corpus Christi")), LAST)
    ecb = dict(holidays.financial_holidays("ECB", years=range(FIRST, LAST + 1), language="en_US").items())
    sets["ecb"] = (ecb, LAST)
    sets["fed"] = (federal_reserve(sets["us"][0]), LAST)
    sets["boe"] = (sets["gb"][0], sets["gb"][1])
    sets["boj"] = (bank_of_japan(sets["jp"][0]), sets["jp"][1])
    for name in sorted(sets):
        write(name, *sets[name])


main()
