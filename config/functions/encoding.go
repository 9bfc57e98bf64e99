package functions

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	yamlnode "go.yaml.in/yaml/v3"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

func encodingFunctions() map[string]entry {
	return map[string]entry{
		"base64decode":     {simple(cty.String, base64Decode, "string"), "The UTF-8 text that Base64 stands for."},
		"base64encode":     {simple(cty.String, base64Encode, "string"), "The Base64 of the string's UTF-8 bytes."},
		"csvdecode":        {csvDecodeFunction(), "A list of objects of strings, one for each line of a CSV text with a header line. For many rows use a data block."},
		"jsondecode":       {checked(stdlib.JSONDecodeFunc, checkJSON), "The value that a JSON text describes. An amount must be a JSON string; a key that stands twice is an error."},
		"jsonencode":       {stdlib.JSONEncodeFunc, "The value as JSON text."},
		"textdecodebase64": {simple(cty.String, textDecode, "string", "encoding"), "The text that Base64 stands for, in a character encoding by its IANA name."},
		"textencodebase64": {simple(cty.String, textEncode, "string", "encoding"), "The Base64 of a string in a character encoding by its IANA name."},
		"urlencode":        {simple(cty.String, urlEncode, "string"), "The string escaped for the query of a URL."},
		"yamldecode":       {yamlDecodeFunction(), "The value that a YAML text describes, with at most 32 aliases. Quote an amount; a key that stands twice is an error."},
		"yamlencode":       {yaml.YAMLEncodeFunc, "The value as YAML text."},
	}
}

func base64Decode(args []string) (cty.Value, error) {
	raw, err := base64.StdEncoding.DecodeString(args[0])
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(0, "not Base64: %w", err)
	}
	if !utf8.Valid(raw) {
		return cty.NilVal, function.NewArgErrorf(0, "the decoded bytes are not UTF-8 text; textdecodebase64 reads other encodings")
	}
	return cty.StringVal(string(raw)), nil
}

func base64Encode(args []string) (cty.Value, error) {
	return cty.StringVal(base64.StdEncoding.EncodeToString([]byte(args[0]))), nil
}

func urlEncode(args []string) (cty.Value, error) {
	return cty.StringVal(url.QueryEscape(args[0])), nil
}

func textDecode(args []string) (cty.Value, error) {
	from, err := findEncoding(args[1])
	if err != nil {
		return cty.NilVal, err
	}
	raw, err := base64.StdEncoding.DecodeString(args[0])
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(0, "not Base64: %w", err)
	}
	text, err := from.NewDecoder().Bytes(raw)
	// A decoder writes U+FFFD for bytes that mean nothing: a lost character, not a text.
	if err != nil || strings.ContainsRune(string(text), utf8.RuneError) {
		return cty.NilVal, function.NewArgErrorf(0, "the decoded bytes are not text in %s", args[1])
	}
	return cty.StringVal(string(text)), nil
}

func textEncode(args []string) (cty.Value, error) {
	to, err := findEncoding(args[1])
	if err != nil {
		return cty.NilVal, err
	}
	raw, err := to.NewEncoder().Bytes([]byte(args[0]))
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(0, "the text has characters that %s cannot write", args[1])
	}
	return cty.StringVal(base64.StdEncoding.EncodeToString(raw)), nil
}

func findEncoding(name string) (encoding.Encoding, error) {
	found, err := ianaindex.IANA.Encoding(name)
	if err != nil || found == nil {
		return nil, function.NewArgErrorf(1, "%q is not the IANA name of a character encoding that is supported", name)
	}
	return found, nil
}

// csvDecodeFunction ignores the byte-order mark that spreadsheets write first: it would
// become part of the first column's name.
func csvDecodeFunction() function.Function {
	decode := stdlib.CSVDecodeFunc
	return function.New(&function.Spec{
		Params: decode.Params(),
		Type: func(args []cty.Value) (cty.Type, error) {
			return decode.ReturnTypeForValues(withoutMark(args))
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return decode.Call(withoutMark(args))
		},
	})
}

func withoutMark(args []cty.Value) []cty.Value {
	if !args[0].IsKnown() {
		return args
	}
	return []cty.Value{cty.StringVal(strings.TrimPrefix(args[0].AsString(), "\ufeff"))}
}

