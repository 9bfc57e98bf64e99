package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/text/english"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// doubts are warnings of what a transfer says that a service will hardly know. They keep no transfer from
// being planned: which assets and IDs there are, the service alone knows.
func (s *stream) doubts(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	if t.Address == "" {
		return nil
	}
	var diags hcl.Diagnostics
	r := &t.Request
	if r.Asset != s.asset {
		if s.asset = r.Asset; !s.assets[r.Asset] {
			diags = append(diags, s.unknownAsset(block, in, t)...)
			diags = append(diags, s.otherSpelling(block, in, t)...)
			s.assets[r.Asset] = true
		}
	}
	diags = append(diags, s.endedCalendar(block, in, t)...)
	diags = append(diags, doubtOfMinutes(block, in, t)...)
	diags = append(diags, doubtOfRefID(block, in, t)...)
	diags = append(diags, doubtOfWords(block, in, t)...)
	diags = append(diags, doubtOfAccounts(block, in, t)...)
	if s.above.block != block {
		diags = append(diags, doubtOfHeader(block, in, t)...)
	}
	diags = append(diags, s.currencies.warnings...)
	diags = append(diags, s.above.doubt(block, in, t)...)
	if r.FromProfileID != s.above.from {
		found := doubtOfID(block, in, t, "from", r.FromProfileID)
		if diags = append(diags, found...); found == nil {
			s.above.from = r.FromProfileID
		}
	}
	return append(diags, doubtOfID(block, in, t, "to", r.ToProfileID)...)
}

// doubtOfMinutes warns of a few minutes in duplicate_within, which somebody may have written for months.
func doubtOfMinutes(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	const most = 24 * time.Minute
	within := t.DuplicateWithin
	if within < time.Minute || within > most || within%time.Minute != 0 {
		return nil
	}
	d := mistake.Warning(placeOfDoubt(block, in, "duplicate_within", "batch"), "Duplicate check of minutes",
		"duplicate_within is %s: m is a minute. For a month, write:\n\n  duplicate_within = \"30d\"", english.Plural(int(within/time.Minute), "minute"))
	d.Extra = &mistake.Origin{Block: t.Block, Column: "duplicate_within", Reason: d.Summary}
	return hcl.Diagnostics{d}
}

// endedCalendar warns, once for each window, of a transfer that waits for a day of a year of which the calendar of its window has no dates.
func (s *stream) endedCalendar(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	if t.NotBefore.IsZero() {
		return nil
	}
	var diags hcl.Diagnostics
	for _, w := range t.Windows {
		last, isWhole := w.Calendar.Last()
		year := t.NotBefore.In(w.Zone).Year()
		if isWhole || year <= last.Midnight().Year() {
			continue
		}
		if s.recorder != nil {
			s.recorder.broken = true // where another block told it, that one may be gone by the next check
		}
		if s.ended[w] {
			continue
		}
		s.ended[w] = true
		d := mistake.Warning(placeOfDoubt(block, in, "window", "not_before"), "Calendar has ended",
			"The transfer waits for a day of %d, and the last holiday of the calendar of window.%s is %s: each later weekday is a business day. Add the later holidays to the calendar, or name a set of them, such as:\n\n  holidays = [\"ecb\"]", year, w.Name, last)
		d.Extra = &mistake.Origin{Block: t.Block, Column: "window", Reason: w.Name}
		diags = append(diags, d)
	}
	return diags
}

// doubtOfID warns of the ID of the profile on a side that looks like something else.
func doubtOfID(block *transferBlock, in instance, t *Transfer, side, id string) hcl.Diagnostics {
	what := notProfileID(id)
	if what == "" {
		return nil
	}
	const shown = "The service shows the ID beside the profile, such as:\n\n  \"37867177-f88c-45cc-b9b5-d786e7079609\""
	d := mistake.Warning(placeOfDoubt(block, in, side+"_profile_id", side), "ID of a profile looks wrong",
		"The profile_id %q %s. %s", id, what, cmp.Or(meantProfileID(id), shown))
	d.Extra = &mistake.Origin{Block: t.Block, Column: side, Reason: what}
	return hcl.Diagnostics{d}
}

