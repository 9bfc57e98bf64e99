package functions_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"remit/config/functions"
	"remit/internal/files/confined"
)

// evaluate returns the value of an expression of the language, which may use the variables
// secret, unknown and nothing.
func evaluate(t *testing.T, root *confined.Directory, expression string) (cty.Value, error) {
	t.Helper()
	parsed, diags := hclsyntax.ParseExpression([]byte(expression), "test", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatalf("parse %s: %v", expression, diags)
	}
	value, diags := parsed.Value(&hcl.EvalContext{
		Functions: functions.Table(root),
		Variables: map[string]cty.Value{
			"secret":  cty.StringVal("hunter2").Mark(functions.Sensitive),
			"unknown": cty.UnknownVal(cty.String),
			"nothing": cty.NullVal(cty.String),
		},
	})
	if diags.HasErrors() {
		return value, diags
	}
	return value, nil
}

// results maps expressions to the JSON of their values.
type results map[string]string

func (want results) run(t *testing.T, root *confined.Directory) {
	t.Helper()
	for expression, text := range want {
		t.Run(expression, func(t *testing.T) {
			value, err := evaluate(t, root, expression)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ctyjson.Marshal(value, value.Type())
			if err != nil {
				t.Fatal(err)
			}
			var gotValue, wantValue any
			if err := json.Unmarshal(got, &gotValue); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(text), &wantValue); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if diff := cmp.Diff(wantValue, gotValue); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// failures maps expressions to a part of their error.
type failures map[string]string

func (want failures) run(t *testing.T, root *confined.Directory) {
	t.Helper()
	for expression, part := range want {
		t.Run(expression, func(t *testing.T) {
			value, err := evaluate(t, root, expression)
			if err == nil {
				t.Fatalf("no error, but %#v", value)
			}
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q does not say %q", err, part)
			}
			if strings.Contains(err.Error(), "goroutine") {
				t.Errorf("error shows a stack: %q", err)
			}
		})
	}
}

func TestTableHasExactlyTheFunctionsOfTheLanguage(t *testing.T) {
	want := strings.Fields(`
		abs allocate alltrue anytrue base64decode base64encode base64sha256 base64sha512 basename
		can ceil chomp chunklist coalesce coalescelist compact concat contains csvdecode decimal_add
		decimal_cmp decimal_div decimal_mul decimal_round decimal_sub decimal_sum dirname distinct
		element endswith file filebase64 filebase64sha256 filebase64sha512 fileexists filemd5 fileset
		filesha1 filesha256 filesha512 flatten floor format formatdate formatlist indent index
		issensitive join jsondecode jsonencode keys length log lookup lower matchkeys max md5 merge min
		one parseint pow range regex regexall replace reverse sensitive setintersection setproduct
		setsubtract setunion sha1 sha256 sha512 signum slice sort split startswith strcontains strrev
		substr sum templatefile templatestring textdecodebase64 textencodebase64 timeadd timecmp title
		tobool tolist tomap tonumber toset tostring transpose trim trimprefix trimspace trimsuffix try
		upper urlencode uuidv5 values yamldecode yamlencode zipmap`)
	got := slices.Sorted(maps.Keys(functions.Table(nil)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEveryFunctionHasADescription(t *testing.T) {
	for name, f := range functions.Table(nil) {
		if d := f.Description(); !strings.HasSuffix(d, ".") || strings.TrimSpace(d) != d {
			t.Errorf("%s: description %q is no sentence", name, d)
		}
	}
}

func TestTheTableIsTheCallersOwn(t *testing.T) {
	clear(functions.Table(nil))
	if len(functions.Table(nil)) == 0 {
		t.Error("clearing one table cleared another")
	}
}

func TestNumbers(t *testing.T) {
	results{
		`abs(-5)`:               `5`,
		`ceil(1.2)`:             `2`,
		`floor(-1.2)`:           `-2`,
		`log(8, 2)`:             `3`,
		`max(1, 3, 2)`:          `3`,
		`min(2, 1)`:             `1`,
		`parseint("ff", 16)`:    `255`,
		`pow(2, 10)`:            `1024`,
		`signum(-7)`:            `-1`,
		`sum([1, 2, 3.5])`:      `6.5`,
		`sum(toset([1, 1, 2]))`: `3`,
		`sum(["1", "2"])`:       `3`,
		`range(3)`:              `[0, 1, 2]`,
		`length(range(1024))`:   `1024`,
	}.run(t, nil)
	failures{
		`sum([])`:            "no sum",
		`sum("1")`:           "not string",
		`sum(["x"])`:         "must be a number",
		`sum([null])`:        "must be a number",
		`log(-1, 10)`:        "no result",
		`pow(10, 400)`:       "infinite",
		`pow(10, 5000)`:      "infinite",
		`range(1025)`:        "1024",
		`parseint("9z", 10)`: "9z",
		`abs(1e2000)`:        "thousand digits",
		`tonumber("1e9999")`: "thousand digits",
	}.run(t, nil)
}
