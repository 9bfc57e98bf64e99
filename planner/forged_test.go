package planner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/suite"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"

	"github.com/shopspring/decimal"
)

// scene is a saved plan of one kind, with the state that it was made from.
type scene struct {
	memory   *memory
	plan     *planner.Plan
	controls planner.Controls // against which it is computed again
}

// newScene plans what is declared.
func newScene(t testing.TB, m *memory, controls planner.Controls, declared ...config.Transfer) scene {
	t.Helper()
	p := plan(t, m, controls, declared...)
	p.Header.PlanID, p.Header.ToolVersion, p.Header.Author, p.Header.Expires = "plan-1", "0.2.0", "ada", now.Add(day)
	if !p.Applicable() {
		t.Fatalf("the honest plan is not applicable: %v", p.Obstacles)
	}
	m.events = []state.Event{{Seq: 6, Time: now.Add(-time.Hour), Kind: state.KindEnded}, {Seq: 7, Time: now.Add(-time.Hour), Kind: state.KindEnded}}
	controls = planner.Controls{Declared: controls.Declared, Batches: controls.Batches, Operator: controls.Operator}
	return scene{m, p, controls}
}

// scenes are a plan of each kind.
func scenes(t testing.TB) map[string]scene {
	sample, m := sampleOf(t)
	m.events = []state.Event{{Seq: 6, Time: now.Add(-time.Hour), Kind: state.KindEnded}, {Seq: 7, Time: now.Add(-time.Hour), Kind: state.KindEnded}}
	all := map[string]scene{"every action": {m, sample, planner.Controls{}}}

	control := &config.BatchControl{Place: config.Place{File: "pay.hcl", Line: 9}, Count: 3, Totals: map[string]decimal.Decimal{"USD": decimal.NewFromInt(240)}}
	batches := []config.Batch{{Name: "pay", Control: control}}
	pay := inBatch("pay")
	all["a batch with a control block"] = newScene(t, newMemory(record(declare("a", pay), state.Recorded)), planner.Controls{
		Batches: batches, Targets: []string{"transfer.internal.b"},
	}, declare("a", pay), declare("b", pay), declare("c", pay))
	all["a batch that is partly paid"] = newScene(t, newMemory(record(declare("a", pay), state.Recorded)), planner.Controls{Batches: batches},
		declare("a", pay), declare("b", pay), declare("c", pay))

	all["an older twin"] = newScene(t, newMemory(record(declare("old", twin, label), state.Recorded, intended(90*day))), planner.Controls{},
		declare("old", twin, label, window(day)), declare("new", twin, label, window(day)))
	all["accepted by the declaration"] = newScene(t, newMemory(record(declare("old", twin), state.Recorded)), planner.Controls{},
		declare("old", twin), declare("new", twin, acceptOf("old")))
	all["dates of a schedule"] = newScene(t, newMemory(record(declare("october", occurs(now.Add(-30*day), 7*day), twin), state.Recorded, intended(20*day), func(d *state.Detail) {
		d.Intent.Due = now.Add(-30 * day)
	})), planner.Controls{}, declare("october", occurs(now.Add(-30*day), 7*day), twin), declare("november", occurs(now.Add(-day), 7*day), twin))
	capped := limits(limit("desk", config.PerPlan, amountMax("100")))
	capped.OverrideLimit = []string{"desk"}
	all["a limit that was overridden"] = newScene(t, newMemory(), capped, declare("a"), declare("b"))
	all["dependencies"] = newScene(t, newMemory(record(declare("a"), state.Recorded, recordStatus(transfer.Pending))), planner.Controls{},
		declare("a"), declare("b", after("a")), declare("c", after("a", "b")), declare("d", after("a", "b")), declare("e", notBefore(now.Add(day))), declare("f", after("e")))
	all["a reversal"] = newScene(t, newMemory(record(declare("a"), state.Recorded), record(declare("b"), state.Recorded), record(reversal("b-back", declare("b"), "20"), state.Recorded, reversing("b"))),
		planner.Controls{}, declare("a"), declare("b"), reversal("b-back", declare("b"), "20"), reversal("a-back", declare("a"), "30"), reversal("b-more", declare("b"), "60"))
	all["a rename that was accepted"] = newScene(t, newMemory(record(declare("old", twin, label), state.Recorded), record(declare("gone", twin, named("pay", "old")), state.Recorded, intended(90*day))),
		planner.Controls{AcceptDuplicate: []string{"new"}}, declare("new", twin, label, window(day)))
	all["renames of a block that were accepted"] = newScene(t, newMemory(record(declare("pay-1", twin, named("pay", "old")), state.Recorded)),
		planner.Controls{AcceptRenames: map[string]int{"transfer.internal.pay": 1}}, declare("p-1", twin, named("pay", "new")), declare("p-2", named("pay", "new")))
	all["what comes late, and was accepted"] = newScene(t, newMemory(record(declare("october", occurs(now.Add(-30*day), 7*day)), state.Recorded, func(d *state.Detail) { d.Intent.Due = now.Add(-30 * day) })),
		planner.Controls{AcceptLate: 2}, declare("october", occurs(now.Add(-30*day), 7*day)), declare("september", occurs(now.Add(-60*day), 90*day), inBlock("dated")), declare("other", occurs(now.Add(-60*day), 7*day)))
	all["what was imported"] = newScene(t, newMemory(imported(declare("a"), state.Adopted), imported(declare("b"), state.Unverified), imported(declare("gone"), state.Adopted)), planner.Controls{},
		declare("a"), declare("b"), declare("c"), declare("d", to("to-a")))
	all["the sandbox"] = newScene(t, inSandbox(newMemory(record(declare("a"), state.Recorded))), planner.Controls{Rehearsal: true},
		declare("a"), declare("b", notBefore(now.Add(day))), declare("c", after("b")))
	all["a plan with targets"] = newScene(t, newMemory(record(declare("a"), state.Recorded), record(declare("x"), state.InDoubt)), planner.Controls{Targets: []string{"transfer.internal.b"}},
		declare("a"), declare("b"), declare("x"), declare("c"))
	all["look-alikes of a batch that were accepted"] = newScene(t, newMemory(), planner.Controls{AcceptDuplicates: map[string]int{"pay": 1}},
		declare("a", twin, inBatch("pay")), declare("b", twin, inBatch("pay")))
	return all
}

