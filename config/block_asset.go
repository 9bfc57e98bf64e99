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
		Name: "asset", Labels: []string{"code"}, Required: []string{"scale"}, Policy: true, Shared: true,
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
func tryAssets(c *checker, blocks []*eval.Block, assets scales) {
	reported := c.diags
	c.diags = nil
	evaluateAssets(c, blocks, assets)
	if c.diags.HasErrors() {
		clear(assets)
	}
	c.diags = reported
}

func evaluateAssets(c *checker, blocks []*eval.Block, assets scales) {
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
		c.report(r.Diags...)
	}
}
