package records_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/accounts/records"
)

const (
	debit = `{"id":"1","customer_id":"c","profile_id":"p","amount":"10.00","total":"10.00","fee":"0","asset":"USD",` +
		`"direction":"DEBIT","type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED",` +
		`"created_at":"2026-11-01T00:00:00Z","updated_at":"2026-11-01T00:00:00Z","ref_id":"a","metadata":{"k":"{\"items\":[}"}}`
	header = "id,customer_id,profile_id,amount,total,fee,asset,direction,type,status,created_at,updated_at,ref_id,metadata.k\n"
	row    = `1,c,p,10.00,10.00,0,USD,DEBIT,INTERNAL_TRANSFER_DEBIT,COMPLETED,2026-11-01T00:00:00Z,2026-11-01T00:00:00Z,a,"{""items"":[}"` + "\n"
)

// read returns a line for each record, and the error at the end.
func read(text string) (lines []string, continues string, err error) {
	r := records.NewReader("export", strings.NewReader(text), 1<<20)
	for record, failed := range r.All() {
		if failed != nil {
			err = failed
			break
		}
		lines = append(lines, fmt.Sprintf("%d %s %s %s %s", record.Line, record.ID, record.RefID, record.Amount, record.Metadata["k"]))
	}
	return lines, r.Continues(), err
}