// lostIDs refuses IDs of which a spreadsheet left the first digits, or an error, alone: what they once named, nobody can tell.
func lostIDs(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for f := range transfer.FieldCount {
		if f.Side() == transfer.NoSide {
			continue
		}
		summary, text := "ID has lost its digits", t.Request.Text(f)
		what, remedy := roundedWhy, roundedRemedy
		if !isRounded(text) {
			if what, remedy = notExported(text, true); what == "" {
				continue
			}
			summary = "ID was not exported"
		}
		side, kind, _ := strings.Cut(f.Name(), "_")
		d := mistake.New(placeOfDoubt(block, in, f.Name(), side), summary, "The %s %q is %s. %s", kind, text, what, remedy)
		d.Extra = &mistake.Origin{Block: t.Block, Column: f.Name(), Reason: what}
		diags = append(diags, d)
	}
	return diags
}

// doubtOfRefID warns of a ref_id that was made of what a spreadsheet did to a key, or of a reference's name. It is no
// mistake: a ref_id that was sent stays declared.
func doubtOfRefID(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	id := t.Request.RefID
	summary, detail := "", ""
	what, remedy := notExported(id, false)
	reference := writtenReference(id)
	switch {
	case hasRounded(id):
		summary = "ref_id has lost digits"
		detail = fmt.Sprintf("The ref_id %q has %s. If it was never sent, format the column as text, take the whole numbers from their source again, and export the file anew.", id, roundedWhy)
	case what != "":
		summary = "ref_id has no key"
		detail = fmt.Sprintf("The ref_id %q has %s. If it was never sent, %s", id, what, lowerFirst(remedy))
	case reference != "":
		summary = "ref_id has the name of a value"
		detail = fmt.Sprintf("The ref_id is %q, letter by letter. A reference in a text is between ${ and }, such as:\n\n  ref_id = \"payroll-${%s}\"", id, reference)
	case isMarkedAsText(id):
		summary = "ref_id has an apostrophe"
		detail = fmt.Sprintf("The ref_id %q has an apostrophe, which marks text in a spreadsheet. If it was never sent, format the column as text there instead, and export the file anew.", id)
	default:
		return nil
	}
	d := mistake.Warning(placeOfDoubt(block, in, "ref_id"), summary, "%s", detail)
	d.Extra = &mistake.Origin{Block: t.Block, Column: "ref_id", Reason: summary}
	return hcl.Diagnostics{d}
}

// doubtOfWords warns of metadata and of a name that a spreadsheet did not export: people would read its error in place
// of them.
func doubtOfWords(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	var diags hcl.Diagnostics
	doubt := func(argument, name, text string) {
		what, remedy := notExported(text, true)
		if meant := readAsWindows(text); meant != "" {
			d := mistake.Warning(placeOfDoubt(block, in, argument), "Letters are broken",
				"%s %q has letters of UTF-8 that a program read as Windows-1252. Export the file anew as UTF-8, and do not save it in between. Meant is perhaps:\n\n  %q", name, text, meant)
			d.Extra = &mistake.Origin{Block: t.Block, Column: name, Reason: d.Summary}
			diags = append(diags, d)
		}
		if what == "" {
			return
		}
		d := mistake.Warning(placeOfDoubt(block, in, argument), "Text was not exported", "%s %q is %s. %s", name, text, what, remedy)
		d.Extra = &mistake.Origin{Block: t.Block, Column: name, Reason: what}
		diags = append(diags, d)
	}
	if mayBeBroken(t.DisplayName) {
		doubt("display_name", "display_name", t.DisplayName)
	}
	for _, p := range t.Request.Metadata {
		if mayBeBroken(p.Value) {
			doubt("metadata", "metadata."+p.Key, p.Value)
		}
	}
	for _, p := range t.Request.RecipientMetadata {
		if mayBeBroken(p.Value) {
			doubt("recipient_metadata", "recipient_metadata."+p.Key, p.Value)
		}
	}
	return diags
}

