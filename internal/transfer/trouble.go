package transfer

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"remit/internal/text/lazyregexp"
)

// Fields by which a service says how a request went, by their letters alone.
var (
	troubleCodes = []string{
		"code", "statuscode", "httpcode", "httpstatus", "httpstatuscode", "resultcode", "returncode", "retcode", "responsecode", "respcode",
		"reasoncode", "status", "result", "outcome",
	}
	troubleWords = []string{
		"message", "messages", "msg", "statusmessage", "statustext", "resultmessage", "responsemessage", "respmsg", "returnmessage", "returnmsg",
		"retmsg", "detail", "reason",
	}
	troubleErrors = []string{ // that say nothing good unless they say so in full
		"errorcode", "errcode", "errno", "faultcode", "exceptioncode", "problemcode", "errormessage", "errmsg", "errordescription", "faultstring",
	}
	troubleAsides = []string{"warning", "warnings"} // that may be about something else
	troubleFlags  = []string{
		"fault", "faults", "exception", "exceptions", "problem", "problems", "degraded", "isdegraded", "stale", "isstale", "notsearched",
		"unavailable", "unprocessed", "unprocesseditems", "notprocessed", "failed", "failedshards",
	}
	troubleShards = []string{"failed", "timedout", "timeouts", "missing"} // of parts of a search

	// envelopes are objects about an answer, and no part of what it has.
	envelopes = []string{
		"meta", "metadata", "header", "headers", "head", "status", "result", "results", "response", "responseheader", "responsestatus", "outcome",
		"paging", "pagination", "page", "pages", "pageinfo", "hits", "shards",
	}

	badWords = lazyregexp.New(`error|fail|time[ds]? ?out|unavail|partial|incomplete|degrad|denied|exceed|exception|\bfault|\babort|unable|can ?not\b|can't` +
		`|could ?n[o']t|not all\b|not available|\btry\b.*\bagain\b|\bretry|overload|\bstale|outdated|throttl|too many|refused|reject|truncat|malfunction` +
		`|bad gateway|in progress|invalid|unauthori|forbidden|un ?succe|interrupt|\bskipped\b|did ?n[o']t (complete|finish|succeed|answer|respond)`)
	goodWords = lazyregexp.New(`\b(ok|okay|success|successful|successfully|succeeded|done|completed?|fine|normal|retrieved|fetched|executed|finished|deprecated)\b`)
	negations = lazyregexp.New(`\b(not|no|never|none|nothing|without)\b|n't\b`)
	// absentWords are whole texts by which a service says that there is nothing of the kind that was asked for.
	absentWords = lazyregexp.New(`^[^\pL\d]*(` +
		`(no|0|zero) ([\pL-]+ ){0,3}(transfers?|transactions?|payments?|records?|results?|items?|data|entry|entries|rows?|documents?|hits?|orders?|ref ?ids?)( (were|was|are|is))?( (found|matched|match|exist|exists|available|returned|listed|yet))?( (for|in|with|of|under|by|the|this|that|these|to|yet)\b[\pL\d ]*)?` +
		`|((transfers?|transactions?|payments?|records?|results?|items?|data|entry|entries|rows?|documents?|hits?|orders?|ref ?ids?) )?(were |was |are |is )?not found|(none|nothing)( (was|were))? found|none|empty|no content|no such (transfers?|transactions?|payments?|records?|results?|items?|data|entry|entries|rows?|documents?|hits?|orders?|ref ?ids?))[^\pL\d]*$`)
	noErrors = lazyregexp.New(`\b(no|without|0|zero) (any )?(error|failure|exception|fault|problem|warning|issue)s?\b`)
)

// troubleMax bounds, in bytes, a value that is read for its words.
const troubleMax = 4 << 10

// TroubleOf returns the field by which a list that lacks something says that the request did not go well, such as message, and its value;
// "" where none does. Services, and gateways before them, answer 200 with an empty list and a word of their trouble. A word that nobody here
// knows is trouble too, unless a code or another word beside it says that all went well.
func TroubleOf(fields map[string]json.RawMessage) (field, says string) {
	return troubleIn(fields, false, partDepth)
}

