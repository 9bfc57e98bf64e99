package load_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"remit/internal/bench/load"
	"remit/internal/cli"
	"remit/internal/transfer"
)

func records(t *testing.T, size int, order load.Order) [][]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := load.WriteRows(path, size, order); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

func TestRowsOfEachOrder(t *testing.T) {
	tests := map[string]struct {
		order     load.Order
		rows, ids int
		paid      int // different profiles
	}{
		"sorted":   {load.Sorted, 5000, 5000, 5000},
		"shuffled": {load.Shuffled, 5000, 5000, 5000},
		"grown":    {load.Grown, 5500, 5500, 5500 - load.LookAlikes(5000)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			all := records(t, 5000, test.order)
			ids, profiles := make(map[string]bool), make(map[string]bool)
			sorted := true
			for i, record := range all {
				ids[record[0]], profiles[record[3]] = true, true
				sorted = sorted && (i == 0 || all[i-1][0] < record[0])
			}
			if len(all) != test.rows || len(ids) != test.ids || len(profiles) != test.paid {
				t.Errorf("%d rows, %d ids, %d profiles; want %d, %d, %d", len(all), len(ids), len(profiles), test.rows, test.ids, test.paid)
			}
			if want := test.order != load.Shuffled; sorted != want {
				t.Errorf("sorted is %t", sorted)
			}
		})
	}
}

// remit runs a command line in a directory and returns its exit code and what it wrote.
func remit(t *testing.T, dir string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	args = append(args, "--chdir="+dir)
	code := cli.Run(t.Context(), args, bytes.NewReader(nil), &out, &out, func(string) (string, bool) { return "", false })
	return code, out.String()
}

func TestRemitPlansEveryForm(t *testing.T) {
	for name, form := range map[string]load.Form{
		"rows": load.RemitRows, "csvdecode": load.RemitCSVDecode, "blocks": load.RemitBlocks,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := load.WriteConfiguration(dir, form, 50, ""); err != nil {
				t.Fatal(err)
			}
			if code, out := remit(t, dir, "init"); code != 0 {
				t.Fatal(out)
			}
			if code, out := remit(t, dir, "plan", "--detailed-exitcode"); code != 2 {
				t.Fatalf("exit code %d\n%s", code, out)
			}
			if err := load.Seed(t.Context(), filepath.Join(dir, "remit.db"), 50, time.Now); err != nil {
				t.Fatal(err)
			}
			if code, out := remit(t, dir, "plan", "--detailed-exitcode"); code != 0 {
				t.Fatalf("after the seed, exit code %d\n%s", code, out)
			}
		})
	}
}

func TestWhatIsEditedHasNoMistake(t *testing.T) {
	dir := t.TempDir()
	if err := load.WriteEdited(dir, 50); err != nil {
		t.Fatal(err)
	}
	if code, out := remit(t, dir, "validate"); code != 0 || !strings.Contains(out, "55 transfers") {
		t.Fatalf("exit code %d\n%s", code, out)
	}
}

func TestGrownRowsLookAlike(t *testing.T) {
	const size = 2000
	dir := t.TempDir()
	if err := load.WriteConfiguration(dir, load.RemitRows, size, ""); err != nil {
		t.Fatal(err)
	}
	if err := load.WriteRows(filepath.Join(dir, "grown.csv"), size, load.Grown); err != nil {
		t.Fatal(err)
	}
	if code, out := remit(t, dir, "init"); code != 0 {
		t.Fatal(out)
	}
	if err := load.Seed(t.Context(), filepath.Join(dir, "remit.db"), size, time.Now); err != nil {
		t.Fatal(err)
	}
	if code, out := remit(t, dir, "plan", "--var=file=grown.csv"); code != 5 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	accept := fmt.Sprintf("--accept-duplicates=payouts:%d", load.LookAlikes(size))
	if code, out := remit(t, dir, "plan", "--var=file=grown.csv", accept, "--detailed-exitcode"); code != 2 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
}

func TestServiceTakesTheTransfersOfAnApply(t *testing.T) {
	server := httptest.NewServer(load.NewService(0, false, time.Now).Handler())
	defer server.Close()
	dir := t.TempDir()
	if err := load.WriteConfiguration(dir, load.RemitRows, 50, server.URL); err != nil {
		t.Fatal(err)
	}
	if code, out := remit(t, dir, "init"); code != 0 {
		t.Fatal(out)
	}
	if code, out := remit(t, dir, "apply", "--auto-approve"); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	if m := meter(t, server.URL); m.Count != 50 || m.Rate() <= 0 {
		t.Errorf("the service saw %+v", m)
	}
	var out bytes.Buffer
	if err := load.FloorHTTP(t.Context(), &out, server.URL, filepath.Join(dir, "rows.csv"), 8); err != nil {
		t.Fatal(err)
	}
	if m := meter(t, server.URL); m.Count != 50 || out.String() != "50\n" {
		t.Errorf("the raw client sent %+v and wrote %q", m, &out)
	}
	out.Reset()
	if err := load.FloorScan(t.Context(), &out, filepath.Join(dir, "remit.db")); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("50 %d\n", 50*(len("payout-P-00000000")+32+16)); out.String() != want {
		t.Errorf("the scan wrote %q, want %q", &out, want)
	}
}

func meter(t *testing.T, url string) load.Meter {
	t.Helper()
	var m load.Meter
	decode(t, get(t, url+load.MeterPath, http.StatusOK), &m)
	return m
}

