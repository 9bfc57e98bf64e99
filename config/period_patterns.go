package config

import "remit/internal/text/lazyregexp"

// period is a year, with the month or the day behind it, or the name of a month, in the name of a file.
var period = lazyregexp.New(`(?i)20[0-9]{2}(?:[-_.]?(?:[0-9]{2}|q[1-4]|w[0-9]{2}))*|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b`)

// dated is a part that makes a ref_id another one in another month: a digit, or the name of a month.
var dated = lazyregexp.New(`(?i)[0-9]|jan|feb|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec`)

// recurring is the name of a column that names somebody, who is paid again with the next file; a document is paid once.
var recurring = lazyregexp.New(`(?i)employee|personal|person|staff|worker|mitarbeiter|payee|name|mail|supplier|vendor|seller|merchant|customer|kunde|landlord|tenant|creditor|contractor|beneficiary|empf|lieferant|profile|iban|account|desk|entity|department|member`)

// document is the name of a column of which each value is paid once.
var document = lazyregexp.New(`(?i)invoice|rechnung|bill|order|payment|payout|reference|claim|expense`)

// monthOf is a year and a month.
var monthOf = lazyregexp.New(`(20[0-9]{2})[-_.]?(0[1-9]|1[0-2])(?:[^0-9]|$)`)

// reference is a reference in the text of a template, and variable one to a variable.
var reference, variableOf = lazyregexp.New(`\$\{[^}]*\}`), lazyregexp.New(`\$\{var\.([^}.\[]+)\}`)
