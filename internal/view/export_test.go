package view

import "remit/internal/accounts/books"

// Commodity is an asset as books have it.
var Commodity = commodity

// AccountOf is the account of a profile.
func AccountOf(o BooksOptions, id string) string {
	names := newAccounts(&o)
	return names.account(books.Posting{Profile: id})
}