// FailureOf is [TroubleOf] of an export, whose envelope may say many things of its records: one of its own codes or messages that is known to be
// bad, or a flag of failure.
func FailureOf(fields map[string]json.RawMessage) (field, says string) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		letters, value := lettersOf(name), fields[name]
		isFlag := slices.Contains(troubleFlags, letters) && letters != "failed" // which may count records
		if isFlag && !isNothing(value) || !slices.Contains(troubleAsides, letters) && saidBy(letters, value) == saysBad {
			return name, plainText(value)
		}
	}
	return "", ""
}

func troubleIn(fields map[string]json.RawMessage, isOfShards bool, depth int) (field, says string) {
	isWell := false
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value, letters := fields[name], lettersOf(name)
		isList := depth == partDepth && (name == "items" || name == "next_page_cursor")
		if isList || slices.Contains(partEchoes, letters) || isNull(value) {
			continue
		}
		isFlag := slices.Contains(troubleFlags, letters) || isOfShards && slices.Contains(troubleShards, letters)
		if isFlag && !isNothing(value) {
			return name, plainText(value)
		}
		if depth > 0 && slices.Contains(envelopes, letters) {
			if inner, err := ObjectFields(value); err == nil {
				if within, says := troubleIn(inner, letters == "shards", depth-1); within != "" {
					return name + "." + within, says
				}
				continue
			}
		}
		switch saidBy(letters, value) {
		case saysNothing:
		case saysBad:
			return name, plainText(value)
		case saysGood:
			isWell = true
		case saysUnknown:
			if field == "" {
				field, says = name, plainText(value)
			}
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
	isOfPages := hasField(fields, partPlaces) // a count beside these may be as many as a page may have, or as there are pages
	if isCut(fields) {
		return 0
	}
	for name, value := range fields {
		letters := lettersOf(name)
		switch {
		case depth == partDepth && name == "items", letters == "shards":
		case letters == "total", letters == "count":
			if inner, err := ObjectFields(value); err == nil {
				most = max(most, wholeNumber(inner["value"]))
			} else if !isMoney && !isOfPages {
				most = max(most, wholeNumber(value))
			}
		case depth > 0 && slices.Contains(envelopes, letters):
			if inner, err := ObjectFields(value); err == nil {
				most = max(most, countIn(inner, depth-1))
			}
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
	isCode, isError := slices.Contains(troubleCodes, letters), slices.Contains(troubleErrors, letters)
	isWord, isAside := slices.Contains(troubleWords, letters), slices.Contains(troubleAsides, letters)
	isEnd := slices.Contains(partEnds, letters)
	if !isCode && !isError && !isWord && !isAside && !isEnd || isCode && strings.ContainsAny(string(value[:1]), "[{") {
		return saysNothing
	}
	switch said := saidIn(plainText(value)); {
	case isEnd && said != saysGood, isAside && said != saysBad: // an end that is false is told by [PartOf]
		return saysNothing
	case isError && said == saysUnknown:
		return saysBad
	default:
		return said
	}
}

func saidIn(text string) said {
	if n, err := strconv.Atoi(text); err == nil {
		switch {
		case n == 0, 200 <= n && n < 300:
			return saysGood
		case n < 0, 400 <= n && n < 600 && n != 404: // by which some say that there is nothing
			return saysBad
		}
		return saysUnknown
	}
	text = strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune("_- \t\r\n", r) }), " ")
	text = noErrors.ReplaceAllString(text, "ok")
	switch {
	case text == "":
		return saysNothing
	case text == "true", absentWords.MatchString(text):
		return saysGood
	case text == "false", badWords.MatchString(text):
		return saysBad
	case goodWords.MatchString(text) && !negations.MatchString(text):
		return saysGood
	}
	return saysUnknown
}

// plainText returns a text or a number as it is, and of a list or an object the texts in it. Of a long value it returns the beginning.
func plainText(value json.RawMessage) string {
	if len(value) > troubleMax {
		return strings.ToValidUTF8(string(value[:troubleMax]), "")
	}
	var tree any
	in := json.NewDecoder(bytes.NewReader(value))
	in.UseNumber()
	if in.Decode(&tree) != nil {
		return string(value)
	}
	return strings.Join(textsIn(nil, tree), " ")
}

func textsIn(all []string, value any) []string {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			all = textsIn(all, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = textsIn(all, v[name])
		}
	case string:
		all = append(all, strings.TrimSpace(v))
	case bool:
		all = append(all, strconv.FormatBool(v))
	case json.Number:
		all = append(all, v.String())
	}
	return all
}

func isNull(value json.RawMessage) bool { return string(value) == "null" }