func get(t *testing.T, url string, status int) []byte {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var body bytes.Buffer
	if _, err := body.ReadFrom(answer.Body); err != nil || answer.StatusCode != status {
		t.Fatalf("%s, %v", answer.Status, err)
	}
	return body.Bytes()
}

func decode(t *testing.T, raw []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
}

func TestServiceThatKeepsAnswersWhatItMade(t *testing.T) {
	server := httptest.NewServer(load.NewService(0, true, time.Now).Handler())
	defer server.Close()
	asked, err := load.NewRow(7).Request()
	if err != nil {
		t.Fatal(err)
	}
	url := server.URL + transfer.DefaultOperator.Path(transfer.Internal)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(asked.Body()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer bench")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var made bytes.Buffer
	if _, err := made.ReadFrom(answer.Body); err != nil {
		t.Fatal(err)
	}
	record, err := transfer.ParseRecord(bytes.TrimSpace(made.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if record.RefID != asked.RefID || record.Amount != asked.Amount.String() || record.ProfileID != asked.FromProfileID {
		t.Errorf("asked for %+v, got %+v", asked, record)
	}
	if again := get(t, url+"/"+record.ID, http.StatusOK); !bytes.Equal(again, made.Bytes()) {
		t.Errorf("read back as %s, made as %s", again, &made)
	}
	get(t, url+"/another", http.StatusNotFound)
}

func TestFloorCSVReadsEveryRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	if err := load.WriteRows(path, 1234, load.Shuffled); err != nil {
		t.Fatal(err)
	}
	for keep, want := range map[bool]int{false: 0, true: 1234} {
		var out bytes.Buffer
		if err := load.FloorCSV(&out, path, keep); err != nil {
			t.Fatal(err)
		}
		var rows, digits, kept int
		if _, err := fmt.Sscan(out.String(), &rows, &digits, &kept); err != nil || rows != 1234 || digits < 1234*20 || kept != want {
			t.Errorf("keep %t, it wrote %q, %v", keep, &out, err)
		}
	}
}

// TestTheExportIsOfTheState seeds a state and an export of one time, and has remit hold them against each other.
func TestTheExportIsOfTheState(t *testing.T) {
	const size = 50
	dir, at := t.TempDir(), time.Now().UTC()
	if err := load.WriteConfiguration(dir, load.RemitRows, size, ""); err != nil {
		t.Fatal(err)
	}
	if code, out := remit(t, dir, "init"); code != 0 {
		t.Fatal(out)
	}
	db := filepath.Join(dir, "remit.db")
	if err := load.Seed(t.Context(), db, size, func() time.Time { return at }); err != nil {
		t.Fatal(err)
	}
	for name, first := range map[string]int{"export.jsonl": 0, "others.jsonl": size} {
		if err := load.WriteExport(filepath.Join(dir, name), first, size, at); err != nil {
			t.Fatal(err)
		}
	}
	if code, out := remit(t, dir, "reconcile", "export.jsonl"); code != 0 {
		t.Errorf("the export of the state, exit code %d\n%s", code, out)
	}
	if code, out := remit(t, dir, "reconcile", "others.jsonl"); code != 4 {
		t.Errorf("an export of others, exit code %d\n%s", code, out)
	}
}

// TestFloorsReadWhatTheyAreToRead counts what each of them says that it read.
func TestFloorsReadWhatTheyAreToRead(t *testing.T) {
	const size = 50
	dir, at := t.TempDir(), time.Now()
	if err := load.WriteConfiguration(dir, load.RemitRows, size, ""); err != nil {
		t.Fatal(err)
	}
	if code, out := remit(t, dir, "init"); code != 0 {
		t.Fatal(out)
	}
	if code, out := remit(t, dir, "plan", "--out=saved.plan"); code != 0 {
		t.Fatal(out)
	}
	db, export := filepath.Join(dir, "remit.db"), filepath.Join(dir, "export.jsonl")
	if err := load.Seed(t.Context(), db, size, time.Now); err != nil {
		t.Fatal(err)
	}
	if err := load.WriteExport(export, 0, size, at); err != nil {
		t.Fatal(err)
	}
	first := func(floor func(out *bytes.Buffer) error) string {
		t.Helper()
		var out bytes.Buffer
		if err := floor(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	tests := map[string]struct {
		floor func(out *bytes.Buffer) error
		want  string // how its output begins
	}{
		"the journal: created, begun, two each, ended": {func(out *bytes.Buffer) error { return load.FloorJournal(t.Context(), out, db) }, "103 "},
		"the records": {func(out *bytes.Buffer) error { return load.FloorRecords(out, export) }, "100 "},
		"the plan":    {func(out *bytes.Buffer) error { return load.FloorPlanFile(out, filepath.Join(dir, "saved.plan")) }, "52 "},
		"the book":    {func(out *bytes.Buffer) error { return load.FloorBook(t.Context(), out, db) }, "payout-P-00000000,g-"},
		"the format":  {func(out *bytes.Buffer) error { return load.FloorFormat(out, filepath.Join(dir, "main.hcl")) }, "true\n"},
		"the copy":    {func(*bytes.Buffer) error { return load.FloorCopy(db) }, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := first(test.floor); !strings.HasPrefix(got, test.want) {
				t.Errorf("it wrote %.80q, want %q first", got, test.want)
			}
		})
	}
	book := first(func(out *bytes.Buffer) error { return load.FloorBook(t.Context(), out, db) })
	if lines := strings.Count(book, "\n"); lines != size {
		t.Errorf("the book has %d lines", lines)
	}
}
