package config

import (
	"math"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/transfer"
)

// assetScaleMax bounds what an asset block may say; no asset is known to have more.
const assetScaleMax = 38

func assetKind() eval.Kind {
	return eval.Kind{
		Name: "asset", Labels: []string{"code"}, Required: []string{"scale"}, Policy: true,
	}
}

// scales are how many decimals the amounts of assets may have, by code in one spelling, as
// asset blocks say.
type scales map[string]int

// of returns the decimals that an asset may have; false where there is no limit.
func (s scales) of(asset string) (int, bool) { return transfer.Scales(s).Of(asset) }

// limit is of where no limit is as many as an int counts.
func (s scales) limit(asset string) int {
	if scale, limited := s.of(asset); limited {
		return scale
	}
	return math.MaxInt
}

// Scales are the decimals of the assets that asset blocks name; empty where there is none.
func (c *Configuration) Scales() transfer.Scales { return transfer.Scales(c.assets) }

func (l *loader) evaluateAssets() {
	for _, b := range l.assets {
		code := b.Label(0)
		if code == "" || b.Incomplete || !l.declare("asset."+transfer.AssetSpelled(code), b.At) {
			continue
		}
		if err := checkRefID(code); err != nil {
			l.report(mistake.New(b.LabelAt[0], "Invalid asset", "The code of an asset %s", mistake.Sentence(err)))
			continue
		}
		l.resolveBlock(b, eval.WideReach())
		r := eval.Reader{Scope: l.config.scope, Block: b}
		l.config.assets[transfer.AssetSpelled(code)] = r.Whole("scale", 0, assetScaleMax, assetScaleMax)
		l.report(r.Diags...)
	}
}
