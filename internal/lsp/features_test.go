package lsp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
)

// payroll is a configuration in which much refers to much. A mark |NAME| is no part of it: a test asks there.
const payroll = `variable "period" {
  type    = string
  default = "2026-11"
}

locals {
  prefix = "pay-${var.period}"
}

profile "treasury" {
  profile_id = "0acfa5a6-6f2e-41af-a833-48e301197ffd"
}

batch "payroll" {
  description = "November"
}

data "csv" "staff" {
  file = "staff.csv"
  key  = "id"
}

transfer "internal" "staff" {
  for_each      = data.csv.staff.rows
  batch         = batch.payroll
  ref_id        = "${local.prefix}-${each.key}"
  from          = profile.treasury
  to_profile_id = each.value.to
  amount        = each.value.net
  asset         = "EUR"
}

transfer "platform" "rent" {
  from          = profile.treasury
  to_profile_id = "landlord"
  amount        = decimal_add("1.00", "2.50")
  asset         = "EUR"
  depends_on    = [transfer.internal.staff]
}

transfer "internal" "again" {
  ref_id        = "again"
  from          = profile.treasury
  to_profile_id = "landlord"
  amount        = "4.00"
  asset         = "EUR"
  accept_duplicate_of = "pay-2026-11-E-2"
}
`

const staff = "id,to,net\nE-1,p1,10.00\nE-2,p2,1020.50\n"

func payments(t *testing.T) *editor {
	t.Helper()
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": payroll, "staff.csv": staff})
	e := newEditor(t, folder)
	e.openSaved("main.hcl")
	if found := e.diagnostics("main.hcl"); len(found) > 0 {
		t.Fatal(messagesOf(found))
	}
	return e
}

// at is the place so many characters into a part of a text, which is ASCII.
func at(t *testing.T, text, part string, into int) position {
	t.Helper()
	i := strings.Index(text, part)
	if i < 0 {
		t.Fatalf("%q is not in the text", part)
	}
	i += into
	return position{strings.Count(text[:i], "\n"), i - 1 - strings.LastIndexByte(text[:i], '\n')}
}

func (e *editor) completions(name string, p position) []string {
	e.t.Helper()
	var list struct{ Items []struct{ Label string } }
	e.call("textDocument/completion", object{"textDocument": e.name(name), "position": p}, &list)
	var labels []string
	for _, item := range list.Items {
		labels = append(labels, item.Label)
	}
	return labels
}