// reversal gives back some of what a transfer moved.
func reversal(refID string, of config.Transfer, some string) config.Transfer {
	t := declare(refID)
	t.Request = of.Request.Back()
	t.Request.RefID, t.Reverses = refID, of.Request.RefID
	amount(some)(&t.Request)
	return t
}

func reversing(refID string) func(*state.Detail) {
	return func(d *state.Detail) { d.Intent.Reverses = refID }
}

// inBlock declares a transfer of the block of another one.
func inBlock(block string) func(*config.Transfer) {
	return func(t *config.Transfer) {
		t.Block = "transfer.internal." + block
		t.Address = t.Block + `["` + t.Request.RefID + `"]`
	}
}

func inSandbox(m *memory) *memory {
	m.meta.Environment, m.meta.Service = state.Sandbox, state.SandboxIdentity()
	return m
}

// TestAnHonestPlanIsComputedAgain holds that the plans of the test below are not refused for what
// they are.
func TestAnHonestPlanIsComputedAgain(t *testing.T) {
	for name, s := range scenes(t) {
		if _, err := s.recheck(t, save(t, s.plan)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := alone(t, save(t, s.plan), s.controls); err != nil {
			t.Errorf("%s, without the state: %v", name, err)
		}
	}
}

func (s *scene) recheck(t testing.TB, raw []byte) (*planner.Plan, error) {
	t.Helper()
	p, err := planner.Open(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return p.Recheck(t.Context(), s.memory, s.controls, now)
}

// TestEveryEditOfASavedPlanIsRefusedOrItsAuthorsWord edits, deletes and adds every field and line of
// plans of each kind, with the file's hash made anew, and its digest too. What is not refused
// changes nothing, or is listed in docs/security.md as what its author says; and nothing else is. The same holds
// where the state is not at hand, with a second list of what hangs on it.
func TestEveryEditOfASavedPlanIsRefusedOrItsAuthorsWord(t *testing.T) {
	suite.Slow(t)
	withState := wordsIn(t, "| field | what it says |")
	alone := wordsIn(t, "| field | without the state |")
	for name, way := range map[string]struct {
		listed  map[string]bool
		further map[string]bool // that may be used as well
		open    func(*scene, testing.TB, []byte) (*planner.Plan, error)
	}{
		"with the state": {listed: withState, open: (*scene).recheck},
		"alone":          {listed: alone, further: withState, open: (*scene).alone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			used := make(map[string]bool)
			edits := 0
			for name, s := range scenes(t) {
				raw := save(t, s.plan)
				honest, err := way.open(&s, t, raw)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for edit := range editsOf(raw) {
					edits++
					for _, forged := range forgeries(edit.raw) {
						left, err := way.open(&s, t, forged)
						if err != nil || cmp.Diff(honest, left, saved()) == "" {
							continue
						}
						if !way.listed[edit.field] && !way.further[edit.field] {
							t.Errorf("%s: %s is neither refused nor listed: %s", name, edit.what, cmp.Diff(honest, left, saved()))
						}
						used[edit.field] = true
					}
				}
			}
			for _, field := range slices.Sorted(maps.Keys(way.listed)) {
				if !used[field] {
					t.Errorf("docs/security.md lists %q as its author's word, but every edit of it is refused or changes nothing", field)
				}
			}
			if edits < 1000 {
				t.Errorf("only %d edits were tried", edits)
			}
		})
	}
}

// alone computes a plan without the state, as an approver does.
func (s *scene) alone(t testing.TB, raw []byte) (*planner.Plan, error) {
	t.Helper()
	p, err := alone(t, raw, s.controls)
	if err != nil {
		return nil, err
	}
	return p, p.CheckHeader(s.memory.Meta(), s.controls.Declared, now)
}

// forgeries are an edited plan with its hash made anew, and with its digest as well where that is another.
func forgeries(raw []byte) [][]byte {
	forged := [][]byte{forge(raw)}
	if other := forge(redigest(raw)); !bytes.Equal(other, forged[0]) {
		forged = append(forged, other)
	}
	return forged
}

// wordsIn are the fields that docs/security.md lists in the table with a heading.
func wordsIn(t testing.TB, heading string) map[string]bool {
	text, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/security.md has no table %q", heading)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	words := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(table, -1) {
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			words[word[1]] = true
		}
	}
	return words
}

