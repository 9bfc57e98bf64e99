package records_test

import (
	"strings"
	"testing"

	"remit/internal/accounts/records"
	"remit/internal/transfer"
)

// TestAListIsHeldAgainstTheRecords has a line of a list, and a record of its ref_id or of its group_id.
func TestAListIsHeldAgainstTheRecords(t *testing.T) {
	for name, test := range map[string]struct {
		listing records.Listing
		record  transfer.Record
		want    string // "" where they agree
	}{
		"the same":                     {records.Listing{Amount: "10.00", Asset: "USD"}, transfer.Record{GroupID: "g", Amount: "10", Asset: "USD"}, ""},
		"another asset":                {records.Listing{Amount: "10.00", Asset: "EUR"}, transfer.Record{GroupID: "g", Amount: "10.00", Asset: "USD"}, `list:2: ref_id "rent" has 10.00 EUR here, and 10.00 USD in the records`},
		"another amount":               {records.Listing{Amount: "10.00", Asset: "USD"}, transfer.Record{GroupID: "g", Amount: "10.01", Asset: "USD"}, `list:2: ref_id "rent" has 10.00 USD here, and 10.01 USD in the records`},
		"no amount":                    {records.Listing{}, transfer.Record{GroupID: "g", Amount: "10.00", Asset: "USD"}, ""},
		"another group_id":             {records.Listing{}, transfer.Record{GroupID: "h"}, `list:2: ref_id "rent" has the group_id "g" here, and "h" in the records`},
		"a record without a group_id":  {records.Listing{}, transfer.Record{}, ""},
		"its group_id, of another one": {records.Listing{}, transfer.Record{RefID: "fee", GroupID: "g"}, `list:2: group_id "g" is, in the records, that of the ref_id "fee"`},
		"another one in another group": {records.Listing{Amount: "1", Asset: "EUR"}, transfer.Record{RefID: "fee", GroupID: "h", Amount: "7", Asset: "USD"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.listing.RefID, test.listing.GroupID, test.listing.Line = "rent", "g", 2
			if test.record.RefID == "" {
				test.record.RefID = "rent"
			}
			var list records.List
			if err := list.Add("list", test.listing); err != nil {
				t.Fatal(err)
			}
			err := list.Check(&test.record)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