func TestCompletionOffersWhatMayBeWritten(t *testing.T) {
	t.Parallel()
	e := payments(t)
	for name, test := range map[string]struct {
		typed string // at the end of the file; the place is behind it
		has   []string
		lacks []string
		only  bool
	}{
		"no second one of a kind":      {typed: "remit {\n}\n\n", has: []string{"transfer", "service"}, lacks: []string{"remit"}},
		"nothing in a comment":         {typed: "transfer \"internal\" \"x\" {\n  # am", only: true},
		"nothing in another comment":   {typed: "transfer \"internal\" \"x\" {\n  // am", only: true},
		"nothing in a comment on top":  {typed: "# tra", only: true},
		"nothing in a comment behind":  {typed: "locals {\n  x = var.period # ", only: true},
		"behind a comment":             {typed: "transfer \"internal\" \"x\" {\n  # am\n  am", has: []string{"amount"}},
		"the recipient of a platform":  {typed: "transfer \"platform\" \"x\" {\n  ", has: []string{"recipient_metadata"}},
		"none within the house":        {typed: "transfer \"internal\" \"x\" {\n  ", has: []string{"metadata"}, lacks: []string{"recipient_metadata"}},
		"values that are written out":  {typed: "environment \"x\" {\n  variables = { period = ", has: []string{"true"}, lacks: []string{"var", "local", "decimal_add"}},
		"columns in brackets":          {typed: "transfer \"internal\" \"x\" {\n  for_each = data.csv.staff.rows\n  amount = each.value[\"n", has: []string{"net"}, only: true},
		"a list of texts":              {typed: "transfer \"internal\" \"x\" {\n  for_each = data.csv.staff.rows\n  depends_on = [\"", only: true},
		"blocks at the top":            {typed: "tra", has: []string{"transfer"}, lacks: []string{"control", "amount"}},
		"operations":                   {typed: "transfer \"", has: []string{"internal", "platform"}, only: true},
		"types of data":                {typed: "data \"", has: []string{"csv", "json", "pain001", "xlsx"}, only: true},
		"arguments that are not there": {typed: "transfer \"internal\" \"x\" {\n  amount = \"1.00\"\n  a", has: []string{"asset", "accept_duplicate_of"}, lacks: []string{"amount", "file", "control"}},
		"arguments of a type of data":  {typed: "data \"xlsx\" \"x\" {\n  ", has: []string{"sheet", "file"}, lacks: []string{"encoding", "pointer"}},
		"names of variables":           {typed: "locals {\n  x = var.", has: []string{"period"}, only: true},
		"names of locals":              {typed: "locals {\n  x = \"${local.", has: []string{"prefix"}, only: true},
		"what a profile has":           {typed: "locals {\n  x = profile.treasury.", has: []string{"profile_id", "name"}, lacks: []string{"rows"}},
		"the names of data":            {typed: "locals {\n  x = data.csv.", has: []string{"staff"}, only: true},
		"what a data source has":       {typed: "locals {\n  x = data.csv.staff.", has: []string{"rows"}, only: true},
		"columns":                      {typed: "transfer \"internal\" \"x\" {\n  for_each = data.csv.staff.rows\n  amount = each.value.", has: []string{"id", "net", "to"}, only: true},
		"no each without for_each":     {typed: "transfer \"internal\" \"x\" {\n  amount = ", has: []string{"local", "decimal_add"}, lacks: []string{"each", "row", "self"}},
		"each with for_each":           {typed: "transfer \"internal\" \"x\" {\n  for_each = data.csv.staff.rows\n  amount = ", has: []string{"each"}},
		"variables alone in a service": {typed: "service {\n  base_url = ", has: []string{"var", "local"}, lacks: []string{"profile", "data", "each"}},
		"words":                        {typed: "service {\n  on_doubt = \"", has: []string{"hold", "resend"}, only: true},
		"time zones":                   {typed: "limit \"x\" {\n  timezone = \"Europe/B", has: []string{"Europe/Berlin"}, lacks: []string{"America/New_York"}},
		"holidays":                     {typed: "calendar \"x\" {\n  holidays = [\"u", has: []string{"us"}},
		"assets":                       {typed: "transfer \"internal\" \"x\" {\n  asset = \"CH", has: []string{"CHF"}, lacks: []string{"USD"}},
		"data files":                   {typed: "data \"csv\" \"x\" {\n  file = \"", has: []string{"staff.csv"}, lacks: []string{"main.hcl"}},
		"what a transfer waits for":    {typed: "transfer \"internal\" \"x\" {\n  depends_on = [transfer.internal.", has: []string{"again", "staff"}, only: true},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			text := payroll + "\n" + test.typed
			e.change("main.hcl", text)
			got := e.completions("main.hcl", at(t, text, "\n"+test.typed, len(test.typed)+1))
			for _, want := range test.has {
				if !slices.Contains(got, want) {
					t.Errorf("%q is not offered: %q", want, got[:min(len(got), 40)])
				}
			}
			for _, other := range test.lacks {
				if slices.Contains(got, other) {
					t.Errorf("%q is offered", other)
				}
			}
			if test.only && len(got) != len(test.has) {
				t.Errorf("others are offered: %q", got)
			}
		})
	}
}

