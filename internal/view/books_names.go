package view

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"remit/internal/accounts/books"
	"remit/internal/text/lazyregexp"
)

// AccountPrefix is the parent of the accounts of profiles unless another one is named.
const AccountPrefix = "Assets:Remit"

var accountPrefix = lazyregexp.New(`^(Assets|Liabilities)(:[A-Z0-9][A-Za-z0-9-]*)+$`)

// CheckAccountPrefix refuses what beancount would not take as the beginning of an account.
func CheckAccountPrefix(prefix string) error {
	if !accountPrefix.MatchString(prefix) {
		return errors.New("is not the beginning of an account: Assets or Liabilities, and names behind colons of letters, digits and hyphens, each of which begins with a capital letter or a digit")
	}
	return nil
}

// accounts names the accounts of books, in a way that hledger, ledger and beancount all take.
type accounts struct {
	profiles   string            // before the name of a profile, with the colon
	others     string            // the middle of the others' names, with its colons
	components map[string]string // by profile_id
}

func newAccounts(o *BooksOptions) accounts {
	_, rest, _ := strings.Cut(o.Prefix, ":")
	a := accounts{profiles: o.Prefix + ":", others: ":" + rest + ":", components: make(map[string]string, len(o.Names))}
	count := make(map[string]int, len(o.Names))
	for _, alias := range o.Names {
		count[aliasComponent(alias)]++
	}
	for id, alias := range o.Names {
		// An alias that could be taken for another profile gives way to the ID.
		if c := aliasComponent(alias); c != "" && count[c] == 1 && !strings.HasPrefix(c, idPrefix) {
			a.components[id] = c
		}
	}
	a.addCalled(o.Called, count)
	return a
}

// addCalled gives profiles that are not in the address book an account by their display name and the beginning of
// their ID, or the whole of one that is no UUID: a name alone would not say whose money it is. Where two would be the
// same, both keep their IDs.
func (a *accounts) addCalled(called map[string]string, taken map[string]int) {
	made := make(map[string]string, len(called))
	for id, name := range called {
		c := nameComponent(name)
		if _, inBook := a.components[id]; inBook || c == "" || strings.HasPrefix(c, idPrefix) {
			continue
		}
		if _, err := uuid.Parse(id); err == nil {
			id8, _, _ := strings.Cut(id, "-")
			made[id] = c + "-" + idComponent(id8)
		} else {
			made[id] = c + "-" + idComponent(id)
		}
		taken[made[id]]++
	}
	for id, c := range made {
		if taken[c] == 1 {
			a.components[id] = c
		}
	}
}

// nameLettersMax is how much of a display name an account has.
const nameLettersMax = 40

// nameComponent is a display name in letters, digits and single hyphens, as beancount takes it; "" where its first
// letter has no capital form, or where it could be read in another way than it looks.
func nameComponent(name string) string {
	if Visible(name) != name {
		return ""
	}
	words := strings.FieldsFunc(norm.NFC.String(name), func(r rune) bool { return !unicode.IsLetter(r) && (r < '0' || r > '9') })
	runes := []rune(strings.Join(words, "-"))
	return aliasComponent(strings.TrimRight(string(runes[:min(len(runes), nameLettersMax)]), "-"))
}

// account is whose balance a posting changes.
func (a *accounts) account(p books.Posting) string {
	switch p.Role {
	case books.Sender, books.Recipient:
		return a.profile(p.Profile)
	case books.Fees:
		return "Expenses" + a.others + "Fees"
	case books.Difference:
	}
	return "Equity" + a.others + "Differences"
}

// profile is the account of a profile; "" is one that nothing names.
func (a *accounts) profile(id string) string {
	if id == "" {
		return "Equity" + a.others + "Unknown"
	}
	if c := a.components[id]; c != "" {
		return a.profiles + c
	}
	return a.profiles + idPrefix + idComponent(id)
}

// aliasComponent is an alias as beancount takes it: its first letter is a capital one, and each character that
// is neither a letter nor a digit a hyphen; "" where nothing of that kind can be made of it.
func aliasComponent(alias string) string {
	var b strings.Builder
	for i, r := range alias {
		switch {
		case i == 0:
			b.WriteRune(unicode.ToUpper(r))
		case unicode.IsLetter(r) || '0' <= r && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	c := b.String()
	first, _ := utf8.DecodeRuneInString(c)
	if Visible(c) != c || !unicode.IsUpper(first) && (first < '0' || first > '9') {
		return ""
	}
	return c
}

const idPrefix = "Profile-"

// idComponent is any text in letters, digits and hyphens, no two the same: a hyphen before a
// letter or a digit is itself, and each byte of anything else is -- and two digits.
func idComponent(id string) string {
	isPlain := func(i int) bool {
		return i < len(id) && ('0' <= id[i] && id[i] <= '9' || 'a' <= id[i]|0x20 && id[i]|0x20 <= 'z')
	}
	var b strings.Builder
	for i := range len(id) {
		if isPlain(i) || id[i] == '-' && isPlain(i+1) {
			b.WriteByte(id[i])
		} else {
			fmt.Fprintf(&b, "--%02x", id[i])
		}
	}
	return b.String()
}

var (
	commodityPlain  = lazyregexp.New(`^[A-Z][A-Z0-9'._-]{0,22}[A-Z0-9]$`)
	commodityMade   = lazyregexp.New(`^X-.*[0-9A-F]{12}$`)
	commodityLetter = lazyregexp.New(`^[A-Z]+$`)
)

// commodity is an asset as beancount takes it: the asset itself where that can be, else its
// letters and digits in capitals behind X- and before 12 digits of its SHA-256.
func commodity(asset string) string {
	isWord := asset == "TRUE" || asset == "FALSE" || asset == "NULL" // of beancount's language
	if commodityPlain.MatchString(asset) && !commodityMade.MatchString(asset) && !isWord {
		return asset
	}
	var b strings.Builder
	for _, r := range strings.ToUpper(asset) {
		if b.Len() < 8 && r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			b.WriteRune(r)
		}
	}
	hash := sha256.Sum256([]byte(asset))
	return "X-" + b.String() + "-" + strings.ToUpper(hex.EncodeToString(hash[:6]))
}

// ledgerCommodity is a commodity as hledger and ledger take it.
func ledgerCommodity(asset string) string {
	c := commodity(asset)
	if commodityLetter.MatchString(c) {
		return c
	}
	return `"` + c + `"`
}

// ledgerText is text that hledger and ledger take for nothing but text: letters, digits, some
// signs and single spaces stand for themselves, and each byte of anything else, and of the
// percent sign, is written as in an address of the web. No two texts look the same.
func ledgerText(text string) string {
	text = Visible(text)
	var b strings.Builder
	for i, r := range text {
		isSpace := r == ' ' && i > 0 && i < len(text)-1 && text[i-1] != ' '
		if isSpace || unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) || strings.ContainsRune("._-/@#+&=", r) {
			b.WriteRune(r)
			continue
		}
		var bytes [utf8.UTFMax]byte
		for _, c := range bytes[:utf8.EncodeRune(bytes[:], r)] {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// beanText is a string of beancount.
func beanText(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(Visible(text)) + `"`
}
