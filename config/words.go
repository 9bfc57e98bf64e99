package config

import (
	"slices"

	"remit/config/rows"
	"remit/internal/clock/calendar"
	"remit/internal/clock/zone"
	"remit/internal/transfer"
)

// Words are what an argument may say, where that is one of a list; nil elsewhere. Of arguments that are read by
// [eval.Reader.OneOf] the first is the default.
func Words(block, argument string) []string {
	switch argument {
	case "timezone":
		return zone.Names()
	case "weekend", "days":
		return calendar.Weekdays()
	}
	switch block + "." + argument {
	case "calendar.holidays":
		return calendar.HolidaySets()
	case "data.encoding":
		return rows.Encodings()
	case "limit.per":
		return []string{string(PerTransfer), string(PerPlan), string(PerDay), string(PerDestinationDay)}
	case "policy.scope":
		return []string{string(ScopeTransfer), string(ScopePlan)}
	case "schedule.convention":
		var words []string
		for _, c := range calendar.Conventions() {
			words = append(words, string(c))
		}
		return words
	case "service.on_doubt":
		return []string{"resend", "hold"}
	case "service.precheck":
		return []string{"always", "new"}
	case "service.auth_style":
		return []string{"auto", "basic", "post"}
	}
	return nil
}

// LabelWords are what a label of a block may say, where that is one of a list; nil elsewhere.
func LabelWords(block string, label int) []string {
	switch {
	case label > 0:
		return nil
	case block == "data":
		return dataTypes()
	case block == "state":
		return []string{StateSQLite, StatePostgres}
	case block == "transfer":
		return []string{string(transfer.Internal), string(transfer.Platform)}
	}
	return nil
}

// DataArguments are the arguments that a data block of a type may have.
func DataArguments(kind string) []string {
	arguments := []string{"file", "key", "where", "acknowledge"}
	if i := slices.Index(dataTypes(), kind); i >= 0 {
		arguments = append(arguments, dataKinds()[i].arguments...)
	}
	return arguments
}

// ValueAttributes are what a value with a name has, by the root of its references, such as profile.
func ValueAttributes(root string) []string {
	if root == "data" {
		return []string{"rows"}
	}
	return attributes()[root]
}