// checked refuses a text before a decoder with one string parameter sees it.
func checked(decode function.Function, check func(text string) error) function.Function {
	return function.New(&function.Spec{
		Params: decode.Params(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if args[0].IsKnown() {
				if err := check(args[0].AsString()); err != nil {
					return cty.NilType, function.NewArgError(0, err)
				}
			}
			return decode.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return decode.Call(args) },
	})
}

// nestingMax bounds how deep a decoded document may be: the decoders recurse.
const nestingMax = 1000

var errNesting = fmt.Errorf("the document is nested more than %d deep", nestingMax)

// checkJSON refuses a text that the decoder would not survive, or that could not be written out
// again. It is no validation: that is the decoder's.
func checkJSON(text string) error {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > nestingMax {
				return errNesting
			}
		case c == ']' || c == '}':
			depth--
		case (c == 'e' || c == 'E') && i > 0 && '0' <= text[i-1] && text[i-1] <= '9':
			if exponent := strings.TrimLeft(text[i+1:], "+-0"); digits(exponent) > 3 {
				return errors.New("a number has more than a thousand digits")
			}
		}
	}
	return checkKeysOnce(text)
}

// checkKeysOnce refuses a JSON object with a key twice, of which decoders take the last. It leaves
// text that is not JSON to them.
func checkKeysOnce(text string) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	var open []map[string]bool // the keys of each object that is open; nil for an array
	isKey := false
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil
		}
		inObject := len(open) > 0 && open[len(open)-1] != nil
		switch delimiter, isDelimiter := token.(json.Delim); {
		case inObject && isKey && delimiter != '}':
			key, _ := token.(string) // as JSON has it
			if open[len(open)-1][key] {
				return fmt.Errorf("the key %s stands twice in an object", clip(key))
			}
			open[len(open)-1][key], isKey = true, false
			continue
		case isDelimiter && delimiter == '{':
			open, isKey = append(open, map[string]bool{}), true
			continue
		case isDelimiter && delimiter == '[':
			open = append(open, nil)
			continue
		case isDelimiter:
			open = open[:len(open)-1]
		}
		isKey = len(open) > 0 && open[len(open)-1] != nil
	}
}

// checkYAMLKeysOnce refuses a YAML mapping with a key twice, which YAML forbids and of which the decoder
// takes the last. It leaves text that is not YAML to the decoder.
func checkYAMLKeysOnce(text string) error {
	var document yamlnode.Node
	if yamlnode.Unmarshal([]byte(text), &document) != nil {
		return nil
	}
	return checkNodeKeysOnce(&document)
}

func checkNodeKeysOnce(node *yamlnode.Node) error {
	first := map[string]bool{}
	for i, part := range node.Content { // an alias has none
		if node.Kind == yamlnode.MappingNode && i%2 == 0 && part.Kind == yamlnode.ScalarNode {
			if first[part.Value] {
				return fmt.Errorf("the key %s stands twice in a mapping, at line %d", clip(part.Value), part.Line)
			}
			first[part.Value] = true
		}
		if err := checkNodeKeysOnce(part); err != nil {
			return err
		}
	}
	return nil
}

// aliasesMax bounds the aliases of a YAML text: aliases of aliases grow without end.
const aliasesMax = 32

// yamlDecodeFunction bounds what the decoder would do without end.
func yamlDecodeFunction() function.Function {
	alias := regexp.MustCompile(`(?:^|[\s\[{,:-])\*[^\s,\]}]`)
	decode := checked(yaml.YAMLDecodeFunc, func(text string) error {
		if len(alias.FindAllStringIndex(text, aliasesMax+1)) > aliasesMax {
			return fmt.Errorf("the document has more than %d aliases (or words that look like one: *name)", aliasesMax)
		}
		if nestsTooDeep(text) {
			return errNesting
		}
		return checkYAMLKeysOnce(text)
	})
	return function.New(&function.Spec{
		Params: decode.Params(),
		Type:   decode.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			value, err := decode.Call(args)
			if err != nil {
				return cty.NilVal, err
			}
			return value, cty.Walk(value, func(_ cty.Path, part cty.Value) (bool, error) {
				return true, checkWritable(part)
			})
		},
	})
}

func digits(text string) int {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return i
		}
	}
	return len(text)
}
