package mistake

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"

	"remit/internal/text/lazyregexp"
)

// examples are arguments that blocks can't be without, as they may be written.
var examples = map[string]string{
	"amount": `amount = "8200.00"`, "asset": `asset = "USD"`, "file": `file = "payroll.csv"`,
	"profile_id": `profile_id = "37867177-f88c-45cc-b9b5-d786e7079609"`, "scale": `scale = 2`,
	"condition": `condition = length(var.period) == 7`, "error_message": `error_message = "A period is such as 2026-11."`,
	"per": `per = "day"`, "rrule": `rrule = "FREQ=MONTHLY;BYMONTHDAY=-1"`, "start": `start = "2026-01-31"`,
	"approvers": `approvers = 2`, "allowed_signers": `allowed_signers = "allowed_signers"`, "key_id": `key_id = "treasury-2026"`,
	"at": `at = "15:00"`, "from": `from = "2026-12-24T12:00:00+01:00"`, "to": `to = "2026-12-28T06:00:00+01:00"`,
}

// synonyms are words for arguments that other programs use, with the arguments that may be meant.
var synonyms = map[string][]string{
	"currency": {"asset"}, "ccy": {"asset"}, "unit": {"asset"}, "code": {"asset", "scale"}, "decimals": {"scale"},
	"reference": {"ref_id"}, "id": {"ref_id", "profile_id", "client_id", "key_id"}, "transfer_id": {"ref_id"}, "payment_id": {"ref_id"}, "end_to_end_id": {"ref_id"}, "idempotency_key": {"ref_id"},
	"description": {"metadata"}, "note": {"metadata"}, "memo": {"metadata"}, "purpose": {"metadata"}, "text": {"metadata"}, "comment": {"description", "metadata"}, "tags": {"metadata"}, "labels": {"metadata"},
	"date": {"not_before", "start", "dates"}, "due": {"not_before"}, "due_date": {"not_before"}, "execution_date": {"not_before"}, "when": {"not_before"}, "after": {"not_before", "depends_on"}, "until": {"expires"}, "expiry": {"expires"},
	"sender": {"from", "from_profile_id"}, "payer": {"from", "from_profile_id"}, "debtor": {"from", "from_profile_id"}, "source": {"from", "file"}, "from_account": {"from_account_id"}, "from_profile": {"from"},
	"recipient": {"to", "to_profile_id"}, "receiver": {"to", "to_profile_id"}, "beneficiary": {"to", "to_profile_id"}, "payee": {"to", "to_profile_id"}, "creditor": {"to", "to_profile_id"}, "destination": {"to", "to_profile_id"}, "to_account": {"to_account_id"}, "to_profile": {"to"}, "iban": {"to_account_id", "account_id"},
	"value": {"amount", "default"}, "sum": {"amount", "totals"}, "total": {"totals", "amount"}, "name": {"display_name", "description"}, "foreach": {"for_each"},
	"path": {"file"}, "file": {"path"}, "database": {"path", "url"}, "db": {"path"}, "dsn": {"url"}, "connection_string": {"url"}, "filename": {"file"}, "file_name": {"file"}, "url": {"base_url", "file"}, "endpoint": {"base_url"}, "host": {"base_url"}, "address": {"base_url"},
	"header": {"skip_first"}, "headers": {"skip_first"}, "skip": {"skip_first"}, "skip_rows": {"skip_first"}, "footer": {"skip_last"}, "separator": {"delimiter"}, "sep": {"delimiter"}, "charset": {"encoding"}, "decimal": {"number_format"}, "filter": {"where"},
	"worksheet": {"sheet"}, "sheet_name": {"sheet"}, "tab": {"sheet"}, "primary_key": {"key"}, "index": {"key"},
	"secret": {"client_secret"}, "password": {"client_secret"}, "token": {"client_secret"}, "api_key": {"client_secret"}, "username": {"client_id"}, "user": {"client_id"}, "scope": {"scopes"}, "token_endpoint": {"token_url"}, "oauth_url": {"token_url"},
	"max": {"max_amount"}, "limit": {"max_amount"}, "amount": {"max_amount"}, "amount_max": {"max_amount"}, "maximum": {"max_amount"}, "threshold": {"max_amount", "above"}, "count": {"max_count"}, "interval": {"per"}, "window": {"per"}, "period": {"per"}, "rule": {"rrule", "condition"}, "required": {"approvers"}, "approver": {"approvers"}, "min_approvers": {"approvers"}, "number": {"approvers"}, "signers": {"allowed_signers"}, "keys": {"allowed_signers"}, "start": {"not_before", "from"}, "end": {"expires", "to"}, "start_time": {"not_before", "from"}, "end_time": {"expires", "to"}, "opens": {"from"}, "closes": {"to"}, "open": {"from"}, "close": {"to"}, "opening": {"from"}, "closing": {"to"}, "begin": {"from", "start", "not_before"}, "hours": {"from"}, "weekday": {"days"}, "weekdays": {"days"}, "cron": {"rrule"}, "message": {"error_message"}, "env": {"environment"}, "version": {"required_version"}, "timezone": {"timezone"}, "tz": {"timezone"},
}

