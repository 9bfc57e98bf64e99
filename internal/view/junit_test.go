package view_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"remit/internal/view"
)

// TestJUnit reads a file of results as its readers do: the counts of a suite are those of its
// cases, and nothing in a message can end an element or is no character of XML.
func TestJUnit(t *testing.T) {
	hostile := hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "</failure>\x1b[2J]]>", Detail: "a\u202eb & \"c\" <d>\x00"}}
	var b bytes.Buffer
	err := view.JUnit(&b, []view.TestRun{
		{File: "a.remittest.hcl", Name: "passes", Line: 1, Status: view.TestPass, Took: 1500 * time.Millisecond},
		{File: "a.remittest.hcl", Name: "fails", Line: 5, Status: view.TestFail, Diagnostics: hostile},
		{File: "a.remittest.hcl", Name: "can't be told", Line: 9, Status: view.TestError, Diagnostics: hostile},
		{File: "a.remittest.hcl", Name: "is skipped", Line: 13, Status: view.TestSkip},
		{File: "tests/b.remittest.hcl", Name: "passes", Line: 1, Status: view.TestPass},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), view.JUnitStart) {
		t.Errorf("the file begins with %.20q", b.String())
	}
	var got []string
	for decoder := xml.NewDecoder(&b); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			line := token.Name.Local
			for _, a := range token.Attr {
				line += " " + a.Name.Local + "=" + strconv.Quote(a.Value)
			}
			got = append(got, line)
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				got = append(got, "text "+strconv.Quote(text))
			}
		}
	}
	const why = `message="</failure>\\u001b[2J]]>: a\\u202eb & \"c\" <d>\\u0000"`
	const text = `text "Error: </failure>\\u001b[2J]]>\n\n  a\\u202eb & \"c\" <d>\\u0000"`
	want := []string{
		`testsuites`,
		`testsuite name="a.remittest.hcl" tests="4" failures="1" errors="1" skipped="1" time="1.500"`,
		`testcase name="passes" classname="a.remittest.hcl" file="a.remittest.hcl" line="1" time="1.500"`,
		`testcase name="fails" classname="a.remittest.hcl" file="a.remittest.hcl" line="5" time="0.000"`,
		`failure ` + why + ` type="fail"`, text,
		`testcase name="can't be told" classname="a.remittest.hcl" file="a.remittest.hcl" line="9" time="0.000"`,
		`error ` + why + ` type="error"`, text,
		`testcase name="is skipped" classname="a.remittest.hcl" file="a.remittest.hcl" line="13" time="0.000"`,
		`skipped message="an earlier apply of the file did not take place, or ended with an error"`,
		`testsuite name="tests/b.remittest.hcl" tests="1" failures="0" errors="0" skipped="0" time="0.000"`,
		`testcase name="passes" classname="tests/b.remittest.hcl" file="tests/b.remittest.hcl" line="1" time="0.000"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
