package records

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// ofRemit says what a file is that remit wrote, or reads as something else, by its name and its first bytes; "" for any
// other.
func ofRemit(name string, head []byte) string {
	const export = "Get the service's own export of its transfer records"
	begins := func(starts ...string) bool {
		return slices.ContainsFunc(starts, func(start string) bool { return bytes.HasPrefix(head, []byte(start)) })
	}
	switch {
	case begins("SQLite format 3"):
		return "this is a database, as a state of remit is. " + export
	case begins(`{"type":"version","format":"remit/`, "; remit export", "date,standing,cause,ref_id,", "result,ref_id,group_id,record_id,"),
		begins("<?xml") && bytes.Contains(head, []byte("xsd:pain.002")):
		return "this is what remit wrote itself, which proves nothing about what the service made. " + export
	case strings.HasSuffix(name, ".hcl"):
		return "this is a file of the configuration. " + export
	}
	return ""
}

// lacking says which fields an object of JSON lacks that every record has, where it lacks so many that it is none; ""
// for any other text.
func lacking(object []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return ""
	}
	missing := slices.DeleteFunc([]string{"id", "customer_id", "profile_id", "direction"}, func(name string) bool {
		_, has := members[name]
		return has
	})
	const most = 2
	if len(missing) <= most {
		return ""
	}
	return fmt.Sprintf("this is no transfer record: it lacks %s and more. Get the service's own export of its transfer records; a list of payments is CSV with the columns ref_id and group_id", strings.Join(missing, ", "))
}

// almostList says how the columns of a list of payments are called, where a header has other names for them or lacks
// one; "" for any other header.
func almostList(names []string) string {
	plain := func(name string) string {
		return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(name))
	}
	known := []string{"ref_id", "group_id", "amount", "asset"}
	var has, other []string
	for _, name := range names {
		i := slices.IndexFunc(known, func(column string) bool { return plain(column) == plain(name) })
		if i < 0 {
			return ""
		}
		has = append(has, known[i])
		if known[i] != name {
			other = append(other, fmt.Sprintf("%q to %s", name, known[i]))
		}
	}
	switch {
	case !slices.Contains(has, "ref_id"):
		return ""
	case !slices.Contains(has, "group_id"):
		return "this is a list of payments without the column group_id, which is the service's ID of each transfer. Add the column; the service's answer or its export has the IDs"
	case len(other) > 0:
		return "a list of payments has other names for its columns. Rename " + strings.Join(other, ", ")
	}
	return ""
}