// TestCompletionOffersTheTableOfTheLanguage holds completion to config.Language: in each block, also in one that has arguments already, every
// argument and block that may still be written there is offered, and nothing else.
func TestCompletionOffersTheTableOfTheLanguage(t *testing.T) {
	t.Parallel()
	e := payments(t)
	type room struct {
		path []config.BlockKind
	}
	var rooms []room
	var gather func(path, kinds []config.BlockKind)
	gather = func(path, kinds []config.BlockKind) {
		for _, kind := range kinds {
			at := append(slices.Clone(path), kind)
			if !kind.Free {
				rooms = append(rooms, room{at})
			}
			gather(at, kind.Blocks)
		}
	}
	gather(nil, config.Language())
	rapid.Check(t, func(r *rapid.T) {
		path := rapid.SampledFrom(rooms).Draw(r, "block").path
		inner := path[len(path)-1]
		var text strings.Builder
		for i, kind := range path {
			text.WriteString(strings.Repeat("  ", i) + kind.Name)
			for n := range kind.Labels {
				label := "x"
				if words := config.LabelWords(kind.Name, n); len(words) > 0 {
					label = rapid.SampledFrom(words).Draw(r, "label")
				}
				fmt.Fprintf(&text, " %q", label)
				if kind.Name == "data" && n == 0 {
					inner.Optional = slices.DeleteFunc(slices.Clone(inner.Optional), func(name string) bool { return !slices.Contains(config.DataArguments(label), name) })
				}
			}
			text.WriteString(" {\n")
		}
		var want []string
		for _, name := range slices.Concat(inner.Required, inner.Optional) {
			if rapid.IntRange(0, 3).Draw(r, "is written") == 0 {
				text.WriteString(strings.Repeat("  ", len(path)) + name + " = \"x\"\n")
			} else {
				want = append(want, name)
			}
		}
		if inner.Name == "transfer" && strings.Contains(text.String(), `"internal"`) {
			want = slices.DeleteFunc(want, func(name string) bool { return name == "recipient_metadata" })
		}
		for _, nested := range inner.Blocks {
			want = append(want, nested.Name)
		}
		text.WriteString(strings.Repeat("  ", len(path)))
		before := payroll + "\n" + text.String()
		closing := ""
		if rapid.Bool().Draw(r, "is closed") {
			closing = "\n" + strings.Repeat("}\n", len(path))
		}
		e.change("main.hcl", before+closing+"\nlocals {\n  behind = 1\n}\n")
		n := strings.Count(before, "\n")
		got := e.completions("main.hcl", position{n, len(before) - 1 - strings.LastIndexByte(before, '\n')})
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("the table (-) and completion (+) in\n%s\n%s", text.String(), diff)
		}
	})
}

func TestHoverSaysWhatAPlaceMeans(t *testing.T) {
	t.Parallel()
	e := payments(t)
	for name, test := range map[string]struct {
		part string
		into int
		want []string
	}{
		"an argument":           {"amount        = each", 2, []string{"quoted decimal, required", "How much", `amount = "8200.00"`}},
		"the ref_id of rows":    {"ref_id        = \"${local", 1, []string{"The first is `pay-2026-11-E-1`."}},
		"a local":               {"local.prefix", 8, []string{"`local.prefix`", `"pay-2026-11"`}},
		"the name of a local":   {"prefix = ", 1, []string{`"pay-2026-11"`}},
		"a variable":            {"var.period", 6, []string{`"2026-11"`}},
		"a profile":             {"profile.treasury", 10, []string{"0acfa5a6-6f2e-41af-a833-48e301197ffd"}},
		"a column":              {"each.value.net", 12, []string{"The column `net` of `data.csv.staff`."}},
		"a data source":         {"data.csv.staff.rows", 10, []string{"the rows of `staff.csv`", "`id`, `to`, `net`", "There are 2 rows.", "`net` adds up to 1,030.5"}},
		"the header of data":    {"data \"csv\"", 2, []string{"There are 2 rows."}},
		"the header of a block": {"transfer \"internal\" \"staff\"", 3, []string{"It makes 2 transfers, EUR 1,030.50. The first is `pay-2026-11-E-1`."}},
		"a function":            {"decimal_add", 3, []string{"decimal_add(", "```hcl"}},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			var got struct{ Contents struct{ Value string } }
			e.call("textDocument/hover", object{"textDocument": e.name("main.hcl"), "position": at(t, payroll, test.part, test.into)}, &got)
			for _, want := range test.want {
				if !strings.Contains(got.Contents.Value, want) {
					t.Errorf("%q is not said:\n%s", want, got.Contents.Value)
				}
			}
		})
	}
}

