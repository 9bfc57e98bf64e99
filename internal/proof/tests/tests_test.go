package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatWasSkippedIsSaidOnceByItsReason(t *testing.T) {
	const lines = `{"Action":"output","Package":"remit/a","Test":"TestA","Output":"    a_test.go:7: PostgreSQL is not installed here (Debian: apt-get install postgresql)\n"}
{"Action":"skip","Package":"remit/a","Test":"TestA"}
{"Action":"output","Package":"remit/a","Test":"TestB","Output":"    script.go:9: SKIP: PostgreSQL is not installed here (Debian: apt-get install postgresql)\n"}
{"Action":"skip","Package":"remit/a","Test":"TestB"}
{"Action":"output","Package":"remit/a","Output":"ok  \tremit/a\t0.1s\n"}
{"Action":"pass","Package":"remit/a"}
{"Action":"output","Package":"remit/b","Test":"TestC","Output":"    c_test.go:1: it is wrong\n"}
{"Action":"fail","Package":"remit/b","Test":"TestC"}
{"Action":"output","Package":"remit/b","Output":"FAIL\tremit/b\t0.1s\n"}
{"Action":"fail","Package":"remit/b"}
not JSON
`
	var out strings.Builder
	skipped, err := follow(strings.NewReader(lines), &out)
	if err != nil {
		t.Fatal(err)
	}
	report(&out, skipped)
	want := `ok  	remit/a	0.1s
    c_test.go:1: it is wrong
FAIL	remit/b	0.1s
not JSON

2 tests were skipped:

    2  PostgreSQL is not installed here (Debian: apt-get install postgresql)
         a TestA
         a TestB
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	out.Reset()
	report(&out, nil)
	if !strings.Contains(out.String(), "Nothing was skipped.") {
		t.Errorf("of nothing it says %q", out.String())
	}
}
