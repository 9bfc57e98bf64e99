package functions

import (
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func timeFunctions() map[string]entry {
	return map[string]entry{
		"formatdate": {stdlib.FormatDateFunc, "An RFC 3339 time in another form, such as \"YYYY-MM-DD\"."},
		"timeadd":    {stdlib.TimeAddFunc, "An RFC 3339 time moved by a duration such as \"36h\" or \"-90m\"."},
		"timecmp":    {simple(cty.Number, timeCompare, "a", "b"), "-1, 0 or 1: whether RFC 3339 time a is before, at or after b."},
	}
}

func timeCompare(args []string) (cty.Value, error) {
	var times [2]time.Time
	for i, text := range args {
		parsed, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return cty.NilVal, function.NewArgErrorf(i, "%q is not an RFC 3339 time such as \"2026-11-27T09:00:00Z\"", text)
		}
		times[i] = parsed
	}
	return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
}
