package functions

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// widthMax bounds the width and precision of a format and the spaces of an indent.
const widthMax = 1000

func stringFunctions() map[string]entry {
	return map[string]entry{
		"chomp":       {stdlib.ChompFunc, "The string without the line ends at its end."},
		"endswith":    {test(strings.HasSuffix, "suffix"), "Whether the string ends with the suffix."},
		"format":      {boundedFormat(stdlib.FormatFunc), "A string made from a format such as \"%s-%02d\" and values. An amount is not formatted: write it as a quoted decimal."},
		"formatlist":  {boundedFormat(stdlib.FormatListFunc), "A list of strings made from a format and lists of values."},
		"indent":      {indentFunction(), "The string with so many spaces, at most 1000, before every line but the first."},
		"join":        {stdlib.JoinFunc, "The strings of one or more lists, with a separator between them."},
		"lower":       {stdlib.LowerFunc, "The string in lower case."},
		"regex":       {stdlib.RegexFunc, "The first match of a regular expression (RE2): the whole, or its groups. An error where nothing matches."},
		"regexall":    {stdlib.RegexAllFunc, "The list of all matches of a regular expression (RE2)."},
		"replace":     {simple(cty.String, replace, "string", "substring", "replacement"), "The string with each substring replaced. A substring between slashes is a regular expression."},
		"split":       {stdlib.SplitFunc, "The list of the parts of a string between separators."},
		"startswith":  {test(strings.HasPrefix, "prefix"), "Whether the string begins with the prefix."},
		"strcontains": {test(strings.Contains, "substring"), "Whether the substring is in the string."},
		"strrev":      {stdlib.ReverseFunc, "The characters of the string in reverse order."},
		"substr":      {stdlib.SubstrFunc, "The characters of a string from an offset, as many as the length says; -1 for the rest."},
		"title":       {stdlib.TitleFunc, "The string with the first letter of each word in upper case."},
		"trim":        {stdlib.TrimFunc, "The string without the given characters at its start and end."},
		"trimprefix":  {stdlib.TrimPrefixFunc, "The string without the prefix, where it begins with it."},
		"trimspace":   {stdlib.TrimSpaceFunc, "The string without space at its start and end."},
		"trimsuffix":  {stdlib.TrimSuffixFunc, "The string without the suffix, where it ends with it."},
		"upper":       {stdlib.UpperFunc, "The string in upper case."},
	}
}

func test(holds func(s, part string) bool, part string) function.Function {
	return simple(cty.Bool, func(args []string) (cty.Value, error) {
		return cty.BoolVal(holds(args[0], args[1])), nil
	}, "string", part)
}

func replace(args []string) (cty.Value, error) {
	text, old, replacement := args[0], args[1], args[2]
	if len(old) < 2 || old[0] != '/' || old[len(old)-1] != '/' {
		return cty.StringVal(strings.ReplaceAll(text, old, replacement)), nil
	}
	pattern, err := regexp.Compile(old[1 : len(old)-1])
	if err != nil {
		return cty.NilVal, function.NewArgErrorf(1, "not a regular expression: %w", err)
	}
	return cty.StringVal(pattern.ReplaceAllString(text, replacement)), nil
}

// boundedFormat refuses widths that would fill the memory.
func boundedFormat(format function.Function) function.Function {
	wide := regexp.MustCompile(`%[^A-Za-z%]*[0-9]{4}`)
	return function.New(&function.Spec{
		Params:   format.Params(),
		VarParam: format.VarParam(),
		Type:     format.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			verbs := strings.ReplaceAll(args[0].AsString(), "%%", "")
			if found := wide.FindString(verbs); found != "" {
				return cty.NilVal, function.NewArgErrorf(0, "%q asks for a width, precision or argument of %d or more", found, widthMax)
			}
			return format.Call(args)
		},
	})
}

func indentFunction() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{parameter("spaces", cty.Number), parameter("string", cty.String)},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			spaces, err := whole(args[0], widthMax)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return cty.StringVal(strings.ReplaceAll(args[1].AsString(), "\n", "\n"+strings.Repeat(" ", spaces))), nil
		},
	})
}

// whole returns a number that must be whole, not negative and at most greatest.
func whole(value cty.Value, greatest int) (int, error) {
	number := value.AsBigFloat()
	n, accuracy := number.Int64()
	if accuracy != 0 || n < 0 || n > int64(greatest) {
		return 0, fmt.Errorf("must be a whole number from 0 to %d", greatest)
	}
	return int(n), nil
}