func TestHoverShowsNoSecret(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const text = "variable \"secret\" {\n  default   = \"the-canary\"\n  sensitive = true\n}\n\nlocals {\n  x = var.secret\n}\n\nservice {\n  base_url      = \"https://api.example.com\"\n  client_secret = local.x\n}\n"
	write(t, folder, map[string]string{"main.hcl": text})
	e := newEditor(t, folder)
	e.openSaved("main.hcl")
	e.diagnostics("main.hcl")
	for _, part := range []string{"var.secret", "local.x"} {
		var got struct{ Contents struct{ Value string } }
		e.call("textDocument/hover", object{"textDocument": e.name("main.hcl"), "position": at(t, text, part, len(part)-1)}, &got)
		if strings.Contains(got.Contents.Value, "canary") || !strings.Contains(got.Contents.Value, "sensitive") {
			t.Errorf("%s: %s", part, got.Contents.Value)
		}
	}
}

func TestSignatureHelpFollowsTheArguments(t *testing.T) {
	t.Parallel()
	e := payments(t)
	text := payroll + "\nlocals {\n  x = decimal_add(\"1.00\", max(1, 2), "
	e.change("main.hcl", text)
	var got struct {
		Signatures      []struct{ Label string }
		ActiveParameter int
	}
	p := at(t, text, "max(1, 2)", 5)
	e.call("textDocument/signatureHelp", object{"textDocument": e.name("main.hcl"), "position": p}, &got)
	if len(got.Signatures) != 1 || !strings.HasPrefix(got.Signatures[0].Label, "max(") {
		t.Errorf("inside of max: %+v", got)
	}
	p = at(t, text, "max(1, 2)", 0)
	e.call("textDocument/signatureHelp", object{"textDocument": e.name("main.hcl"), "position": p}, &got)
	if len(got.Signatures) != 1 || !strings.HasPrefix(got.Signatures[0].Label, "decimal_add(") || got.ActiveParameter != 1 {
		t.Errorf("inside of decimal_add: %+v", got)
	}
}

func TestDefinitionLeadsIntoTheDataFile(t *testing.T) {
	t.Parallel()
	e := payments(t)
	for name, test := range map[string]struct {
		part string
		into int
		file string
		want span
	}{
		"a local":          {"local.prefix", 8, "main.hcl", span{position{6, 2}, position{6, 8}}},
		"a data source":    {"data.csv.staff.rows", 10, "main.hcl", span{at(t, payroll, `"staff" {`, 0), at(t, payroll, `"staff" {`, 7)}},
		"a transfer":       {"transfer.internal.staff", 20, "main.hcl", span{at(t, payroll, `"internal" "staff"`, 11), at(t, payroll, `"internal" "staff"`, 18)}},
		"a column":         {"each.value.net", 12, "staff.csv", span{position{0, 6}, position{0, 9}}},
		"a ref_id's row":   {"pay-2026-11-E-2", 3, "staff.csv", span{position{2, 0}, position{2, 14}}},
		"a file by a name": {"\"staff.csv\"", 3, "staff.csv", span{}},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			var got []struct {
				URI   string
				Range span
			}
			e.call("textDocument/definition", object{"textDocument": e.name("main.hcl"), "position": at(t, payroll, test.part, test.into)}, &got)
			if len(got) != 1 || got[0].URI != uri(e.path(test.file)) || got[0].Range != test.want {
				t.Errorf("it leads to %+v", got)
			}
		})
	}
	var all []struct{ Range span }
	e.call("textDocument/references", object{"textDocument": e.name("main.hcl"), "position": at(t, payroll, "profile.treasury", 10), "context": object{"includeDeclaration": true}}, &all)
	if len(all) != 4 {
		t.Errorf("the profile is named at %+v", all)
	}
}