// FirstLines are the first lines of blocks, as they may be written.
var FirstLines = map[string]string{
	"remit": `remit {`, "environment": `environment "production" {`, "state": `state "sqlite" {`, "service": `service {`, "sandbox": `sandbox {`, "approval": `approval {`,
	"variable": `variable "period" {`, "locals": `locals {`, "profile": `profile "treasury" {`, "asset": `asset "POINTS" {`,
	"limit": `limit "daily" {`, "policy": `policy "small" {`, "data": `data "csv" "payroll" {`, "batch": `batch "payroll" {`,
	"calendar": `calendar "target" {`, "schedule": `schedule "rent" {`, "window": `window "desk" {`, "transfer": `transfer "internal" "rent" {`,
}

// BlockWords are the words that a kind of block has.
type BlockWords struct {
	Kind      string
	Arguments []string
	Blocks    []string            // in it
	Within    map[string][]string // arguments of the blocks in it, by their words
}

var quotedWord = lazyregexp.New(`"([^"]+)"`)

// Explain puts what HCL says of the parts of a block into words that say what the block has. An
// argument that is missing because its name is misspelt is not told a second time.
func (b BlockWords) Explain(diags hcl.Diagnostics) hcl.Diagnostics {
	meant := map[string]bool{}
	for _, d := range diags {
		word := quotedWord.FindStringSubmatch(d.Detail)
		switch {
		case word == nil:
		case d.Summary == "Unsupported argument" && strings.HasPrefix(d.Detail, "An argument named "):
			name := b.meantBy(word[1])
			meant[name] = true
			d.Detail = b.unsupportedArgument(word[1], name)
		case d.Summary == "Unsupported block type" && strings.HasPrefix(d.Detail, "Blocks of type "):
			d.Detail = b.unsupportedBlock(word[1])
		}
	}
	return slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool {
		word := quotedWord.FindStringSubmatch(d.Detail)
		if d.Summary != "Missing required argument" || word == nil {
			return false
		}
		if meant[word[1]] {
			return true
		}
		d.Detail = fmt.Sprintf("%s block needs the argument %s.", withArticle(b.Kind), word[1])
		if example := examples[word[1]]; example != "" {
			d.Detail += " Write it, such as:\n\n  " + example
		}
		return false
	})
}

// withArticle is a word at the beginning of a sentence.
func withArticle(word string) string {
	if strings.ContainsRune("aeio", rune(word[0])) {
		return "An " + word
	}
	return "A " + word
}

// meantBy is the argument that a wrong name may mean; "" for none.
func (b BlockWords) meantBy(name string) string {
	snake := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return '_'
		}
		return r
	}, name)
	var own strings.Builder
	for i, r := range snake {
		if unicode.IsUpper(r) && i > 0 && !strings.HasSuffix(own.String(), "_") && !isUpperAt(snake, i-1) {
			own.WriteByte('_')
		}
		own.WriteRune(unicode.ToLower(r))
	}
	for _, candidate := range append([]string{own.String()}, synonyms[own.String()]...) {
		if slices.Contains(b.Arguments, candidate) {
			return candidate
		}
	}
	hint := quotedWord.FindStringSubmatch(DidYouMean(name, b.Arguments))
	if hint == nil {
		return ""
	}
	return hint[1]
}

