package config

// CurrencyScale lets tests compare the list of currencies with another one.
func CurrencyScale(code string) (int, bool) { return currencyScale(code) }