// mayBeBroken reports whether a text has one of the two signs of damage, so that most texts cost no more than that look: the first
// letter of a spreadsheet's errors, or a letter beyond ASCII.
func mayBeBroken(text string) bool { return strings.IndexByte(text, '#') >= 0 || !transfer.Plain(text) }

// unknownAsset warns of an asset that no list and no asset block has.
func (s *stream) unknownAsset(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	asset := t.Request.Asset
	if _, known := s.config.assets.of(asset); known {
		return nil
	}
	if what, remedy := notExported(asset, true); what != "" {
		d := mistake.Warning(placeOfDoubt(block, in, "asset"), "Asset is not known", "The asset %q is %s. %s", asset, what, remedy)
		d.Extra = &mistake.Origin{Block: t.Block, Column: "asset", Reason: what}
		return hcl.Diagnostics{d}
	}
	hint := ""
	if reference := writtenReference(asset); reference != "" {
		hint = "It is the name of a value in quotation marks. Write it without them:\n\n  asset = " + reference
	} else if code := assetWords[strings.ToUpper(asset)]; code != "" {
		hint = codeHint(block, in, asset, code)
	} else {
		hint = fmt.Sprintf("If it is an asset of the service, say how many decimals it has:\n\n  asset %s {\n    scale = 2\n  }", mistake.QuotedHCL(asset))
		for _, code := range []string{"USD", "EUR", "GBP", "JPY", "CHF"} {
			if sorted(asset) == sorted(code) {
				hint = fmt.Sprintf("Did you mean %q?", code)
			}
		}
	}
	d := mistake.Warning(placeOfDoubt(block, in, "asset"), "Asset is not known", "%q is no code of ISO 4217, such as USD, and no asset block declares it. %s", asset, hint)
	d.Extra = &mistake.Origin{Block: t.Block, Column: "asset", Reason: asset}
	return hcl.Diagnostics{d}
}

// otherSpelling warns of an asset that other transfers write with capitals where this one has small letters. The
// service decides what such a code means: remit adds both up, and sends each as it is written.
func (s *stream) otherSpelling(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	asset := t.Request.Asset
	spelled := transfer.AssetSpelled(asset)
	other := s.spellings[spelled]
	if other == "" {
		s.spellings[spelled] = asset
		return nil
	}
	d := mistake.Warning(placeOfDoubt(block, in, "asset"), "Asset is written in two ways",
		"The asset is %q here and %q elsewhere, and each is sent as it is written. If one asset is meant, write it in one way:\n\n  %q", asset, other, spelled)
	d.Extra = &mistake.Origin{Block: t.Block, Column: "asset", Reason: asset}
	return hcl.Diagnostics{d}
}

// sorted are the letters of a word in the order of the alphabet.
func sorted(word string) string {
	letters := []rune(strings.ToUpper(word))
	slices.Sort(letters)
	return string(letters)
}

var (
	decimalID = lazyregexp.New(`^[0-9]{1,9}[.,][0-9]{2}$`)
	fewDigits = lazyregexp.New(`^[0-9]{2,12}$`)
	nearUUID  = lazyregexp.New(`^[{(]?[0-9a-fA-F-]{30,40}[)}]?$`)
	hexDigits = lazyregexp.New(`^[0-9a-fA-F]{32}$`)
	mail      = lazyregexp.New(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)
	words     = lazyregexp.New(`^\p{L}+([ ,.'-]+\p{L}+)+\.?$`)
)

