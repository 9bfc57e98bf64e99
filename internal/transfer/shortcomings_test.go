package transfer_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
)

func TestARecordMustNameItsGroupAndAddUp(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*transfer.Record)
		fields []string
	}{
		"as the document shows it":                      {func(*transfer.Record) {}, nil},
		"the total is amount plus fee":                  {func(r *transfer.Record) { r.Fee, r.Total = "1.5", "8201.5000" }, nil},
		"the total is amount minus fee":                 {func(r *transfer.Record) { r.Fee, r.Total = "1.50", "8198.5" }, nil},
		"the fee is given back":                         {func(r *transfer.Record) { r.Fee, r.Total = "-1.50", "8198.5" }, nil},
		"the total is the amount, with fee":             {func(r *transfer.Record) { r.Fee = "1.50" }, nil},
		"the fee is no number, the total is the amount": {func(r *transfer.Record) { r.Fee = "free" }, nil},
		"the total is something else":                   {func(r *transfer.Record) { r.Total = "99" }, []string{"total"}},
		"the total is a hundred times the amount":       {func(r *transfer.Record) { r.Total = "820000" }, []string{"total"}},
		"the total is signed":                           {func(r *transfer.Record) { r.Total = "-8200.00" }, []string{"total"}},
		"the fee takes more than the amount":            {func(r *transfer.Record) { r.Fee, r.Total = "8300", "-100" }, []string{"total"}},
		"its group_id is a space":                       {func(r *transfer.Record) { r.GroupID = " " }, []string{"group_id"}},
		"its group_id cannot be seen":                   {func(r *transfer.Record) { r.GroupID = " \u200b\u00ad\ufeff" }, []string{"group_id"}},
		"the total is no number":                        {func(r *transfer.Record) { r.Total = "8.2e3" }, []string{"total"}},
		"the fee is no number":                          {func(r *transfer.Record) { r.Fee, r.Total = "free", "8201" }, []string{"total"}},
		"it has no group_id":                            {func(r *transfer.Record) { r.GroupID = "" }, []string{"group_id"}},
		"it has neither":                                {func(r *transfer.Record) { r.GroupID, r.Total = "", "1" }, []string{"group_id", "total"}},
		"it FAILED":                                     {func(r *transfer.Record) { r.Status, r.GroupID, r.Total = transfer.Failed, "", "0" }, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			rec := debitOf()
			test.change(&rec)
			var fields []string
			for _, d := range transfer.Shortcomings(rec) {
				fields = append(fields, d.Field)
			}
			if diff := cmp.Diff(test.fields, fields); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
