package config_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
)

// paidJSON is payroll over pay.json, with arguments in its data block.
func paidJSON(arguments ...string) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(bytes.ReplaceAll(paid(arguments...), []byte(`"csv"`), []byte(`"json"`)),
		[]byte("data.csv"), []byte("data.json")), []byte("pay.csv"), []byte("pay.json"))
}

// requestsOf are the requests that a directory declares, and how many mistakes it has.
func requestsOf(t *rapid.T, dir string) (requests []string, mistakes int) {
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for transfer, diags := range c.Transfers(context.Background()) {
		if mistakes += len(diags); len(diags) == 0 {
			requests = append(requests, string(transfer.Request.Body()))
		}
	}
	return requests, mistakes
}

// TestJSONMeansWhatCSVMeans writes random rows as CSV, as a JSON array and as JSON Lines.
func TestJSONMeansWhatCSVMeans(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		columns := []string{"id", "to", "net", "note"}
		text := rapid.StringMatching(`[ -+\--~éß漢\n\t]{0,12}`) // without commas: lines with as many as the header are refused in a CSV field
		var rows []map[string]string
		var file strings.Builder
		w := csv.NewWriter(&file)
		_ = w.Write(columns)
		for i := range rapid.IntRange(1, 20).Draw(rt, "rows") {
			row := map[string]string{
				"id": fmt.Sprint(i), "to": "B-" + text.Draw(rt, "to"), "note": text.Draw(rt, "note"),
				"net": rapid.SampledFrom([]string{"1.00", "2.00", "3", "1,00", "1e3", "-1"}).Draw(rt, "net"),
			}
			rows = append(rows, row)
			_ = w.Write([]string{row["id"], row["to"], row["net"], row["note"]})
		}
		w.Flush()
		write(t, dir, "main.hcl", paid())
		write(t, dir, "pay.csv", []byte(file.String()))
		want, wrong := requestsOf(rt, dir)
		indent := rapid.SampledFrom([]string{"", "  "}).Draw(rt, "indent")
		array, _ := json.MarshalIndent(map[string]any{"a": []any{1, map[string]any{"rows": rows}}, "z": nil}, "", indent)
		var lines bytes.Buffer
		for _, row := range rows {
			line, _ := json.Marshal(row)
			lines.Write(append(line, rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(rt, "line end")...))
		}
		for pointer, text := range map[string][]byte{`pointer = "/a/1/rows"`: array, "": lines.Bytes()} {
			write(t, dir, "main.hcl", paidJSON(pointer))
			write(t, dir, "pay.json", text)
			got, mistakes := requestsOf(rt, dir)
			if diff := cmp.Diff(want, got); diff != "" || wrong != mistakes {
				rt.Errorf("%d mistakes in place of %d (-csv +json):\n%s\n%s", mistakes, wrong, diff, text)
			}
		}
	})
}

// TestNumbersKeepTheirDigits reads numbers that a float has not.
func TestNumbersKeepTheirDigits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.hcl", bytes.ReplaceAll(paidJSON(), []byte(`"USD"`), []byte(`"TOKEN"`)))
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.StringMatching(`[1-9][0-9]{0,30}(\.[0-9]{1,20})?`).Draw(rt, "number")
		write(t, dir, "pay.json", []byte(`[{"id":1,"to":"B","net":`+number+`,"note":`+number+`}]`))
		requests, _ := requestsOf(rt, dir)
		want := `{"amount":"` + number + `","asset":"TOKEN","from_profile_id":"A-1","metadata":{"note":"` + number + `"},"ref_id":"pay-1","to_profile_id":"B"}`
		if diff := cmp.Diff([]string{want}, requests); diff != "" {
			rt.Error(diff)
		}
	})
}

// TestRowsOfOneLineAreTheirOwn evaluates rows that stand on one line: none is taken for another.
func TestRowsOfOneLineAreTheirOwn(t *testing.T) {
	c := mustLoad(t, map[string]string{
		"main.hcl": strings.Replace(string(paidJSON()), "each.value.net", `decimal_add(each.value.net, "0")`, 1),
		"pay.json": `[{"id":"1","to":"B-1","net":"1.00","note":"a"},{"id":"2","to":"B-2","net":"2.00","note":"b"},{"id":"3","to":"B-3","net":"3.00","note":"c"}]`,
	}, config.Options{})
	transfers, diags := all(c)
	if diags.HasErrors() || len(transfers) != 3 {
		t.Fatal(diags)
	}
	for i, transfer := range transfers {
		want := fmt.Sprintf(`{"amount":"%d.00","asset":"USD","from_profile_id":"A-1","metadata":{"note":"%c"},"ref_id":"pay-%d","to_profile_id":"B-%d"}`, i+1, 'a'+i, i+1, i+1)
		if got := string(transfer.Request.Body()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// FuzzJSON reads any bytes: nothing panics, and every declared transfer can be sent.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`[{"id":"1","to":"B","net":1.00,"note":null}]`), "", "")
	f.Add([]byte("\ufeff{\"id\":1,\"to\":\"B\",\"net\":\"2\",\"note\":{\"a\":true}}\n{}"), "", "note.a")
	f.Add([]byte(`{"a":[0,{"rows":[{"id":"1","to":"B","net":"1","note":[]},7]}],"b":`), "/a/1/rows", "")
	f.Add([]byte(`[{"id":"\ud800","id":"2"}]`), "/", "note")
	f.Fuzz(func(t *testing.T, file []byte, pointer, note string) {
		dir := t.TempDir()
		var arguments []string
		if pointer != "" {
			arguments = append(arguments, fmt.Sprintf("pointer = %q", pointer))
		}
		if note != "" {
			arguments = append(arguments, fmt.Sprintf("columns = { id = \"id\", to = \"to\", net = \"net\", note = %q }", note))
		}
		write(t, dir, "main.hcl", paidJSON(arguments...))
		write(t, dir, "pay.json", file)
		sound(t, dir)
	})
}