func TestTheSameRecordsInEveryForm(t *testing.T) {
	first, second := `1 1 a 10.00 {"items":[}`, `2 1 a 10.00 {"items":[}`
	semicolons := strings.NewReplacer(",", ";").Replace(header + row)
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"one object":                         {debit, []string{first}},
		"JSON Lines":                         {debit + "\n" + debit + "\n", []string{first, second}},
		"JSON Lines with CRLF":               {debit + "\r\n" + debit + "\r\n", []string{first, second}},
		"an array":                           {"[" + debit + ",\n" + debit + "]\n", []string{first, second}},
		"an array for each line":             {"[" + debit + "]\n[" + debit + "]", []string{first, second}},
		"an empty array":                     {"[]", nil},
		"a page":                             {`{"items":[` + debit + ",\n" + debit + `],"next_page_cursor":""}`, []string{first, second}},
		"a page that begins with its cursor": {`{ "next_page_cursor" : null , "items" : [` + debit + `] }`, []string{first}},
		"an empty page":                      {`{"items":[]}`, nil},
		"pages":                              {`{"items":[` + debit + `],"next_page_cursor":"x"}` + "\n" + `{"items":[` + debit + "]}", []string{first, second}},
		"an object over several lines":       {strings.ReplaceAll(debit, ",", ",\n  "), []string{first}},
		"a byte-order mark":                  {"\ufeff" + debit, []string{first}},
		"amounts that are numbers":           {strings.ReplaceAll(debit, `"10.00"`, `10.00`), []string{first}},
		"amounts with an exponent":           {strings.ReplaceAll(debit, `"10.00"`, `1.000E1`), []string{`1 1 a 10.00 {"items":[}`}},
		"amounts with a small exponent":      {strings.ReplaceAll(debit, `"10.00"`, `1.000e1`), []string{`1 1 a 10.00 {"items":[}`}},
		"a record with a member items":       {strings.Replace(debit, `"ref_id"`, `"items":[1],"ref_id"`, 1), []string{first}},
		"CSV":                                {header + row + row, []string{second, strings.Replace(second, "2", "3", 1)}},
		"CSV with CRLF":                      {strings.ReplaceAll(header+row, "\n", "\r\n"), []string{second}},
		"CSV with a byte-order mark":         {"\ufeff" + header + row, []string{second}},
		"CSV with semicolons":                {semicolons, []string{second}},
		"CSV with tabs":                      {strings.ReplaceAll(semicolons, ";", "\t"), []string{second}},
		"CSV below an empty line":            {"\n" + header + row, []string{strings.Replace(second, "2", "3", 1)}},
		"CSV without its last line's end":    {strings.TrimSuffix(header+row, "\n"), []string{second}},
		"CSV of a header alone":              {header, nil},
		"CSV with metadata as JSON": {
			strings.Replace(header+row, "metadata.k", "metadata", 1)[:len(header)-2] + strings.Replace(row, `"{""items"":[}"`, `"{""k"":""{\""items\"":[}""}"`, 1),
			[]string{second},
		},
		"CSV with a column without a name": {strings.TrimSuffix(header, "\n") + ",\n" + strings.TrimSuffix(row, "\n") + ",\n", []string{second}},
		"nothing":                          {"", nil},
		"white space":                      {" \n\t\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, continues, err := read(test.text)
			if err != nil || continues != "" {
				t.Fatalf("continues %q, error %v", continues, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"cut in an object":           {debit + "\n" + debit[:99], "export:2: the file ends in the middle"},
		"cut in a string":            {debit + "\n" + debit[:9], "export:2: the file ends in the middle"},
		"cut in an array":            {"[" + debit + ",\n", "export:2: the file ends in the middle"},
		"cut behind a record":        {"[" + debit + "\n", "export:2: the file ends in the middle"},
		"cut in a page":              {`{"items":[` + debit + "]\n", "export:1: the file ends in the middle"},
		"an array without a comma":   {"[" + debit + "\n" + debit + "]", `export:2: here stands "{" where a comma`},
		"a comma too many":           {"[" + debit + ",\n]", "export:2: a comma stands before the end"},
		"a page of a timeout":        {`{"items":[` + debit + `],"message":"upstream timed out"}`, "by its field message (upstream timed out) the request for it did not go well"},
		"a page with a bad code":     {`{"code":504,"items":[` + debit + `]}`, "by its field code (504)"},
		"a page with an error":       {`{"items":[` + debit + `],"errors":["shard 3"]}`, "export:1: read the page of records: by its field errors it is not whole"},
		"a page in two lists":        {`{"items":[` + debit + `],"next_page_cursor":"x","archived":[` + debit + `]}`, "export:1: read the page of records: by its field archived"},
		"a page with two items":      {`{"items":[` + debit + `],"items":[` + debit + `]}`, `export:1: read the page of records: the field "items" stands twice`},
		"text":                       {debit + "\nand so on", `export:2: here stands "a" where a record`},
		"a number in an array":       {"[" + debit + ",\n5]", `export:2: here stands "5" where a record`},
		"a required field missing":   {debit + "\n" + strings.Replace(debit, `"asset":"USD",`, "", 1), "export:2: read transfer record: the required field asset"},
		"a field twice":              {strings.Replace(debit, `"id":"1"`, `"id":"1","id":"2"`, 1), `export:1: read transfer record: the field "id" stands twice`},
		"money that is true":         {strings.Replace(debit, `"10.00"`, `true`, 1), "export:1: read transfer record: field amount has an unexpected JSON type"},
		"bytes that are no text":     {strings.Replace(debit, `"USD"`, "\"US\xff\"", 1), "export:1: the text is not UTF-8"},
		"broken JSON":                {strings.Replace(debit, `:"USD"`, `"USD"`, 1), "export:1: read transfer record: "},
		"no end":                     {`{"id":"` + strings.Repeat("x", 2<<20), "larger than"},
		"neither JSON nor CSV":       {"Dear customer", "export:1: this is neither JSON nor CSV"},
		"a column missing":           {strings.Replace(header, ",asset,", ",currency,", 1) + row, "export:1: the header lacks these columns, which every record has: asset"},
		"a column twice":             {strings.Replace(header, ",asset,", ",id,", 1) + row, `export:1: the column "id" stands twice`},
		"any column twice":           {strings.Replace(header, "metadata.k", "ref_id", 1) + row, `export:1: the column "ref_id" stands twice`},
		"both kinds of metadata":     {strings.Replace(header, "ref_id,", "metadata,", 1) + row, "export:1: the header has both metadata and metadata.KEY"},
		"a row cut off":              {header + row + row[:40], "export:3: the row has another number of cells"},
		"a quoted cell cut off":      {header + row + row[:len(row)-3], "export:3: a quoted cell of this row has no end"},
		"a cell missing":             {header + strings.Replace(row, "USD", "", 1), "export:2: read transfer record: the required field asset"},
		"Latin-1":                    {header + strings.Replace(row, "USD", "\xe9", 1), "export:2: the text is not UTF-8"},
		"a spreadsheet":              {"PK\x03\x04 and more", "export:1: this is a spreadsheet"},
		"UTF-16":                     {"\xff\xfei\x00d\x00", "export:1: this is text in UTF-16"},
		"a cell that should be JSON": {strings.Replace(header, "metadata.k", "auto_conversion", 1) + row, "export:2: the cell of \"auto_conversion\" is not a JSON object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := read(test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
}

func TestAPageThatNamesANextOneIsNotTheLast(t *testing.T) {
	for text, want := range map[string]string{
		`{"items":[` + debit + `],"next_page_cursor":"x"}`:                                                          "next_page_cursor",
		`{"next_page_cursor":"x","items":[]}`:                                                                       "next_page_cursor",
		`{"items":[],"next_page_cursor":"x"}{"items":[]}`:                                                           "",
		`{"has_more":true,"items":[]}`:                                                                              "has_more",
		`{"items":[],"has_more":true,"links":{"next":"x"}}{"items":[],"links":{"next":null}}`:                       "",
		`{"items":[` + debit + `],"code":0,"title":"Failed and pending","summary":{"failed":1,"status":"PENDING"}}`: "",
		`{"items":[],"_links":{"next":{"href":"x"}}}`:                                                               "_links.next",
	} {
		if _, continues, err := read(text); continues != want || err != nil {
			t.Errorf("%s: continues %q, error %v", text, continues, err)
		}
	}
}

func TestAPageSaysHowManyItsListHas(t *testing.T) {
	const page = `{"items":[` + debit + `],"total_count":6}`
	for text, want := range map[string]map[int]int{
		page + page: {6: 2},
		page + `{"items":[` + debit + `],"total_count":5}`:                                                                   {6: 1, 5: 1},
		`{"items":[` + debit + `],"total_count":2,"next_page_cursor":"x"}{"items":[` + debit + `]}{"items":[` + debit + `]}`: {2: 2},
		`{"items":[` + debit + `],"meta":{"totalCount":3}}` + debit:                                                          {3: 1},
		`{"items":[` + debit + `],"total":"3"}`:                                                                              nil, // of money
	} {
		reader := records.NewReader("export", strings.NewReader(text), 1<<20)
		for _, err := range reader.All() {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		if diff := cmp.Diff(want, reader.Promised()); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
	}
}

// hangs is how long a fuzzer may take for one input: more is a finding, not a slow machine.
const hangs = 5 * time.Minute

func FuzzReader(f *testing.F) {
	f.Add(debit)
	f.Add("[" + debit + "," + debit + "]")
	f.Add(`{"items":[` + debit + `],"next_page_cursor":"x"}`)
	f.Add(header + row)
	f.Add("ref_id,group_id,amount,asset\na,b,1.50,USD\nc,d,,\n")
	f.Fuzz(func(t *testing.T, text string) {
		defer time.AfterFunc(hangs, func() { panic("it hangs") }).Stop()
		reader := records.NewReader("export", strings.NewReader(text), 1<<20)
		reader.TakeList(func(x records.Listing) error {
			if x.RefID == "" || x.GroupID == "" || x.Line < 2 || (x.Amount == "") != (x.Asset == "") {
				t.Fatalf("half a listing: %+v", x)
			}
			return nil
		})
		for record, err := range reader.All() {
			if _, isWrong := errors.AsType[*records.Error](err); err != nil && !isWrong {
				t.Fatalf("a file that can be read whole fails otherwise: %v", err)
			}
			if err == nil && (record.ID == "" || record.Line < 1) {
				t.Fatalf("half a record: %+v", record)
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for name, text := range map[string]string{"jsonl": debit + "\n", "csv": row} {
		b.Run(name, func(b *testing.B) {
			const lines = 1000
			all := strings.Repeat(strings.ReplaceAll(text, "\"{\\\"items\\\":[}\"", `"v"`), lines)
			all = strings.ReplaceAll(all, `"{""items"":[}"`, "v")
			if name == "csv" {
				all = header + all
			}
			b.SetBytes(int64(len(all)))
			for b.Loop() {
				for _, err := range records.NewReader("export", strings.NewReader(all), 1<<30).All() {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
