package functions_test

import (
	"testing"
)

func TestStrings(t *testing.T) {
	results{
		`chomp("a\n\n")`:                        `"a"`,
		`endswith("payroll.csv", ".csv")`:       `true`,
		`endswith("payroll.csv", ".CSV")`:       `false`,
		`format("%s-%03d|%5s|%%", "a", 7, "b")`: `"a-007|    b|%"`,
		`format("100%% 12345")`:                 `"100% 12345"`,
		`formatlist("%s=%s", ["a", "b"], "c")`:  `["a=c", "b=c"]`,
		`indent(2, "a\nb\n\nc")`:                `"a\n  b\n  \n  c"`,
		`join(",", ["a", "b"], ["c"])`:          `"a,b,c"`,
		`lower("ÀB")`:                           `"àb"`,
		`regex("^(\\d+)-(\\d+)$", "12-34")`:     `["12", "34"]`,
		`regex("(?P<year>\\d{4})", "in 2026")`:  `{"year": "2026"}`,
		`regexall("[a-z]", "a1b")`:              `["a", "b"]`,
		`replace("1.2.3", ".", "-")`:            `"1-2-3"`,
		`replace("a12b", "/[0-9]+/", "#")`:      `"a#b"`,
		`replace("ab", "/(a)(b)/", "$2$1")`:     `"ba"`,
		`replace("a/b", "/", "-")`:              `"a-b"`,
		`split(",", "a,b,")`:                    `["a", "b", ""]`,
		`startswith("payroll", "pay")`:          `true`,
		`strcontains("payroll", "roll")`:        `true`,
		`strrev("aé")`:                          `"éa"`,
		`substr("hello", 1, 3)`:                 `"ell"`,
		`substr("hello", -2, -1)`:               `"lo"`,
		`title("hello world")`:                  `"Hello World"`,
		`trim("?!a?", "!?")`:                    `"a"`,
		`trimprefix("prefix-a", "prefix-")`:     `"a"`,
		`trimspace("  a\n")`:                    `"a"`,
		`trimsuffix("a.csv", ".csv")`:           `"a"`,
		`upper("a")`:                            `"A"`,
		`basename("a/b.csv")`:                   `"b.csv"`,
		`dirname("a/b.csv")`:                    `"a"`,
	}.run(t, nil)
	failures{
		`format("%2000s", "a")`:       "width",
		`format("%.99999999f", 1)`:    "width",
		`formatlist("%2000s", ["a"])`: "width",
		`format("%d", "x")`:           "number",
		`indent(1001, "a")`:           "0 to 1000",
		`indent(-1, "a")`:             "0 to 1000",
		`indent(1.5, "a")`:            "0 to 1000",
		`replace("a", "/(/", "b")`:    "not a regular expression",
		`regex("x", "a")`:             "pattern did not match",
		`timestamp()`:                 "no function named",
		`uuid()`:                      "no function named",
		`env("HOME")`:                 "no function named",
		`nonsensitive(secret)`:        "no function named",
	}.run(t, nil)
}

