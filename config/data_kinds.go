package config

import (
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/rows"
)

// dataKind is a type of data: one kind of file.
type dataKind struct {
	name      string
	arguments []string // beside file, key and where
	key       string   // where none is named; "" where one must be
	// format reads the arguments of this kind alone.
	format func(*dataSource, *eval.Reader) rows.Format
}

// dataKinds are the types of data of this version.
func dataKinds() []dataKind {
	return []dataKind{csvKind(), xlsxKind(), jsonKind(), pain001Kind()}
}

// dataTypes are their names.
func dataTypes() []string {
	var names []string
	for _, kind := range dataKinds() {
		names = append(names, kind.name)
	}
	return names
}

func csvKind() dataKind {
	return dataKind{
		name:      "csv",
		arguments: []string{"columns", "delimiter", "encoding", "number_format", "skip_first", "skip_last"},
		format: func(d *dataSource, r *eval.Reader) rows.Format {
			options := rows.CSV{
				Delimiter: delimiterArgument(r), Encoding: r.OneOf("encoding", rows.Encodings()...),
				SkipFirst: r.Whole("skip_first", 0, rows.SkipMax, 0), SkipLast: r.Whole("skip_last", 0, rows.SkipMax, 0),
			}
			d.skipLast = options.SkipLast
			return options
		},
	}
}

// delimiterArgument is the argument of that name, 0 where it is absent. A tab is a control character
// and allowed here.
func delimiterArgument(r *eval.Reader) rune {
	v, a, found := r.Value("delimiter")
	if found != eval.Present {
		return 0
	}
	c, size := utf8.RuneError, 0
	if v.Type() == cty.String {
		c, size = utf8.DecodeRuneInString(v.AsString())
		if size != len(v.AsString()) {
			c = utf8.RuneError
		}
	}
	if c == '"' || c == '\r' || c == '\n' || c == utf8.RuneError || c == 0 {
		r.Refuse(a.Expr.Range(), "Invalid delimiter", "delimiter must be one character, such as \";\" or \"\\t\", and no quotation mark.")
	}
	return c
}

func xlsxKind() dataKind {
	return dataKind{
		name: "xlsx", arguments: []string{"columns", "number_format", "range", "sheet", "skip_first", "skip_last"},
		format: func(d *dataSource, r *eval.Reader) rows.Format {
			var options rows.XLSX
			options.Sheet, _ = r.Text("sheet")
			options.SkipFirst, options.SkipLast = r.Whole("skip_first", 0, rows.SkipMax, 0), r.Whole("skip_last", 0, rows.SkipMax, 0)
			d.skipLast = options.SkipLast
			text, a := r.Text("range")
			ok := text == ""
			if !ok {
				options.Cells, ok = rows.ParseCellRange(text)
			}
			if !ok {
				r.Refuse(a.Expr.Range(), "Invalid range", "range is a part of a sheet such as \"A4:F120\", \"A4:F\" (all rows from 4 on) or \"B:F\", not %q.", text)
			}
			return options
		},
	}
}

func jsonKind() dataKind {
	return dataKind{
		name: "json", arguments: []string{"columns", "number_format", "pointer"},
		format: func(_ *dataSource, r *eval.Reader) rows.Format {
			text, a := r.Text("pointer")
			if text != "" && !jsontext.Pointer(text).IsValid() {
				r.Refuse(a.Expr.Range(), "Invalid pointer", "pointer is a JSON Pointer (RFC 6901) to the array of rows, such as \"/batch/payments\", not %q.", text)
			}
			return rows.JSON{Pointer: jsontext.Pointer(text)}
		},
	}
}

func pain001Kind() dataKind {
	return dataKind{
		name: "pain001", key: "end_to_end_id",
		format: func(*dataSource, *eval.Reader) rows.Format { return rows.Pain001{} },
	}
}

// DataArguments are the arguments that a data block of a type may have.
func DataArguments(kind string) []string {
	arguments := []string{"file", "key", "where", "acknowledge"}
	if i := slices.Index(dataTypes(), kind); i >= 0 {
		arguments = append(arguments, dataKinds()[i].arguments...)
	}
	return arguments
}
