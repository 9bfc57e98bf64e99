package planner_test

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// drawChange draws what a list may hold: mostly alike changes, and all sorts of text.
func drawChange(t *rapid.T) planner.Change {
	text := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "ab", "payroll-1", "payroll-12", `"\<&>` + "\u2028\x00\x7f", "é", "\xff"}), rapid.String())
	maybe := func(name string) bool { return rapid.IntRange(0, 9).Draw(t, name) == 0 }
	pairs := func(name string) transfer.Metadata {
		return transfer.NewMetadata(rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c"}), text, 0, 2).Draw(t, name))
	}
	c := planner.Change{
		Action: rapid.SampledFrom(planner.Actions()).Draw(t, "action"),
		RefID:  text.Draw(t, "ref_id"), Address: text.Draw(t, "address"), Place: text.Draw(t, "place"), Batch: text.Draw(t, "batch"),
		Naming: rapid.SampledFrom([]string{"", "written", `ref_id = "a-${each.key}"`, `ref_id = "b-${each.key}"`}).Draw(t, "naming"),
		Request: transfer.Request{
			Operation:     rapid.SampledFrom(transfer.Operations()).Draw(t, "operation"),
			FromProfileID: text.Draw(t, "from"), ToProfileID: text.Draw(t, "to"), ToAccountID: text.Draw(t, "account"),
			Asset: text.Draw(t, "asset"), Metadata: pairs("metadata"), RecipientMetadata: pairs("recipient_metadata"),
		},
		FromLabel: maybe("from_label"), Again: maybe("again"), Reason: rapid.SampledFrom([]string{"", "why"}).Draw(t, "reason"),
	}
	c.Request.RefID = c.RefID
	if !maybe("no amount") {
		c.Request.Amount = transfer.MustAmount(rapid.SampledFrom([]string{"1", "1.50", "1.5", "12345678901234567890.01"}).Draw(t, "amount"))
	}
	if maybe("another ref_id") {
		c.Request.RefID = "other"
	}
	if maybe("until") {
		c.Until = now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "hours")) * time.Hour)
	}
	if maybe("recorded") {
		c.Recorded = &planner.Recorded{Status: state.Refused, Reason: text.Draw(t, "why")}
	}
	if maybe("signals") {
		c.Signals = []planner.Signal{{Kind: planner.LookAlike, RefID: text.Draw(t, "twin")}}
	}
	if maybe("after") {
		c.After = []string{text.Draw(t, "dependency")}
	}
	return c
}

func sameChanges() cmp.Options {
	return cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b transfer.Amount) bool { return a == b })}
}

func TestAListHoldsWhatASliceDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list planner.Changes
		var slice []planner.Change
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			c := drawChange(t)
			if len(slice) > 0 && rapid.IntRange(0, 4).Draw(t, "instead of another") == 0 {
				i := rapid.IntRange(0, len(slice)-1).Draw(t, "number")
				list.Set(i, &c)
				slice[i] = c
				continue
			}
			list.Add(&c)
			slice = append(slice, c)
		}
		if list.Len() != len(slice) {
			t.Fatalf("%d changes instead of %d", list.Len(), len(slice))
		}
		if diff := cmp.Diff(slice, list.Slice(), sameChanges()...); diff != "" {
			t.Fatalf("-slice +list:\n%s", diff)
		}
		for i, c := range list.All() {
			if diff := cmp.Diff(slice[i], *c, sameChanges()...); diff != "" {
				t.Fatalf("change %d (-slice +list):\n%s", i, diff)
			}
		}
		for i, c := range list.Movements() {
			if diff := cmp.Diff(movementOf(&slice[i]), movementOf(c), sameChanges()...); diff != "" {
				t.Fatalf("movement %d (-slice +list):\n%s", i, diff)
			}
		}
	})
}

// movementOf is a change without the texts that Movements may leave out.
func movementOf(c *planner.Change) planner.Change {
	of := *c
	of.RefID, of.Address, of.Place, of.Naming = "", "", "", ""
	of.Request.RefID, of.Request.Operation, of.Request.FingerprintKey = "", "", ""
	of.Request.Metadata, of.Request.RecipientMetadata = nil, nil
	return of
}

func TestAnUpdateChangesOneChange(t *testing.T) {
	a, b := planner.Change{RefID: "a", Request: request("a")}, planner.Change{RefID: "b", Request: request("b")}
	list := planner.ListChanges(a, b)
	list.Update(0, func(c *planner.Change) { c.Reason = "why" })
	a.Reason = "why"
	if diff := cmp.Diff([]planner.Change{a, b}, list.Slice(), sameChanges()...); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestLinesAreWhatPackageJSONWrites has package json as the oracle of the lines that are
// written without it.
func TestLinesAreWhatPackageJSONWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &planner.Plan{Header: planner.Header{PlanID: "p"}}
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		before := ""
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			c := drawChange(t)
			p.Changes.Add(&c)
			if naming := c.Naming; naming != "" && naming == before {
				c.Naming = "="
			} else {
				before = naming
			}
			if err := encoder.Encode(c); err != nil {
				t.Fatal(err)
			}
		}
		var got bytes.Buffer
		if err := p.Save(&got); err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(got.Bytes(), []byte("\n"))
		if diff := cmp.Diff(want.String(), string(slices.Concat(lines[1:len(lines)-2]...))); diff != "" {
			t.Fatalf("-json +saved:\n%s", diff)
		}
	})
}