// redigest puts the digest into a forged file that remit would compute of its lines.
func redigest(raw []byte) []byte {
	digest, err := planner.DigestOfLines(bytes.NewReader(raw))
	if err != nil {
		return raw
	}
	return regexp.MustCompile(`"digest":"[0-9a-f]*"`).ReplaceAll(raw, []byte(`"digest":"`+digest+`"`))
}

// edited is a plan file with one edit.
type edited struct {
	raw   []byte
	field string // as docs/security.md names it: the line, and the path without numbers
	what  string
}

// editsOf yields a file with each line and each field edited, deleted and doubled.
func editsOf(raw []byte) func(func(edited) bool) {
	lines := bytes.SplitAfter(raw, []byte("\n"))
	lines = lines[:len(lines)-1]
	return func(yield func(edited) bool) {
		for n, line := range lines {
			kind := lineKind(n, len(lines), line)
			with := func(instead ...[]byte) []byte {
				return bytes.Join(slices.Concat(lines[:n], instead, lines[n+1:]), nil)
			}
			if kind != "header" && kind != "footer" {
				if !yield(edited{with(), kind, fmt.Sprintf("line %d deleted", n)}) || !yield(edited{with(line, line), kind, fmt.Sprintf("line %d doubled", n)}) {
					return
				}
			}
			for _, e := range editsOfObject(string(line), 0, kind) {
				if !yield(edited{with([]byte(e.text)), e.field, fmt.Sprintf("line %d, %s", n, e.what)}) {
					return
				}
			}
		}
	}
}

func lineKind(n, count int, line []byte) string {
	switch {
	case n == 0:
		return "header"
	case n == count-1:
		return "footer"
	case bytes.HasPrefix(line, []byte(`{"kept":`)):
		return "kept"
	}
	return "line"
}

type textEdit struct{ text, field, what string }

// editsOfObject edits the value that begins at an offset of a line of JSON, and what is in it.
func editsOfObject(line string, at int, path string) []textEdit {
	var all []textEdit
	end := valueEnd(line, at)
	replace := func(from, to int, with, what string) {
		all = append(all, textEdit{line[:from] + with + line[to:], path, path + " " + what})
	}
	value := line[at:end]
	switch value[0] {
	case '{':
		for from := at + 1; line[from] != '}'; {
			nameEnd := valueEnd(line, from)
			name, _ := strconv.Unquote(line[from:nameEnd])
			start := nameEnd + 1
			stop := valueEnd(line, start)
			next := stop
			if line[stop] == ',' {
				next++
			}
			inner := path + "." + name
			if name != "sha256" {
				cut := line[:from] + line[next:]
				cut = strings.Replace(cut, ",}", "}", 1)
				all = append(all, textEdit{cut, inner, inner + " deleted"})
				all = append(all, editsOfObject(line, start, inner)...)
			}
			from = next
		}
		for _, member := range additions(path) {
			name, _, _ := strings.Cut(member, ":")
			if !strings.Contains(value, name+":") {
				rest := strings.TrimSuffix(member, ",")
				all = append(all, textEdit{
					line[:at+1] + rest + "," + line[at+1:], path + "." + strings.Trim(name, `"`), path + "." + name + " added",
				})
				moved := line[:end-1] + "," + rest + line[end-1:]
				if path == "footer" {
					moved = strings.Replace(line, `,"applicable":`, ","+rest+`,"applicable":`, 1)
				}
				all = append(all, textEdit{moved, path + "." + strings.Trim(name, `"`), path + "." + name + " added at the end"})
			}
		}
	case '[':
		replace(at, end, "[]", "emptied")
		for from := at + 1; line[from] != ']'; {
			stop := valueEnd(line, from)
			next := stop
			if line[stop] == ',' {
				next++
			}
			cut := strings.Replace(line[:from]+line[next:], ",]", "]", 1)
			all = append(all, textEdit{cut, path, path + " without an element"})
			all = append(all, editsOfObject(line, from, path)...)
			from = next
		}
	case '"':
		for _, with := range otherTexts(value) {
			replace(at, end, with, "is "+with)
		}
	case 't':
		replace(at, end, "false", "is false")
	case 'f':
		replace(at, end, "true", "is true")
	default:
		n, _ := strconv.ParseInt(value, 10, 64)
		replace(at, end, strconv.FormatInt(n+1, 10), "is one more")
		replace(at, end, strconv.FormatInt(n-1, 10), "is one less")
		replace(at, end, "0", "is 0")
	}
	return all
}