func TestCollections(t *testing.T) {
	results{
		`alltrue([])`:                                           `true`,
		`alltrue([true, false])`:                                `false`,
		`alltrue([true, null])`:                                 `false`,
		`anytrue([])`:                                           `false`,
		`anytrue([false, "true"])`:                              `true`,
		`anytrue([null])`:                                       `false`,
		`chunklist(["a", "b", "c"], 2)`:                         `[["a", "b"], ["c"]]`,
		`coalesce(null, "", "b", "c")`:                          `"b"`,
		`coalesce(nothing, 1)`:                                  `"1"`,
		`coalesce(null, 0)`:                                     `0`,
		`coalescelist([], ["a"])`:                               `["a"]`,
		`compact(["a", "", null, "b"])`:                         `["a", "b"]`,
		`concat(["a"], [1])`:                                    `["a", 1]`,
		`contains(["a", "b"], "b")`:                             `true`,
		`distinct(["a", "b", "a"])`:                             `["a", "b"]`,
		`element(["a", "b", "c"], 4)`:                           `"b"`,
		`flatten([["a"], [], ["b", ["c"]]])`:                    `["a", "b", "c"]`,
		`index(["a", "b"], "b")`:                                `1`,
		`keys({b = 1, a = 2})`:                                  `["a", "b"]`,
		`length("aé")`:                                          `2`,
		`length([1, 2])`:                                        `2`,
		`length({a = 1})`:                                       `1`,
		`length(toset(["a", "a"]))`:                             `1`,
		`length([unknown])`:                                     `1`,
		`lookup({a = "1"}, "a")`:                                `"1"`,
		`lookup({a = "1"}, "b", "none")`:                        `"none"`,
		`lookup(tomap({a = "1"}), "b", 2)`:                      `"2"`,
		`lookup({a = null}, "a", "none")`:                       `null`,
		`matchkeys(["i1", "i2", "i3"], ["a", "b", "a"], ["a"])`: `["i1", "i3"]`,
		`matchkeys(["i1"], ["a"], ["z"])`:                       `[]`,
		`merge({a = 1, b = 1}, {b = 2})`:                        `{"a": 1, "b": 2}`,
		`one([])`:                                               `null`,
		`one(["a"])`:                                            `"a"`,
		`one(toset(["a", "a"]))`:                                `"a"`,
		`reverse(["a", "b"])`:                                   `["b", "a"]`,
		`slice(["a", "b", "c"], 1, 3)`:                          `["b", "c"]`,
		`sort(["b", "a", "B"])`:                                 `["B", "a", "b"]`,
		`transpose({a = ["1", "2"], b = ["2"]})`:                `{"1": ["a"], "2": ["a", "b"]}`,
		`transpose({a = []})`:                                   `{}`,
		`values({b = 1, a = 2})`:                                `[2, 1]`,
		`zipmap(["a", "b"], [1, 2])`:                            `{"a": 1, "b": 2}`,
		`setintersection(["a", "b"], ["b"])`:                    `["b"]`,
		`setproduct(["a", "b"], ["x"])`:                         `[["a", "x"], ["b", "x"]]`,
		`setproduct(["a"], [])`:                                 `[]`,
		`setsubtract(["a", "b"], ["b"])`:                        `["a"]`,
		`setunion(["a"], ["b", "a"])`:                           `["a", "b"]`,
	}.run(t, nil)
	failures{
		`coalesce()`:                           "at least one",
		`coalesce(null, "")`:                   "every argument",
		`coalesce([], {})`:                     "same type",
		`index(["a"], "b")`:                    "not in the list",
		`index({}, "b")`:                       "a list is needed",
		`length(5)`:                            "has none",
		`length(null)`:                         "null",
		`lookup({a = 1}, "b")`:                 "no key \"b\"",
		`lookup(tomap({a = 1}), "b")`:          "no key \"b\"",
		`lookup({a = 1}, "b", 1, 2)`:           "at most one default",
		`lookup("a", "b")`:                     "a map is needed",
		`lookup(tomap({a = 1}), "b", [])`:      "type of the map",
		`matchkeys(["a", "b"], ["x"], ["x"])`:  "2 values and 1 keys",
		`matchkeys(["a"], [["x"]], ["x"])`:     "same type",
		`one(["a", "b"])`:                      "there are 2",
		`one("a")`:                             "list, set or tuple",
		`transpose({a = null})`:                "is null",
		`transpose({a = [null]})`:              "is null",
		`setproduct(range(1000), range(1000))`: "100000",
		`setproduct(range(9), range(1000), range(9), range(9))`: "100000",
		`alltrue(["x"])`: "bool",
	}.run(t, nil)
}

func TestEncoding(t *testing.T) {
	results{
		`base64encode("é")`:                                      `"w6k="`,
		`base64decode("w6k=")`:                                   `"é"`,
		`textencodebase64("é", "UTF-16LE")`:                      `"6QA="`,
		`textdecodebase64("6QA=", "UTF-16LE")`:                   `"é"`,
		`textdecodebase64("6Q==", "ISO-8859-1")`:                 `"é"`,
		`csvdecode("a,b\n1,\"x, y\"\n")`:                         `[{"a": "1", "b": "x, y"}]`,
		"csvdecode(\"\ufeffa\\r\\n1\\r\\n\")":                    `[{"a": "1"}]`,
		`csvdecode("a\n")`:                                       `[]`,
		`jsondecode("{\"amount\": \"1.50\", \"n\": [1, null]}")`: `{"amount": "1.50", "n": [1, null]}`,
		`jsondecode("\"1e9999 [[[\"")`:                           `"1e9999 [[["`,
		`jsondecode("\"\\\"1e9999\"")`:                           `"\"1e9999"`,
		`jsondecode("1e3")`:                                      `1000`,
		`jsonencode({b = [1, "x"], a = null})`:                   `"{\"a\":null,\"b\":[1,\"x\"]}"`,
		`urlencode("a b&c=é")`:                                   `"a+b%26c%3D%C3%A9"`,
		`yamldecode("a: [1, x]\nb: \"1.50\"\n")`:                 `{"a": [1, "x"], "b": "1.50"}`,
		`yamldecode("d: &d {x: 1}\ne: *d\n").e.x`:                `1`,
		`yamlencode({a = "1.50"})`:                               `"\"a\": \"1.50\"\n"`,
	}.run(t, nil)
	failures{
		`base64decode("//79")`:                                  "not UTF-8",
		`base64decode("*")`:                                     "not Base64",
		`textencodebase64("é", "US-ASCII")`:                     "cannot write",
		`textencodebase64("日", "ISO-8859-1")`:                   "cannot write",
		`textdecodebase64("6Q==", "UTF-8")`:                     "not text",
		`textdecodebase64("*", "UTF-8")`:                        "not Base64",
		`textdecodebase64("6Q==", "klingon")`:                   "IANA name",
		`csvdecode("a,b\n1\n")`:                                 "wrong number of fields",
		`csvdecode("a,a\n1,2\n")`:                               "duplicate column",
		`csvdecode("")`:                                         "header",
		`jsondecode("[{\"a\": 1, \"b\": {}, \"\\u0061\": 2}]")`: "the key \"a\" stands twice in an object",
		`yamldecode("a: 1\nb: {c: 1, \"c\": 2}\n")`:             "the key \"c\" stands twice in a mapping, at line 2",
		`zipmap(["a", "b", "a"], [1, 2, 3])`:                    "the key \"a\" stands twice",
		`jsondecode("{")`:                                       "EOF",
		`jsondecode("1 2")`:                                     "extraneous",
		`jsondecode("[1e9999]")`:                                "thousand digits",
		`jsondecode("-1E-9999")`:                                "thousand digits",
		`jsondecode(join("", [for i in range(1001) : "["]))`:    "nested",
		`yamldecode(join("", [for i in range(1001) : "["]))`:    "nested",
		`yamldecode(join("", [for i in range(1001) : "- "]))`:   "nested",
		`yamldecode("a: 1e9999")`:                               "thousand digits",
		`yamldecode(join("\n", concat(["x: &x 1"], [for i in range(33) : "a${i}: *x"])))`: "aliases",
		`yamldecode("[")`: "expected node content",
	}.run(t, nil)
}

