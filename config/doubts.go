package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

// doubts are warnings of what a transfer says that a service will hardly know. They keep no transfer from
// being planned: which assets and IDs there are, the service alone knows.
func (s *stream) doubts(t *Transfer) hcl.Diagnostics {
	if t.Address == "" {
		return nil
	}
	var diags hcl.Diagnostics
	r := &t.Request
	if r.Asset != s.asset {
		if s.asset = r.Asset; !s.assets[r.Asset] {
			s.assets[r.Asset] = true
			diags = append(diags, s.unknownAsset(t)...)
		}
	}
	for _, id := range []string{r.FromProfileID, r.ToProfileID} {
		if what := notProfileID(id); what != "" {
			d := mistake.Warning(t.Place.rangeOf(), "ID of a profile looks wrong",
				"The profile_id %q %s. The service shows the ID beside the profile, such as:\n\n  \"37867177-f88c-45cc-b9b5-d786e7079609\"", id, what)
			d.Extra = &mistake.Origin{Block: t.Block, Reason: what}
			diags = append(diags, d)
		}
	}
	return diags
}

// rangeOf is the line of a place.
func (p Place) rangeOf() hcl.Range {
	start := hcl.Pos{Line: p.Line, Column: 1}
	return hcl.Range{Filename: p.File, Start: start, End: start}
}

// assetWords are words for currencies, with their codes.
var assetWords = map[string]string{
	"DOLLAR": "USD", "DOLLARS": "USD", "$": "USD", "US$": "USD", "BUCKS": "USD", "EURO": "EUR", "EUROS": "EUR", "€": "EUR", "POUND": "GBP", "POUNDS": "GBP", "£": "GBP",
	"YEN": "JPY", "¥": "JPY", "FRANC": "CHF", "FRANCS": "CHF", "FRANKEN": "CHF", "SFR": "CHF", "840": "USD", "978": "EUR", "826": "GBP", "392": "JPY", "756": "CHF",
}

// unknownAsset warns of an asset that no list and no asset block has.
func (s *stream) unknownAsset(t *Transfer) hcl.Diagnostics {
	asset := t.Request.Asset
	if _, known := s.config.assets.of(asset); known {
		return nil
	}
	hint := ""
	if code := assetWords[strings.ToUpper(asset)]; code != "" {
		hint = fmt.Sprintf("The code of the currency is:\n\n  asset = %q", code)
	} else {
		hint = fmt.Sprintf("If it is an asset of the service, say how many decimals it has:\n\n  asset %s {\n    scale = 2\n  }", mistake.QuotedHCL(asset))
		for _, code := range []string{"USD", "EUR", "GBP", "JPY", "CHF"} {
			if sorted(asset) == sorted(code) {
				hint = fmt.Sprintf("Did you mean %q?", code)
			}
		}
	}
	d := mistake.Warning(t.Place.rangeOf(), "Asset is not known", "%q is no code of ISO 4217, such as USD, and no asset block declares it. %s", asset, hint)
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
	fewDigits = regexp.MustCompile(`^[0-9]{2,12}$`)
	nearUUID  = regexp.MustCompile(`^[{(]?[0-9a-fA-F-]{30,40}[)}]?$`)
)

// notProfileID says what a profile's ID seems to be instead; "" where nothing is wrong with it.
func notProfileID(id string) string {
	const lengthOfUUID = 36
	if len(id) == lengthOfUUID && id[8] == '-' {
		if uuid.Validate(id) == nil {
			return ""
		}
	}
	switch {
	case fewDigits.MatchString(id):
		return "has digits alone"
	case nearUUID.MatchString(id):
		return "is nearly a UUID, and has a digit or a sign too many or too few"
	}
	return ""
}