// meantProfileID shows the UUID that has braces around it or a prefix for UUIDs, or the reference that a text names;
// "" where there is none.
func meantProfileID(id string) string {
	if reference := writtenReference(id); reference != "" {
		return "Write it without them:\n\n  " + reference
	}
	if hexDigits.MatchString(id) {
		return "With its hyphens it is:\n\n  \"" + withHyphens(id) + "\""
	}
	if plain := withPlainHyphens(id); plain != id && len(plain) == lengthOfUUID && uuid.Validate(plain) == nil {
		return "With plain hyphens it is:\n\n  \"" + plain + "\""
	}
	if hyphened := otherwiseHyphened(id); hyphened != "" {
		return "With its hyphens it is:\n\n  \"" + hyphened + "\""
	}
	bare := strings.TrimPrefix(strings.ToLower(strings.Trim(id, "{}()<>' ")), "urn:uuid:")
	if bare == id || len(bare) != lengthOfUUID || uuid.Validate(bare) != nil || strings.EqualFold(bare, id) {
		return ""
	}
	return "Write the UUID alone:\n\n  \"" + bare + "\""
}

// otherwiseHyphened is the UUID of a text that has its 32 digits, and spaces or signs in the place of its hyphens; "" for
// any other text.
func otherwiseHyphened(id string) string {
	digits := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r == ':' || r == '/' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, id)
	if digits == id || !hexDigits.MatchString(digits) || len(id) == lengthOfUUID && uuid.Validate(id) == nil {
		return ""
	}
	return withHyphens(digits)
}

// withHyphens is a UUID of 32 digits as it is written.
func withHyphens(digits string) string {
	return strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")
}

// withPlainHyphens has a hyphen in the place of each dash, as word processors and mail programs write them.
func withPlainHyphens(id string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Pd, r) || r == '\u2212' { // the minus sign
			return '-'
		}
		return r
	}, id)
}

const (
	nilUUID = "00000000-0000-0000-0000-000000000000" // no transfer's: it stands where there is none
	maxUUID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
)

// notProfileID says what a profile's ID seems to be instead; "" where nothing is wrong with it.
func notProfileID(id string) string {
	if writtenReference(id) != "" {
		return "is the name of a value in quotation marks"
	}
	isUUID := len(id) == lengthOfUUID && id[8] == '-' && uuid.Validate(id) == nil
	switch {
	case isUUID && !strings.EqualFold(id, nilUUID) && !strings.EqualFold(id, maxUUID):
		return ""
	case hexDigits.MatchString(id):
		return "is a UUID without hyphens"
	case withPlainHyphens(id) != id:
		return "has dashes that are no hyphens"
	case otherwiseHyphened(id) != "":
		return "is a UUID whose hyphens are missing, elsewhere, or other signs"
	case meantProfileID(id) != "":
		return "has signs around its UUID"
	case isUUID || placeholder(id):
		return "marks the place of an ID, and is none"
	case iban.MatchString(id):
		return "is an IBAN, and the service knows profiles instead of bank accounts"
	case strings.HasPrefix(id, "'"):
		return "begins with an apostrophe, which marks text in a spreadsheet"
	case truthValues[strings.ToUpper(id)]:
		return "says yes or no"
	case decimalID.MatchString(id):
		return "is an amount: two columns may have changed places"
	case mail.MatchString(id):
		return "is an e-mail address"
	case strings.Contains(id, " ") && words.MatchString(id):
		return "is a name"
	case fewDigits.MatchString(id):
		return "has digits alone"
	case nearUUID.MatchString(id):
		return "is nearly a UUID, and has a digit or a sign too many or too few"
	}
	return ""
}

// codeHint says how the word of a column for a currency becomes its code.
func codeHint(block *transferBlock, in instance, word, code string) string {
	f := block.fields["asset"]
	if !in.isOfColumn(f) || syntax.Traversal(f.Expr) == nil {
		return fmt.Sprintf("The code of the currency is:\n\n  asset = %q", code)
	}
	column := mistake.ColumnOf("each.value", f.column)
	return fmt.Sprintf("Write %s in the file, or let it mean that here:\n\n  asset = %s == %s ? %q : %s", code, column, mistake.QuotedHCL(word), code, column)
}
