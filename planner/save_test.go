package planner_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/planner"
	"remit/planner/plannertest"
	"remit/state"
)

// samplePlan has every action, signals, acceptances, shared lists and both operations.
func samplePlan(t testing.TB) *planner.Plan {
	p, _ := sampleOf(t)
	return p
}

// sampleOf is that plan with the state that it was made from.
func sampleOf(t testing.TB) (*planner.Plan, *memory) {
	platform := func(c *config.Transfer) {
		c.Request.Operation = transfer.Platform
		c.Request.Metadata = transfer.Metadata{{Key: "k", Value: "<v> & \"q\""}}
		c.Request.RecipientMetadata = transfer.Metadata{{Key: "r", Value: "é"}}
		c.Request.FingerprintKey = "fp"
	}
	m := newMemory(
		record(declare("recorded"), state.Recorded), record(declare("unverified"), state.Unverified),
		record(declare("doubt", platform), state.InDoubt), record(declare("gone"), state.Recorded),
		record(declare("gone-doubt"), state.InDoubt), record(declare("refused"), state.Refused, because("no funds")),
		record(declare("failed"), state.Recorded, recordStatus(transfer.Failed)), record(declare("old", twin), state.Recorded),
	)
	dependsOn := []config.Dependency{{Batch: "pay"}}
	shared := func(t *config.Transfer) { t.DependsOn = dependsOn }
	p := plan(t, m, planner.Controls{AcceptDuplicate: []string{"b"}},
		declare("a", inBatch("pay"), expires(now.Add(day)), called("Jürgen \"J\" Müller"), elsewhere), declare("b", twin, inBatch("pay")), declare("recorded"), declare("unverified"),
		declare("y", shared), declare("z", shared), declare("doubt", platform, func(c *config.Transfer) { amount("81")(&c.Request) }),
		declare("refused", func(c *config.Transfer) { amount("82")(&c.Request) }), declare("failed"),
		declare("dated", occurs(now, 7*day), opens("hours", 0, 24*60)), declare("dated-too", occurs(now, 7*day), opens("hours", 0, 24*60)),
		declare("late", platform, notBefore(now.Add(day))), declare("missed", expires(now)),
	)
	p.Header.PlanID, p.Header.ToolVersion, p.Header.Author = "plan-1", "0.1.0", "ada"
	p.Header.Expires = now.Add(day)
	return p, m
}

