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
		Name: "asset", Labels: []string{"code"}, Required: []string{"scale"}, Optional: []string{"currency"}, Policy: true, Shared: true,
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

// tryAssets reads the asset blocks for a caller that only shows amounts. It leaves them out, without a mistake, where
// one of them is wrong or needs a value that was not given here.
func tryAssets(c *checker, blocks []*eval.Block, assets scales, currencies map[string]string) {
	reported := c.diags
	c.diags = nil
	evaluateAssets(c, blocks, assets, currencies)
	if c.diags.HasErrors() {
		clear(assets)
		clear(currencies)
	}
	c.diags = reported
}

// evaluateAssets reads the decimals of assets, and the currencies that files may say in their place.
func evaluateAssets(c *checker, blocks []*eval.Block, assets scales, currencies map[string]string) {
	for _, b := range blocks {
		code := b.Label(0)
		if code == "" || b.Incomplete || !c.declare("asset."+transfer.AssetSpelled(code), b.At) {
			continue
		}
		if err := transfer.CheckDeclaredRefID(code); err != nil {
			c.report(mistake.New(b.LabelAt[0], "Invalid asset", "The code of an asset %s", mistake.Sentence(err)))
			continue
		}
		c.resolveBlock(b, eval.WideReach())
		r := eval.Reader{Scope: c.scope, Block: b}
		assets[transfer.AssetSpelled(code)] = r.Whole("scale", 0, assetScaleMax, assetScaleMax)
		if currency, a := r.Text("currency"); currency != "" {
			switch {
			case isCurrency(code):
				r.Refuse(a.Expr.Range(), "Currency of a currency", "%s is a currency itself, and is not paid where a file says another one. Leave the argument out.", code)
			case !isCurrency(currency) || currency != transfer.AssetSpelled(currency):
				r.Refuse(a.Expr.Range(), "Not a currency", "currency %q is no code of ISO 4217, such as \"USD\".", currency)
			default:
				currencies[transfer.AssetSpelled(code)] = currency
			}
		}
		c.report(r.Diags...)
	}
}
