package config

import (
	"fmt"
	"strings"
)

// LeftOut says which row a data source leaves out that may have been meant by a ref_id, which ends with the row's key: a clause
// such as "where of data.csv.payroll leaves out line 7 of payroll.csv, whose key is \"E-7\"". It is "" for no such row, and complete
// once [Configuration.Transfers] came to its end.
func LeftOut(c *Configuration, refID string) string {
	longest, text := 0, ""
	for _, n := range c.scope.InOrder {
		d := c.data[n]
		if d == nil {
			continue
		}
		for _, row := range d.leftOut {
			before, isEnd := strings.CutSuffix(refID, row.key)
			if !isEnd || len(row.key) <= longest || before != "" && !strings.ContainsAny(before[len(before)-1:], "-_/.: ") {
				continue
			}
			longest = len(row.key)
			text = fmt.Sprintf("%s of %s leaves out line %d of %s, whose key is %q", row.by, d.address, row.line, inSheet(d.file.Name, d.sheet), row.key)
		}
	}
	return text
}
