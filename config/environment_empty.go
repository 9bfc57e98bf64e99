package config

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
	"remit/config/syntax"
)

// warnOfEmpty warns of a month that is the default although the environment names the variable: somebody meant to give it a value, and
// a payment of a month that was paid would be taken for done.
func (vs *variables) warnOfEmpty(opts Options) {
	if opts.Environ == nil || opts.Need != NeedAll {
		return
	}
	environ := opts.Environ()
	for _, v := range vs.all {
		whole := environmentPrefix + v.Name
		isMonth := v.otherwise != cty.NilVal && syntax.IsText(v.otherwise) && monthOf.MatchString(v.otherwise.AsString())
		if v.assigned || v.Sensitive || !isMonth || !slices.Contains(environ, whole+"=") {
			continue
		}
		vs.report(mistake.Warning(v.At, "Variable of the environment is empty",
			"%s is set and has no value, so the default counts: %s. Give it a value, or remove it.", whole, v.otherwise.AsString()))
	}
}