type textEdit struct {
	Range   span
	NewText string
}

// applied is a text after edits that do not overlap.
func applied(t *testing.T, text string, edits []textEdit) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	offset := func(p position) int {
		n := 0
		for _, line := range lines[:min(p.Line, len(lines))] {
			n += len(line)
		}
		return n + p.Character // the texts of these tests are ASCII
	}
	slices.SortFunc(edits, func(a, b textEdit) int { return offset(b.Range.Start) - offset(a.Range.Start) })
	for _, e := range edits {
		text = text[:offset(e.Range.Start)] + e.NewText + text[offset(e.Range.End):]
	}
	return text
}

// refIDsOf are the ref_ids that a directory declares.
func refIDsOf(t *testing.T, dir string) []string {
	t.Helper()
	loaded, diags := config.Load(dir, config.Options{})
	defer config.Close(loaded)
	var all []string
	for transfer, more := range loaded.Transfers(context.Background()) {
		diags = append(diags, more...)
		all = append(all, transfer.Request.RefID)
	}
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return all
}

// TestRenameKeepsEveryRefID renames each name of a configuration: afterwards it has no mistake, and the same ref_ids.
func TestRenameKeepsEveryRefID(t *testing.T) {
	t.Parallel()
	e := payments(t)
	want := refIDsOf(t, e.folder)
	for name, test := range map[string]struct {
		part string
		into int
	}{
		"a variable": {"var.period", 6}, "a local": {"prefix = ", 2}, "a profile": {"profile.treasury", 10}, "a batch": {"batch \"payroll\"", 8},
		"a data source": {"data.csv.staff", 11}, "a transfer of rows": {"transfer.internal.staff", 20}, "a transfer whose label is its ref_id": {"\"platform\" \"rent\"", 14},
	} {
		t.Run(name, func(t *testing.T) {
			e.t = t
			var got struct{ Changes map[string][]textEdit }
			e.call("textDocument/rename", object{"textDocument": e.name("main.hcl"), "position": at(t, payroll, test.part, test.into), "newName": "other"}, &got)
			text := applied(t, payroll, got.Changes[uri(e.path("main.hcl"))])
			dir := t.TempDir()
			write(t, dir, map[string]string{"main.hcl": text, "staff.csv": staff})
			if text == payroll || len(got.Changes) != 1 {
				t.Errorf("nothing is renamed, or another file: %v", got)
			}
			if diff := cmp.Diff(want, refIDsOf(t, dir)); diff != "" {
				t.Errorf("the rename changed what is paid:\n%s\n%s", diff, text)
			}
		})
	}
	e.t = t
	e.mu.Lock()
	said := strings.Join(e.messages, "\n")
	e.mu.Unlock()
	if !strings.Contains(said, `ref_id = "rent" was written into the block`) {
		t.Errorf("it is not said why the ref_id was written: %s", said)
	}
}

func TestARenameThatCouldChangeAPaymentIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		more, part string
		into       int
		newName    string
		want       string
	}{
		"a name that is taken":            {"locals {\n  other = 1\n}\n", "prefix = ", 1, "other", "already"},
		"a name that is none":             {"", "prefix = ", 1, "a b", "no name"},
		"a profile that a column chooses": {"locals {\n  x = profile[\"trea${\"sury\"}\"].profile_id\n}\n", "profile \"treasury\"", 10, "other", "looks up"},
		"a batch whose name is used":      {"locals {\n  x = batch.payroll.name\n}\n", "batch \"payroll\"", 8, "other", "batch.payroll.name"},
		"a text that has a mistake":       {"locals {\n  x = \n}\n", "prefix = ", 1, "other", "mistake"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, map[string]string{"main.hcl": payroll + test.more, "staff.csv": staff})
			e := newEditor(t, folder)
			e.openSaved("main.hcl")
			_, err := e.client.Call(context.Background(), "textDocument/rename", object{"textDocument": e.name("main.hcl"), "position": at(t, payroll, test.part, test.into), "newName": test.newName})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("it is answered: %v", err)
			}
		})
	}
}

