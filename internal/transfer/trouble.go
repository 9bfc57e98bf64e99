package transfer

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Fields by which a service says how a request went, by their letters alone.
var (
	troubleCodes = []string{
		"code", "errorcode", "errcode", "errno", "statuscode", "httpcode", "httpstatus", "httpstatuscode", "resultcode", "returncode",
		"retcode", "responsecode", "respcode", "reasoncode", "faultcode", "exceptioncode", "problemcode", "status", "result",
	}
	troubleWords = []string{ // that say nothing else
		"message", "msg", "errormessage", "errmsg", "errordescription", "statusmessage", "statustext", "resultmessage", "responsemessage",
		"respmsg", "returnmessage", "returnmsg", "retmsg", "faultstring", "detail", "reason",
	}
	troubleTexts  = []string{"title", "description", "details", "note", "notes", "notice", "info", "hint", "comment", "warning", "warnings"} // that may be about something else
	troubleFlags  = []string{"fault", "faults", "exception", "exceptions", "problem", "problems", "degraded", "isdegraded", "stale", "isstale", "notsearched", "unavailable", "unprocessed", "unprocesseditems", "notprocessed", "failed", "failedshards"}
	troubleShards = []string{"failed", "skipped", "timedout", "timeouts", "missing"} // of parts of a search

	badWords = regexp.MustCompile(`error|fail|time[ds]?[-_ ]?out|unavail|partial|incomplete|degrad|denied|exceed|exception|\bfault|abort|unable|can ?not\b|can't|could ?n[o']t|not all|not available` +
		`|\bagain\b|retry|busy|overload|stale|outdated|maintenance|throttl|too[-_ ]many|refused|reject|delay|replica|truncat|malfunction|internal|gateway|upstream|invalid|unauthori|forbidden|cancel|pending|progress`)
	goodWords = regexp.MustCompile(`\bok\b|\bokay\b|succe|\bdone\b|complete|\bfine\b|\bnormal\b|\bempty\b|\bnone\b|found|\bno[-_ ](data|match|record|result|transfer|item|row|content|entr)|\b0 |deprecat`)
	noErrors  = regexp.MustCompile(`\b(no|without|0|zero)[-_ ]?(error|failure|exception|fault|problem|warning)s?\b`)
)

// TroubleOf returns the field by which a list that lacks something says that the request did not go well, such as message, and its value;
// "" where none does. Services, and gateways before them, answer 200 with an empty list and a word of their trouble. A word that nobody here knows is
// trouble too, unless a code or another word beside it says that all went well.
func TroubleOf(fields map[string]json.RawMessage) (field, says string) {
	return troubleIn(fields, false, partDepth)
}

// FailureOf is [TroubleOf] of an export, whose envelope may say many things of its records: one of its own codes or messages that is known to be
// bad, or a flag of failure.
func FailureOf(fields map[string]json.RawMessage) (field, says string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		letters, value := lettersOf(name), fields[name]
		isOwn := slices.Contains(troubleCodes, letters) || slices.Contains(troubleWords, letters)
		isFlag := slices.Contains(troubleFlags, letters) && letters != "failed" // which may count records
		if isFlag && !isNothing(value) || isOwn && saidBy(letters, value) == saysBad {
			return name, plainText(value)
		}
	}
	return "", ""
}

func troubleIn(fields map[string]json.RawMessage, isOfShards bool, depth int) (field, says string) {
	isWell := false
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, letters := fields[name], lettersOf(name)
		if depth == partDepth && (name == "items" || name == "next_page_cursor") || slices.Contains(partEchoes, letters) || isNull(value) {
			continue
		}
		isFlag := slices.Contains(troubleFlags, letters) || isOfShards && slices.Contains(troubleShards, letters)
		if isFlag && !isNothing(value) {
			return name, plainText(value)
		}
		inner, err := ObjectFields(value)
		if err == nil && depth > 0 {
			if within, says := troubleIn(inner, strings.Contains(letters, "shard"), depth-1); within != "" {
				return name + "." + within, says
			}
		}
		switch said := saidBy(letters, value); {
		case said == saysBad:
			return name, plainText(value)
		case said == saysGood:
			isWell = true
		case said == saysUnknown && field == "":
			field, says = name, plainText(value)
		}
	}
	if isWell {
		return "", ""
	}
	return field, says
}

// CountOf is [TotalOf] of a list that lacks something, which any count of more than it has proves not to be whole: a total or a count
// beside no word of pages too, and that of the hits of a search.
func CountOf(fields map[string]json.RawMessage) int {
	return max(TotalOf(fields), countIn(fields, partDepth))
}

func countIn(fields map[string]json.RawMessage, depth int) int {
	most := 0
	isMoney := hasField(fields, []string{"asset", "currency", "amount", "fee"})
	isOfPages := hasField(fields, []string{"limit", "offset", "perpage", "pagesize", "skip"}) // a count beside these may be as many as a page may have
	for name, value := range fields {
		letters := lettersOf(name)
		isEcho := slices.Contains(partEchoes, letters) || strings.Contains(letters, "shard") || strings.Contains(letters, "unfiltered")
		switch inner, err := ObjectFields(value); {
		case depth == partDepth && name == "items", isEcho:
		case err == nil && letters == "total":
			most = max(most, wholeNumber(inner["value"]))
		case err == nil && depth > 0:
			most = max(most, countIn(inner, depth-1))
		case letters == "total" && !isMoney, letters == "count" && !isMoney && !isOfPages:
			most = max(most, wholeNumber(value))
		}
	}
	return most
}

// said is how a request went, by one field.
type said int

const (
	saysNothing said = iota
	saysUnknown      // something that nobody here knows
	saysGood
	saysBad
)

func saidBy(letters string, value json.RawMessage) said {
	text := strings.ToLower(strings.TrimSpace(plainText(value)))
	if text == "" {
		return saysNothing
	}
	isScalar := !strings.ContainsAny(string(value[:1]), "[{")
	isCode := isScalar && slices.Contains(troubleCodes, letters)
	if n, err := strconv.Atoi(text); err == nil && isCode {
		switch {
		case n == 0, 200 <= n && n < 300:
			return saysGood
		case n < 0, 400 <= n && n < 600:
			return saysBad
		}
		return saysUnknown
	}
	isWord := slices.Contains(troubleWords, letters)
	if !isCode && !isWord && !slices.Contains(troubleTexts, letters) {
		if text == "true" && slices.Contains(partEnds, letters) {
			return saysGood
		}
		return saysNothing
	}
	switch text = noErrors.ReplaceAllString(text, "ok"); {
	case badWords.MatchString(text):
		return saysBad
	case goodWords.MatchString(text):
		return saysGood
	case isCode || isWord:
		return saysUnknown
	}
	return saysNothing
}

// plainText returns a text or a number as it is, and of a list all that is in it.
func plainText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) == nil {
		var all []string
		for _, item := range items {
			all = append(all, plainText(item))
		}
		return strings.Join(all, " ")
	}
	if fields, err := ObjectFields(value); err == nil {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			all = append(all, plainText(fields[name]))
		}
		return strings.Join(all, " ")
	}
	return string(value)
}

func isNull(value json.RawMessage) bool { return string(value) == "null" }