func TestHashes(t *testing.T) {
	results{
		`md5("abc")`:                       `"900150983cd24fb0d6963f7d28e17f72"`,
		`sha1("abc")`:                      `"a9993e364706816aba3e25717850c26c9cd0d89d"`,
		`sha256("abc")`:                    `"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"`,
		`substr(sha512("abc"), 0, 16)`:     `"ddaf35a193617aba"`,
		`base64sha256("abc")`:              `"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="`,
		`length(base64sha512("abc"))`:      `88`,
		`uuidv5("dns", "www.example.com")`: `"2ed6657d-e927-568b-95e1-2665a8aea6a2"`,
		`uuidv5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com")`: `"2ed6657d-e927-568b-95e1-2665a8aea6a2"`,
	}.run(t, nil)
	results{
		`uuidv5("url", "a") == uuidv5("6ba7b811-9dad-11d1-80b4-00c04fd430c8", "a")`:  `true`,
		`uuidv5("oid", "a") == uuidv5("6ba7b812-9dad-11d1-80b4-00c04fd430c8", "a")`:  `true`,
		`uuidv5("x500", "a") == uuidv5("6ba7b814-9dad-11d1-80b4-00c04fd430c8", "a")`: `true`,
	}.run(t, nil)
	failures{`uuidv5("treasury", "a")`: "none of dns"}.run(t, nil)
}

func TestTimes(t *testing.T) {
	results{
		`formatdate("YYYY-MM-DD", "2026-11-27T09:00:00-05:00")`:        `"2026-11-27"`,
		`timeadd("2026-11-27T09:00:00Z", "36h")`:                       `"2026-11-28T21:00:00Z"`,
		`timecmp("2026-11-27T09:00:00-05:00", "2026-11-27T14:00:00Z")`: `0`,
		`timecmp("2026-11-27T09:00:00Z", "2026-11-27T09:00:01Z")`:      `-1`,
		`timecmp("2026-11-28T09:00:00Z", "2026-11-27T09:00:01Z")`:      `1`,
	}.run(t, nil)
	failures{
		`timecmp("2026-11-27", "2026-11-27T09:00:01Z")`: "not an RFC 3339 time",
		`timeadd("2026-11-27", "1h")`:                   "RFC",
		`timeadd("2026-11-27T09:00:00Z", "1 day")`:      "duration",
	}.run(t, nil)
}

func TestConversions(t *testing.T) {
	results{
		`can(tonumber("x"))`:              `false`,
		`can(tonumber("1"))`:              `true`,
		`try(tonumber("x"), "else")`:      `"else"`,
		`tobool("true")`:                  `true`,
		`tolist(["a", 1])`:                `["a", "1"]`,
		`tomap({a = 1, b = "x"})`:         `{"a": "1", "b": "x"}`,
		`tonumber("1.5")`:                 `1.5`,
		`tonumber(null)`:                  `null`,
		`toset(["b", "a", "b"])`:          `["a", "b"]`,
		`tostring(true)`:                  `"true"`,
		`issensitive(secret)`:             `true`,
		`issensitive(upper(secret))`:      `true`,
		`issensitive("a")`:                `false`,
		`issensitive(sensitive("a"))`:     `true`,
		`issensitive(sensitive(unknown))`: `true`,
	}.run(t, nil)
	failures{
		`tonumber("x")`:      "number",
		`tolist("x")`:        "list",
		`try(tonumber("x"))`: "no expression succeeded",
	}.run(t, nil)
}