// TestEveryFieldIsKeptAndWritten sets one field after the other: one that is new, and that the list
// or its lines don't know, fails it.
func TestEveryFieldIsKeptAndWritten(t *testing.T) {
	texts := []string{"x"}
	values := map[reflect.Type]any{
		reflect.TypeFor[string](): "x", reflect.TypeFor[bool](): true, reflect.TypeFor[[]string](): texts,
		reflect.TypeFor[planner.Action](): planner.Wait, reflect.TypeFor[time.Duration](): time.Hour, reflect.TypeFor[time.Time](): now,
		reflect.TypeFor[[]transfer.Difference](): []transfer.Difference{{Field: "f"}},
		reflect.TypeFor[*planner.Recorded]():     &planner.Recorded{Status: state.Refused},
		reflect.TypeFor[state.Status]():          state.InDoubt,
		reflect.TypeFor[[]planner.Signal]():      []planner.Signal{{Kind: planner.MixedScripts, Detail: "d"}},
	}
	values[reflect.TypeFor[transfer.Request]()] = transfer.Request{
		Operation: transfer.Platform, RefID: "r", Asset: "USD", Amount: transfer.MustAmount("1"), FromProfileID: "a", ToProfileID: "b",
	}
	base := planner.Change{Action: planner.Submit, RefID: "r", Request: transfer.Request{Operation: transfer.Internal, RefID: "r"}}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[planner.Change]()) {
		value, isKnown := values[field.Type]
		if !isKnown {
			t.Fatalf("%s has the type %s, of which the test has no value", field.Name, field.Type)
		}
		c := base
		reflect.ValueOf(&c).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(value))
		p := &planner.Plan{Header: planner.Header{PlanID: "p"}, Changes: planner.ListChanges(base, c)}
		if diff := cmp.Diff(c, p.Changes.At(1), sameChanges()); diff != "" {
			t.Errorf("%s is not kept (-want +got):\n%s", field.Name, diff)
		}
		var want, got bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(c); err != nil {
			t.Fatal(err)
		}
		if err := p.Save(&got); err != nil {
			t.Fatal(err)
		}
		if line := string(bytes.SplitAfter(got.Bytes(), []byte("\n"))[2]); line != want.String() {
			t.Errorf("%s: %s is not what package json writes: %s", field.Name, line, &want)
		}
	}
}

// TestEveryFieldOfARequestIsKept packs alike changes of which one field of the request differs: one
// that the list does not know would have the other's value.
func TestEveryFieldOfARequestIsKept(t *testing.T) {
	values := map[reflect.Type][2]any{
		reflect.TypeFor[string]():             {"one", "two"},
		reflect.TypeFor[transfer.Operation](): {transfer.Platform, transfer.Internal},
		reflect.TypeFor[transfer.Amount]():    {transfer.MustAmount("1.50"), transfer.MustAmount("2.50")},
		reflect.TypeFor[transfer.Metadata]():  {transfer.Metadata{{Key: "k", Value: "one"}}, transfer.Metadata{{Key: "k", Value: "two"}}},
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[transfer.Request]()) {
		some, isKnown := values[field.Type]
		if !isKnown {
			t.Fatalf("transfer.Request.%s has the type %s, of which the test has no value", field.Name, field.Type)
		}
		var changes [2]planner.Change
		for i := range changes {
			c := &changes[i]
			c.Action, c.Request = planner.Submit, request("r")
			c.Request.Operation = transfer.Platform
			reflect.ValueOf(&c.Request).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(some[i]))
			c.RefID = c.Request.RefID
		}
		list := planner.ListChanges(changes[:]...)
		if diff := cmp.Diff(changes[:], list.Slice(), sameChanges()...); diff != "" {
			t.Errorf("transfer.Request.%s is not kept (-want +got):\n%s", field.Name, diff)
		}
		if differences := planner.Differences(changes[0].Request, changes[1].Request); len(differences) == 0 && field.Name != "FingerprintKey" {
			t.Errorf("transfer.Request.%s is not compared", field.Name)
		}
	}
}

func BenchmarkChanges(b *testing.B) {
	_, transfers := benchWorld(0, benchDeclared)
	p := plan(b, newMemory(), planner.Controls{}, transfers...)
	p.Header.PlanID = "plan-1"
	b.Run("save", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := p.Save(io.Discard); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for range p.Changes.All() {
			}
		}
	})
	b.Run("add", func(b *testing.B) {
		all := p.Changes.Slice()
		b.ReportAllocs()
		for b.Loop() {
			planner.ListChanges(all...)
		}
	})
}