func TestFormattingHasTheBytesOfFmt(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../examples/*/*.hcl")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no examples: ", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			// Every second line is indented otherwise.
			odd := ""
			for i, line := range strings.SplitAfter(string(text), "\n") {
				if i%2 == 0 && !strings.Contains(string(text), "<<") {
					line = strings.Replace(strings.TrimLeft(line, " "), " = ", "   =  ", 1)
				}
				odd += line
			}
			want, diags := config.Format([]byte(odd), "x.hcl")
			if diags.HasErrors() || !isASCII(odd) {
				t.Skip("this example is not laid out otherwise so easily")
			}
			folder := t.TempDir()
			write(t, folder, map[string]string{"main.hcl": odd, ".remit.lock.hcl": ""})
			e := newEditor(t, folder)
			e.openSaved("main.hcl")
			var edits []textEdit
			e.call("textDocument/formatting", object{"textDocument": e.name("main.hcl"), "options": object{"tabSize": 8}}, &edits)
			if diff := cmp.Diff(string(want), applied(t, odd, edits)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func isASCII(text string) bool {
	return !slices.ContainsFunc([]byte(text), func(c byte) bool { return c >= 0x80 })
}

func TestHintsSymbolsAndLensesCountTheMoney(t *testing.T) {
	t.Parallel()
	e := payments(t)
	e.openSaved("staff.csv")
	e.diagnostics("staff.csv")
	var hints []struct{ Label string }
	e.call("textDocument/inlayHint", object{"textDocument": e.name("main.hcl"), "range": span{position{}, position{1000, 0}}}, &hints)
	var labels []string
	for _, hint := range hints {
		labels = append(labels, hint.Label)
	}
	if diff := cmp.Diff([]string{"2 transfers, EUR 1,030.50", "1 transfer, EUR 3.50", "1 transfer, EUR 4.00"}, labels); diff != "" {
		t.Error(diff)
	}
	var symbols []struct{ Name, Detail string }
	e.call("textDocument/documentSymbol", object{"textDocument": e.name("main.hcl")}, &symbols)
	if len(symbols) != 8 || symbols[5].Name != "transfer internal staff" || symbols[5].Detail != "2 transfers, EUR 1,030.50" {
		t.Errorf("the symbols are %+v", symbols)
	}
	var lenses []struct{ Command struct{ Title string } }
	e.call("textDocument/codeLens", object{"textDocument": e.name("staff.csv")}, &lenses)
	if len(lenses) != 1 || lenses[0].Command.Title != "read by data.csv.staff, transfer.internal.staff" {
		t.Errorf("above the file stands %+v", lenses)
	}
	var tokens struct{ Data []int }
	e.call("textDocument/semanticTokens/full", object{"textDocument": e.name("main.hcl")}, &tokens)
	if len(tokens.Data) == 0 || len(tokens.Data)%5 != 0 || slices.Min(tokens.Data) < 0 {
		t.Errorf("the tokens are %v", tokens.Data)
	}
	e.change("main.hcl", payroll+"locals {\n  x = nothing.here\n}\n")
	e.diagnostics("main.hcl")
	e.call("textDocument/inlayHint", object{"textDocument": e.name("main.hcl"), "range": span{position{}, position{1000, 0}}}, &hints)
	if len(hints) > 0 {
		t.Errorf("of a configuration with a mistake is said %+v", hints)
	}
}

// TestAFixThatAMistakeNamesIsOffered applies the edits that are offered: the mistake is gone then.
func TestAFixThatAMistakeNamesIsOffered(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ files map[string]string }{
		"an amount without quotation marks": {map[string]string{"main.hcl": strings.Replace(rent, `"8200.00"`, "8200.00", 1)}},
		"an amount with a decimal comma":    {map[string]string{"main.hcl": strings.Replace(rent, `"8200.00"`, `"8200,00"`, 1)}},
		"an argument that is spelled wrong": {map[string]string{"main.hcl": rent + "profile \"x\" {\n  profile_id = \"x\"\n}\nlocals {\n  y = profile.x.profile_ed\n}\n"}},
		"a reference that is spelled wrong": {map[string]string{"main.hcl": rent + "locals {\n  period = \"x\"\n  y      = local.perod\n}\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, test.files)
			e := newEditor(t, folder)
			text := e.openSaved("main.hcl")
			found := e.diagnostics("main.hcl")
			if len(found) != 1 {
				t.Fatalf("there is not one mistake: %s", messagesOf(found))
			}
			var actions []struct {
				Title string
				Edit  struct{ Changes map[string][]textEdit }
			}
			e.call("textDocument/codeAction", object{"textDocument": e.name("main.hcl"), "range": found[0].Range, "context": object{"diagnostics": found}}, &actions)
			if len(actions) == 0 {
				t.Fatalf("nothing is offered for: %s", messagesOf(found))
			}
			mended := applied(t, text, actions[0].Edit.Changes[uri(e.path("main.hcl"))])
			e.change("main.hcl", mended)
			if found := e.diagnostics("main.hcl"); len(found) > 0 {
				t.Errorf("%s leaves %s in\n%s", actions[0].Title, messagesOf(found), mended)
			}
		})
	}
}

// TestARowOfTotalsIsLeftOutByAFix applies both lines that a mistake in a data file offers, to the block that reads the file.
func TestARowOfTotalsIsLeftOutByAFix(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": payroll, "staff.csv": staff + ",,1030.50\n"})
	e := newEditor(t, folder)
	text := e.openSaved("main.hcl")
	e.openSaved("staff.csv")
	found := e.diagnostics("staff.csv")
	var actions []struct {
		Title string
		Edit  struct{ Changes map[string][]textEdit }
	}
	e.call("textDocument/codeAction", object{"textDocument": e.name("staff.csv"), "range": span{}, "context": object{"diagnostics": found}}, &actions)
	if len(actions) != 2 || actions[0].Title != "Write skip_last = 1 in data.csv.staff" {
		t.Fatalf("for %s is offered %+v", messagesOf(found), actions)
	}
	for _, action := range actions {
		mended := applied(t, text, action.Edit.Changes[uri(e.path("main.hcl"))])
		e.change("main.hcl", mended)
		if found := e.all("main.hcl"); len(found) > 0 {
			t.Errorf("%s leaves %v in\n%s", action.Title, found, mended)
		}
	}
}

// TestATransferIsGivenANameAndAConsent applies the edits that are offered for a block that no mistake names, and looks at what the configuration says then.
func TestATransferIsGivenANameAndAConsent(t *testing.T) {
	t.Parallel()
	const twice = "transfer \"internal\" \"again\" {\n  from_profile_id = \"20000000-0000-4000-8000-000000000001\"\n  to_profile_id   = \"20000000-0000-4000-8000-000000000002\"\n  amount = \"5.00\"\n  asset = \"USD\"\n}\n"
	once := strings.Replace(twice, "again", "once", 1)
	for name, test := range map[string]struct {
		text, at, title, want string // the block that has at
	}{
		"a column with names":             {payroll, `for_each`, "Write display_name = each.value.name", "display_name"},
		"a block that pays the same":      {once + twice, `"again"`, `Write accept_duplicate_of = "once", which pays the same again`, "accept_duplicate_of"},
		"two that pay the same":           {once + strings.Replace(twice, "again", "more", 1) + twice, `"again"`, `Write accept_duplicate_of = ["once", "more"], which pays the same again`, "accept_duplicate_of"},
		"one that accepts this one":       {strings.Replace(once, "  asset", "  accept_duplicate_of = \"again\"\n  asset", 1) + twice, `"again"`, "", ""},
		"one that pays another amount":    {strings.Replace(once, "5.00", "5.01", 1) + twice, `"again"`, "", ""},
		"one that accepts its twin":       {once + strings.Replace(twice, "  asset", "  accept_duplicate_of = \"once\"\n  asset", 1), `"again"`, "", ""},
		"a block that is no transfer":     {once + "locals {\n  x = \"5.00\"\n}\n", `x = `, "", ""},
		"one of another kind of transfer": {strings.Replace(once, "internal", "platform", 1) + twice, `"again"`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, map[string]string{"main.hcl": test.text, "staff.csv": "id,to,net,name\nE-1,p1,10.00,One\nE-2,p2,1020.50,Two\n"})
			e := newEditor(t, folder)
			text := e.openSaved("main.hcl")
			if found := e.diagnostics("main.hcl"); len(found) > 0 {
				t.Fatal(messagesOf(found))
			}
			var actions []struct {
				Title, Kind string
				Edit        struct{ Changes map[string][]textEdit }
			}
			at := placeIn(text, strings.Index(text, test.at))
			e.call("textDocument/codeAction", object{"textDocument": e.name("main.hcl"), "range": span{at, at}, "context": object{"diagnostics": []diagnostic{}}}, &actions)
			if test.title == "" {
				if len(actions) > 0 {
					t.Errorf("%s is offered", actions[0].Title)
				}
				return
			}
			if len(actions) != 1 || actions[0].Title != test.title || actions[0].Kind != "refactor.rewrite" {
				t.Fatalf("is offered: %+v", actions)
			}
			mended := applied(t, text, actions[0].Edit.Changes[uri(e.path("main.hcl"))])
			e.change("main.hcl", mended)
			if found := e.diagnostics("main.hcl"); len(found) > 0 || !strings.Contains(mended, test.want) {
				t.Errorf("%s in\n%s", messagesOf(found), mended)
			}
			for _, kind := range []string{"quickfix", "source"} {
				e.call("textDocument/codeAction", object{"textDocument": e.name("main.hcl"), "range": span{at, at}, "context": object{"diagnostics": []diagnostic{}, "only": []string{kind}}}, &actions)
				if len(actions) > 0 {
					t.Errorf("for %s is offered %s", kind, actions[0].Title)
				}
			}
		})
	}
}

// TestCompletionOfAColumnWithASpaceParses holds that the text which an editor inserts can be read.
func TestCompletionOfAColumnWithASpaceParses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": payroll, "staff.csv": "id,to,net,Betrag EUR\nE-1,p1,10.00,1\n"})
	e := newEditor(t, folder)
	e.openSaved("main.hcl")
	if found := e.diagnostics("main.hcl"); len(found) > 0 {
		t.Fatal(messagesOf(found))
	}
	for typed, want := range map[string][]string{
		"each.value.":         {`each.value["Betrag EUR"]`, "each.value.net"},
		"each.value.Be":       {`each.value["Betrag EUR"]`},
		`each.value["`:        {`each.value["Betrag EUR`, `each.value["net`},
		`"${each.value["Bet`:  {`"${each.value["Betrag EUR`},
		`"x-${each.value.Bet`: {`"x-${each.value["Betrag EUR"]`},
	} {
		before := payroll + "\ntransfer \"internal\" \"x\" {\n  for_each = data.csv.staff.rows\n  amount = "
		text := before + typed
		e.change("main.hcl", text)
		var list struct {
			Items []struct {
				FilterText string
				TextEdit   struct {
					Range   struct{ Start, End position }
					NewText string
				}
			}
		}
		line := strings.Count(text, "\n")
		start := strings.LastIndexByte(text, '\n') + 1
		e.call("textDocument/completion", object{"textDocument": e.name("main.hcl"), "position": position{line, len(text) - start}}, &list)
		var got []string
		for _, item := range list.Items {
			replaced := text[start+item.TextEdit.Range.Start.Character:]
			if item.FilterText != "" && !strings.HasPrefix(item.FilterText, replaced) {
				t.Errorf("%s: an editor looks for %q in %q, and leaves it out", typed, replaced, item.FilterText)
			}
			got = append(got, strings.TrimPrefix(text[:len(text)-len(replaced)]+item.TextEdit.NewText, before))
		}
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %q is not among %q", typed, w, got)
			}
		}
	}
}