// otherTexts are what a text may be instead: one that is a moment, an action or the body of a request
// is another one of these.
func otherTexts(value string) []string {
	text, _ := strconv.Unquote(value)
	all := []string{`""`, quoted(text + "x")}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		for _, d := range []time.Duration{-100 * day, -time.Hour, time.Minute, 100 * day} {
			all = append(all, quoted(at.Add(d).Format(time.RFC3339Nano)))
		}
	}
	for _, a := range planner.Actions() {
		if slices.Contains(planner.Actions(), planner.Action(text)) && string(a) != text {
			all = append(all, quoted(string(a)))
		}
	}
	if file, _, ok := strings.Cut(text, ":"); ok && strings.HasSuffix(file, ".hcl") {
		all = append(all, quoted("other.hcl:7"))
	}
	if sum, err := decimal.NewFromString(text); err == nil {
		all = append(all, quoted(sum.Add(decimal.NewFromInt(1)).String()), quoted("0"))
	}
	if strings.HasPrefix(text, `{"amount"`) {
		all = append(all, quoted(strings.Replace(text, `"80.00"`, `"90.00"`, 1)), quoted(strings.Replace(text, "to-", "ot-", 1)), quoted(strings.Replace(text, "landlord", "thief", 1)))
	}
	return all
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// additions are members that an object may have and that one plan or another leaves out.
func additions(path string) []string {
	switch path {
	case "header":
		return []string{
			`"targets":["batch.pay"]`, `"author_key":"SHA256:x"`, `"accepted":["accept-late=1"]`, `"expires":"2027-01-01T00:00:00Z"`,
			`"windows":[{"name":"w","timezone":"UTC","open":[],"until":"2027-01-01T00:00:00Z"}]`, `"origin":{"commit":"x"}`,
		}
	case "line":
		return []string{
			`"address":"transfer.internal.x"`, `"place":"x.hcl:1"`, `"batch":"x"`, `"from_label":true`, `"naming":"written"`, `"reverses":"x"`, `"duplicate_within":1`,
			`"accept_duplicate_of":["x"]`, `"again":true`, `"after":["x"]`, `"until":"2027-01-01T00:00:00Z"`, `"never":true`, `"expires":"2027-01-01T00:00:00Z"`,
			`"due":"2026-11-01T00:00:00Z"`, `"catch_up":1`, `"occurrence":"s 2026-11-01"`, `"windows":["w"]`, `"reason":"why"`, `"next":"do"`,
			`"differences":[{"field":"amount","asked":"1","answered":"2"}]`, `"recorded":{"status":"refused"}`,
			`"signals":[{"kind":"look-alike","ref_id":"x","accepted":"accept-duplicate=x"}]`,
		}
	case "line.signals":
		return []string{`"accepted":"accept-duplicate=x"`, `"place":"x.hcl:1"`, `"ref_id":"x"`, `"detail":"x"`}
	case "kept.kept":
		return []string{`"batch":"x"`, `"block":"x"`, `"due":"2026-11-01T00:00:00Z"`, `"occurrence":"s 2026-11-01"`, `"reverses":"x"`}
	case "footer":
		return []string{
			`"obstacles":[{"kind":"limit","count":1,"detail":"x"}]`, `"namings":["x"]`,
			`"batches":[{"name":"x","count":0,"assets":[],"hash_total":"0"}]`,
		}
	case "footer.batches":
		return []string{`"controlled":true`, `"control":{"place":"x:1","count":1}`}
	}
	return nil
}

// valueEnd is where the value ends that begins at an offset of a line of JSON without spaces.
func valueEnd(line string, at int) int {
	d := json.NewDecoder(strings.NewReader(line[at:]))
	var value json.RawMessage
	if err := d.Decode(&value); err != nil {
		panic(fmt.Sprintf("no JSON at %q", line[at:]))
	}
	return at + int(d.InputOffset())
}

var _ = transfer.Internal