// exampleOf is an argument as it may be written.
func exampleOf(name string) string {
	switch {
	case examples[name] != "":
		return examples[name]
	case objects[name] != "":
		return name + " = " + objects[name]
	}
	return name + " = …"
}

func isUpperAt(text string, i int) bool { return i >= 0 && text[i] >= 'A' && text[i] <= 'Z' }

func (b BlockWords) unsupportedArgument(name, meant string) string {
	detail := fmt.Sprintf("%s block has no argument %q.", withArticle(b.Kind), name)
	switch {
	case meant == "metadata":
		return detail + fmt.Sprintf(" What people are to know goes along with the transfer in its metadata:\n\n  metadata = { %s = \"…\" }", name)
	case meant == "not_before":
		return detail + " A time before which a transfer is not sent is:\n\n  not_before = \"2026-11-27T09:00:00+01:00\""
	case meant == "skip_first":
		return detail + " The first row is the header. Lines above it are left out by:\n\n  skip_first = 1"
	case meant != "":
		return detail + fmt.Sprintf(" Did you mean %q?", meant)
	}
	for _, inner := range b.Blocks {
		nested := BlockWords{Kind: inner, Arguments: b.Within[inner]}.meantBy(name)
		if slices.Contains(b.Within[inner], nested) {
			return detail + fmt.Sprintf(" It belongs between the braces of a block of its own in it:\n\n  %s {\n    %s\n  }", inner, exampleOf(nested))
		}
	}
	if slices.Contains(b.Blocks, name) {
		return detail + fmt.Sprintf(" It has a block of that name, without an equals sign:\n\n  %s {", name)
	}
	return detail + " It has: " + strings.Join(b.Arguments, ", ") + "."
}

// Homes are the blocks that have a block in them, by its word, for those that no file has at its top.
var Homes = map[string]string{
	"control": "batch", "rule": "approval", "passkeys": "approval", "deny": "window", "cut_off": "window", "rate_limit": "service", "signing": "service",
	"precondition": "transfer", "validation": "variable", "opening_balance": "sandbox",
}

// objects are arguments that take an object in braces, with its attributes.
var objects = map[string]string{
	"totals": `{ USD = "412850.22" }`, "above": `{ USD = "100000" }`, "metadata": `{ invoice = "4711" }`, "recipient_metadata": `{ invoice = "4711" }`,
	"columns": `{ employee = "Employee No.", net = "Net (USD)" }`, "number_format": `{ net = "1.234,56" }`, "acknowledge": `{ hidden_rows = 3 }`,
}

// references are arguments that name another block.
var references = map[string]string{
	"from": "profile.NAME", "to": "profile.NAME", "batch": "batch.NAME", "window": "window.NAME", "calendar": "calendar.NAME", "for_each": "data.csv.NAME.rows",
}

func (b BlockWords) unsupportedBlock(name string) string {
	if slices.Contains(b.Arguments, name) {
		detail := fmt.Sprintf("%s is an argument of a %s block, and needs an equals sign", name, b.Kind)
		switch {
		case objects[name] != "":
			return detail + fmt.Sprintf(":\n\n  %s = %s", name, objects[name])
		case references[name] != "":
			return detail + fmt.Sprintf(" and no braces. It names another block:\n\n  %s = %s", name, references[name])
		case examples[name] != "":
			return detail + " and no braces:\n\n  " + examples[name]
		}
		return detail + fmt.Sprintf(" and no braces:\n\n  %s = …", name)
	}
	detail := fmt.Sprintf("%s block has no %s block in it.", withArticle(b.Kind), name)
	if name == "transfer" {
		return detail + " Write the transfer at the top of a file, and name the batch in it:\n\n  batch = batch.NAME"
	}
	if home := Homes[name]; home != "" && home != b.Kind {
		return detail + fmt.Sprintf(" It belongs between the braces of another block:\n\n  %s\n    %s {", FirstLines[home], name)
	}
	if hint := DidYouMean(name, b.Blocks); hint != "" {
		return detail + hint
	}
	return detail + " If it is a block of its own, move it behind the closing brace of this one."
}