func save(t testing.TB, p *planner.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lines compares lists of changes by their changes.
func lines() cmp.Option {
	return cmp.Transformer("Slice", func(l planner.Changes) []planner.Change { return l.Slice() })
}

// saved compares plans by their saved parts.
func saved() cmp.Options {
	totals := cmp.Comparer(func(a, b transfer.Totals) bool {
		text := func(t transfer.Totals) (s string) {
			for total := range t.All() {
				s += fmt.Sprint(total.Asset, total.Count, total.Sum.StringFixed(2), " ")
			}
			if hash, ok := t.HashTotal(); ok {
				s += hash.StringFixed(2)
			}
			return s
		}
		return text(a) == text(b)
	})
	return cmp.Options{
		totals, lines(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(planner.Plan{}, "Undeclared", "Unused", "SHA256", "Pending", "Unknown", "Unverified", "Newest", "Otherwise"),
		cmp.Comparer(func(a, b transfer.Amount) bool { return a.String() == b.String() }),
	}
}

// TestTotalsAreWrittenWithTheDigitsOfTheirOwnLines plans a transfer with more decimals than the others
// have, which is no submit in the end: the file must not have those of it, or it could not be read again.
func TestTotalsAreWrittenWithTheDigitsOfTheirOwnLines(t *testing.T) {
	precise := func(c *config.Transfer) { amount("0.00012345")(&c.Request) }
	for name, c := range map[string]struct {
		controls planner.Controls
		edits    []func(*config.Transfer)
	}{
		"since it is not targeted":                 {planner.Controls{Targets: []string{"transfer.internal.plain"}}, nil},
		"since it depends on what waits":           {planner.Controls{}, []func(*config.Transfer){after("later")}},
		"since it depends on what depends on that": {planner.Controls{}, []func(*config.Transfer){after("between")}},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, newMemory(), c.controls, declare("plain"), declare("later", notBefore(now.Add(day))),
				declare("between", after("later")), declare("precise", append(c.edits, precise)...))
			p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
			if _, err := planner.Open(bytes.NewReader(save(t, p))); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestARequestThatNoDeclarationMakesIsNoPlan saves plans of requests that the language refuses, as somebody does who
// edits a file and makes its hashes anew.
func TestARequestThatNoDeclarationMakesIsNoPlan(t *testing.T) {
	pairs := func(n int) transfer.Metadata {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprint("key", i)] = "x"
		}
		return transfer.NewMetadata(m)
	}
	for want, edit := range map[string]func(*transfer.Request){
		"its asset begins or ends with a space":          func(r *transfer.Request) { r.Asset = "USD " },
		"its asset contains the character U+200B":        func(r *transfer.Request) { r.Asset = "US\u200bD" },
		"its asset is missing":                           func(r *transfer.Request) { r.Asset = "" },
		"its to_profile_id begins or ends with a space":  func(r *transfer.Request) { r.ToProfileID = "landlord " },
		"its to_profile_id is missing":                   func(r *transfer.Request) { r.ToProfileID = "" },
		"its from_profile_id is missing":                 func(r *transfer.Request) { r.FromProfileID = "" },
		"its from_account_id contains the character":     func(r *transfer.Request) { r.FromAccountID = "a\u202eb" },
		"its to_identity_id is not in Unicode's normal":  func(r *transfer.Request) { r.ToIdentityID = "e\u0301" },
		`it goes from profile "treasury" to itself`:      func(r *transfer.Request) { r.ToProfileID = "treasury" },
		`its metadata "k": the value contains`:           func(r *transfer.Request) { r.Metadata = transfer.Metadata{{Key: "k", Value: "\u2066"}} },
		`its metadata "k": the value has 101 characters`: func(r *transfer.Request) { r.Metadata = transfer.Metadata{{Key: "k", Value: strings.Repeat("x", 101)}} },
		"its metadata \"\": a key may not be empty":      func(r *transfer.Request) { r.Metadata = transfer.Metadata{{Value: "x"}} },
		"it has 7 pairs of metadata":                     func(r *transfer.Request) { r.Metadata = pairs(7) },
		"it has 7 pairs of metadata and 0":               func(r *transfer.Request) { r.Metadata, r.FingerprintKey = pairs(6), "fingerprint" },
		"it has 0 pairs of metadata and 7":               func(r *transfer.Request) { r.Operation, r.RecipientMetadata = transfer.Platform, pairs(7) },
		"its metadata: the key has 101 characters":       func(r *transfer.Request) { r.FingerprintKey = strings.Repeat("x", 101) },
	} {
		t.Run(want, func(t *testing.T) {
			bad := declare("a")
			edit(&bad.Request)
			p := plan(t, newMemory(), planner.Controls{}, bad)
			p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
			var changed *planner.ChangedError
			if _, err := planner.Open(bytes.NewReader(save(t, p))); !errors.As(err, &changed) || !strings.Contains(err.Error(), want) {
				t.Errorf("of a line: %v", err)
			}
			p = plan(t, newMemory(), planner.Controls{}, declare("b"))
			p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
			p.Kept = []planner.Kept{{RefID: "a", Request: &bad.Request}}
			if _, err := planner.Open(bytes.NewReader(save(t, p))); !errors.As(err, &changed) || !strings.Contains(err.Error(), want) {
				t.Errorf("of what has no line: %v", err)
			}
		})
	}
}

// TestARequestThatTheConfigurationCannotDeclareIsNotSent has decimals and spaces that the configuration of now refuses. A reader
// of a plan may have another configuration.
func TestARequestThatTheConfigurationCannotDeclareIsNotSent(t *testing.T) {
	for name, test := range map[string]struct {
		edit   func(*transfer.Request)
		scales transfer.Scales
		want   string
	}{
		"more decimals than ISO 4217 has":         {amount("80.001"), nil, `the amount of "a"`},
		"decimals that an asset block allows":     {amount("80.001"), transfer.Scales{"USD": 3}, ""},
		"more decimals than an asset block has":   {func(r *transfer.Request) { r.Asset = "EUR"; amount("80.01")(r) }, transfer.Scales{"EUR": 1}, `the amount of "a"`},
		"an asset of which nobody knows decimals": {func(r *transfer.Request) { r.Asset = "POINTS"; amount("80.00001")(r) }, nil, ""},
		"what looks like two columns":             {func(r *transfer.Request) { r.ToProfileID = "land  lord" }, nil, `the request of "a"`},
		"what looks cut off":                      {func(r *transfer.Request) { r.ToProfileID = "land…" }, nil, `the request of "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			bad, m := declare("a"), newMemory()
			test.edit(&bad.Request)
			for what, p := range map[string]*planner.Plan{
				"a line":           plan(t, m, planner.Controls{}, bad),
				"what has no line": plan(t, m, planner.Controls{Targets: []string{"transfer.internal.b"}, Batches: []config.Batch{{Name: "x", Control: &config.BatchControl{Count: 2}}}}, declare("b", inBatch("x")), with(bad, inBatch("x"))),
			} {
				p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
				p, err := planner.Open(bytes.NewReader(save(t, p)))
				if err != nil {
					t.Fatal(err)
				}
				under := planner.Controls{Scales: test.scales}
				_, err = p.Recheck(t.Context(), m, under, now)
				different, isDifferent := errors.AsType[*planner.DifferentError](err)
				if isDifferent != (test.want != "") || isDifferent && different.What != test.want {
					t.Errorf("of %s: %v", what, err)
				}
				under.OwnBlocks = true
				if _, err := p.Verify(t.Context(), m, under, now); err != nil {
					t.Errorf("shown, of %s: %v", what, err)
				}
			}
		})
	}
}

// with is a transfer with edits.
func with(t config.Transfer, edits ...func(*config.Transfer)) config.Transfer {
	for _, edit := range edits {
		edit(&t)
	}
	return t
}

func TestSaveAndOpen(t *testing.T) {
	p := samplePlan(t)
	raw := save(t, p)
	opened, err := planner.Open(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, opened, saved()); diff != "" {
		t.Errorf("the plan is not what was saved (-saved +opened):\n%s", diff)
	}
	if again := save(t, opened); !bytes.Equal(raw, again) {
		t.Errorf("saved again it has other bytes:\n%s\n%s", raw, again)
	}
	y, z := find(t, opened, "y"), find(t, opened, "z")
	if len(y.After) != 2 || &y.After[0] != &z.After[0] {
		t.Error("transfers that wait for the same do not share the list any more")
	}
	if n := bytes.Count(raw, []byte(`"after":`)); n != 1 {
		t.Errorf("a shared list was written %d times", n)
	}
	if sum := sha256.Sum256(raw); opened.SHA256 != hex.EncodeToString(sum[:]) {
		t.Errorf("the file's SHA-256 is %s, want %x", opened.SHA256, sum)
	}
}

// TestAFooterHasTheTotalsOfEachAction leaves those of one action out of a footer that has others.
func TestAFooterHasTheTotalsOfEachAction(t *testing.T) {
	for _, action := range []planner.Action{planner.Submit, planner.Wait} {
		p := plan(t, newMemory(), planner.Controls{}, declare("a"), declare("b", notBefore(now.Add(day))))
		p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
		delete(p.Totals, action)
		var changed *planner.ChangedError
		if _, err := planner.Open(bytes.NewReader(save(t, p))); !errors.As(err, &changed) || !strings.Contains(err.Error(), "are missing") {
			t.Errorf("without those of %q: %v", action, err)
		}
	}
}

func TestTheSumIsOfAllBytesBeforeIt(t *testing.T) {
	raw := save(t, samplePlan(t))
	sum := sha256.Sum256(raw[:len(raw)-67])
	if want := hex.EncodeToString(sum[:]) + "\"}\n"; !bytes.HasSuffix(raw, []byte(want)) {
		t.Errorf("the file ends with %q", raw[len(raw)-67:])
	}
}

func TestASavedPlanSaysWhatKeepsItFromBeingApplied(t *testing.T) {
	p := plan(t, newMemory(record(declare("old", twin), state.Recorded)), planner.Controls{}, declare("b", twin))
	p.Header.PlanID = "plan-1"
	raw := save(t, p)
	opened, err := planner.Open(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if opened.Applicable() || !bytes.Contains(raw, []byte(`"applicable":false`)) {
		t.Error("the file does not say that the plan is not applicable")
	}
	if diff := cmp.Diff(p.Obstacles, opened.Obstacles); diff != "" {
		t.Error(diff)
	}
}

func TestAPlanWithoutAnIDIsNotSaved(t *testing.T) {
	if err := plan(t, newMemory(), planner.Controls{}).Save(io.Discard); err == nil {
		t.Error("no error")
	}
}

func mustBeChanged(t testing.TB, what string, raw []byte) {
	t.Helper()
	p, err := planner.Open(bytes.NewReader(raw))
	var changed *planner.ChangedError
	if p != nil || !errors.As(err, &changed) || changed.Line < 1 || changed.Reason == "" {
		t.Fatalf("%s: plan %v, error %v", what, p, err)
	}
}

// TestAnyFlippedBitIsRefused flips a bit of every byte, and of some every one.
func TestAnyFlippedBitIsRefused(t *testing.T) {
	raw := save(t, samplePlan(t))
	share := suite.Dose(8, 4, 1) // one byte of so many is flipped
	for i := rand.IntN(share); i < len(raw); i += share {
		broken := bytes.Clone(raw)
		broken[i] ^= 1 << (i % 8)
		mustBeChanged(t, fmt.Sprintf("byte %d", i), broken)
	}
	rapid.Check(t, func(t *rapid.T) {
		broken := bytes.Clone(raw)
		i := rapid.IntRange(0, len(raw)-1).Draw(t, "byte")
		broken[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "mask"))
		if _, err := planner.Open(bytes.NewReader(broken)); err == nil {
			t.Fatalf("byte %d may be changed", i)
		}
	})
}

func TestChangedLinesAreRefused(t *testing.T) {
	raw := save(t, samplePlan(t))
	lines := bytes.SplitAfter(raw, []byte("\n"))
	lines = lines[:len(lines)-1]
	for i := range lines {
		removed := bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		mustBeChanged(t, fmt.Sprintf("without line %d", i), removed)
		added := bytes.Join(append(append(append([][]byte{}, lines[:i+1]...), lines[i]), lines[i+1:]...), nil)
		mustBeChanged(t, fmt.Sprintf("with line %d twice", i), added)
		if i > 0 {
			swapped := append([][]byte{}, lines...)
			swapped[i-1], swapped[i] = swapped[i], swapped[i-1]
			mustBeChanged(t, fmt.Sprintf("with line %d before its predecessor", i), bytes.Join(swapped, nil))
		}
	}
	share := suite.Dose(8, 4, 1) // at one byte of so many it is cut off
	for i := rand.IntN(share); i < len(raw); i += share {
		mustBeChanged(t, fmt.Sprintf("cut off at byte %d", i), raw[:i])
	}
	mustBeChanged(t, "with a space at its end", append(bytes.Clone(raw), ' '))
	mustBeChanged(t, "two files", append(bytes.Clone(raw), raw...))
}

// TestForgedFilesAreRefused is about files whose SHA-256 was made right again: what the
// digest covers, and what no plan has, is still found.
func TestForgedFilesAreRefused(t *testing.T) {
	raw := string(save(t, samplePlan(t)))
	if _, err := planner.Open(bytes.NewReader(plannertest.Forge([]byte(raw)))); err != nil {
		t.Fatalf("the forgery of an unchanged file is refused, so this test shows nothing: %v", err)
	}
	tests := map[string][2]string{
		"another amount":              {`80.00`, `90.00`},
		"another destination":         {`to-a`, `to-x`},
		"another environment":         {`"environment":"test"`, `"environment":"prod"`},
		"another client":              {`"client_id":"me"`, `"client_id":"it"`},
		"another acceptance":          {`"accepted":["accept-duplicate=b"]`, `"accepted":["accept-duplicate=c"]`},
		"another operation":           {`"operation":"internal"`, `"operation":"platform"`},
		"an unknown operation":        {`"operation":"internal"`, `"operation":"external"`},
		"another action":              {`"action":"wait"`, `"action":"submit"`},
		"an unknown action":           {`"action":"wait"`, `"action":"hurry"`},
		"a resolve sent as new":       {`"action":"resolve"`, `"action":"submit"`},
		"another ref_id":              {`"ref_id":"a"`, `"ref_id":"q"`},
		"a field of another version":  {`"batch":"pay"`, `"bitch":"pay"`},
		"another total":               {`"sum":"80.00"`, `"sum":"81.00"`},
		"another count":               {`"totals":[{"action":"submit","count":7`, `"totals":[{"action":"submit","count":8`},
		"totals of nothing":           {`{"action":"undeclared"`, `{"action":"undefined"`},
		"two lists of one line":       {`"after":["a","b"]`, `"after_as":"a","after":["a"]`},
		"a list of a later line":      {`"after_as":"y"`, `"after_as":"failed"`},
		"another recorded body":       {`"status":"in_doubt"`, `"status":"recorded"`},
		"an older format":             {`remit-plan/1`, `remit-plan/0`},
		"a field twice":               {`"action":"wait"`, `"action":"submit","action":"wait"`},
		"a field twice, in capitals":  {`"action":"wait"`, `"action":"wait","Action":"wait"`},
		"a field in capitals alone":   {`"operation":"internal"`, `"Operation":"internal"`},
		"a field twice in the header": {`"environment":"test"`, `"environment":"prod","environment":"test"`},
		"a field twice in the footer": {`"applicable":true`, `"applicable":false,"applicable":true`},
		"a request twice":             {`"request":{`, `"request":{"operation":"internal"},"request":{`},
		"no plan_id":                  {`"plan_id":"plan-1"`, `"plan_id":""`},
		"an obstacle that is no more": {`"applicable":true`, `"applicable":false`},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(raw, change[0]) {
				t.Fatalf("the file has no %s:\n%s", change[0], raw)
			}
			mustBeChanged(t, name, plannertest.Forge([]byte(strings.Replace(raw, change[0], change[1], 1))))
		})
	}
}

// TestConflictsAreNeverApplicable forges away the obstacles of a conflict.
func TestConflictsAreNeverApplicable(t *testing.T) {
	p := plan(t, newMemory(record(declare("a"), state.Conflict)), planner.Controls{}, declare("a"))
	p.Header.PlanID = "plan-1"
	p.Obstacles = nil
	mustBeChanged(t, "without obstacles", save(t, p))
}

// TestARefIDThatNobodyCanDeclareIsRefused is about the three places where a plan has ref_ids.
func TestARefIDThatNobodyCanDeclareIsRefused(t *testing.T) {
	for name, refID := range map[string]string{
		"none": "", "a space before it": " a", "a line break": "a\nb", "the other way round": "a\u202eb", "longer than a piece of memory": strings.Repeat("A", 1<<20+1),
	} {
		fresh := func() *planner.Plan {
			p := plan(t, newMemory(record(declare("old"), state.Recorded)), planner.Controls{}, declare("a"))
			p.Header.PlanID = "plan-1"
			return p
		}
		p := fresh()
		p.Kept = append([]planner.Kept{{RefID: refID}}, p.Kept...)
		mustBeChanged(t, "one that is kept: "+name, save(t, p))

		p = fresh()
		line := p.Changes.At(0)
		line.RefID, line.Request.RefID = refID, refID
		p.Changes = planner.ListChanges(line)
		mustBeChanged(t, "of a line: "+name, save(t, p))

		if refID == "" {
			continue // a signal may be about no other transfer
		}
		p = fresh()
		line = p.Changes.At(0)
		line.Signals = []planner.Signal{{Kind: planner.FirstDestination, RefID: refID}}
		p.Changes = planner.ListChanges(line)
		mustBeChanged(t, "of a signal: "+name, save(t, p))
	}
}

func TestALineTwiceIsRefused(t *testing.T) {
	late := declare("late", notBefore(now.Add(day)))
	p := plan(t, newMemory(), planner.Controls{}, late)
	p.Header.PlanID = "plan-1"
	p.Changes.Add(new(p.Changes.At(0)))
	p.Totals[planner.Wait].Add(late.Request.Asset, late.Request.Amount)
	mustBeChanged(t, "a line twice", save(t, p))
}

// TestARecordedRequestOfAnotherLineIsRefused swaps two, which no sum and no digest shows.
func TestARecordedRequestOfAnotherLineIsRefused(t *testing.T) {
	a, b := declare("a", twin), declare("b", twin)
	p := plan(t, newMemory(record(a, state.InDoubt), record(b, state.InDoubt)), planner.Controls{}, a, b)
	p.Header.PlanID = "plan-1"
	first, second := p.Changes.At(0), p.Changes.At(1)
	first.Recorded, second.Recorded = second.Recorded, first.Recorded
	p.Changes = planner.ListChanges(first, second)
	mustBeChanged(t, "recorded requests swapped", save(t, p))
}

func TestOpenReturnsWhatItsReaderReturns(t *testing.T) {
	broken := errors.New("disk")
	_, err := planner.Open(io.MultiReader(strings.NewReader(`{"format":"remit-plan/1"`), errorReader{broken}))
	if !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// endless is a line that does not end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '{'
	}
	e.read += len(b)
	return len(b), nil
}

func TestALineIsBounded(t *testing.T) {
	var line endless
	_, err := planner.Open(&line)
	var changed *planner.ChangedError
	if !errors.As(err, &changed) || line.read > 80<<20 {
		t.Errorf("error %v after %d bytes", err, line.read)
	}
}

// hangs is how long a fuzzer may take for one input: more is a finding, not a slow machine.
const hangs = 5 * time.Minute

func FuzzOpen(f *testing.F) {
	raw := save(f, samplePlan(f))
	f.Add(raw)
	f.Add([]byte(`{"format":"remit-plan/1","plan_id":"p"}` + "\n" + `{"totals":[],"applicable":true,"digest":"","sha256":"` + strings.Repeat("0", 64) + "\"}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		defer time.AfterFunc(hangs, func() { panic("it hangs") }).Stop()
		texts := [][]byte{raw}
		if bytes.Contains(raw, []byte(`"sha256":"`)) {
			texts = append(texts, plannertest.Forge(raw))
		}
		for _, text := range texts {
			p, err := planner.Open(bytes.NewReader(text))
			if err != nil {
				continue
			}
			again, err := planner.Open(bytes.NewReader(save(t, p)))
			if err != nil {
				t.Fatalf("what was opened and saved is refused: %v", err)
			}
			if diff := cmp.Diff(p, again, saved()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func TestTheHeaderIsFilledIn(t *testing.T) {
	m := newMemory()
	h := plan(t, m, planner.Controls{}, declare("a")).Header
	want := planner.Header{
		Format: "remit-plan/1", FormatVersion: 2, Environment: "test", Service: m.meta.Service, Lineage: "5a3c", Serial: 7, Created: now,
		Controls: config.Controls{}.Digest(),
	}
	if diff := cmp.Diff(want, h, cmpopts.EquateApproxTime(time.Duration(0))); diff != "" {
		t.Error(diff)
	}
}
