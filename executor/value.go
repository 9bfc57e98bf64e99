package executor

import (
	"github.com/zclconf/go-cty/cty"

	"remit/internal/transfer"
	"remit/planner"
)

// Value is how the run ended as an expression sees it, under the name outcomes: an object with
// the count and totals of each result, and the exceptions by ref_id.
func (s *Summary) Value() cty.Value {
	value := map[string]cty.Value{}
	for _, result := range Results() {
		totals := transfer.Totals{}
		if t := s.Totals[result]; t != nil {
			totals = *t
		}
		value[string(result)] = planner.TotalsValue(totals)
	}
	exceptions := map[string]cty.Value{}
	for _, e := range s.Exceptions {
		exceptions[e.RefID] = exceptionValue(e)
	}
	value["exceptions"] = cty.MapValEmpty(exceptionValue(Event{}).Type())
	if len(exceptions) > 0 {
		value["exceptions"] = cty.MapVal(exceptions)
	}
	return cty.ObjectVal(value)
}

func exceptionValue(e Event) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"result": cty.StringVal(string(e.Result)), "reason": cty.StringVal(e.Reason),
	})
}
