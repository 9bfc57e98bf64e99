package config

import (
	"remit/config/rows"
	"remit/internal/clock/calendar"
	"remit/internal/clock/zone"
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
	case "policy.signals": // the kinds of signals that planner puts on lines
		return []string{"first-time destination", "amount out of line", "another asset", "another name", "another account", "mixed scripts", "unusual form", "look-alike", "rename", "unverified", "late"}
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
