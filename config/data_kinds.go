package config

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/zclconf/go-cty/cty"

	"remit/config/rows"
)

// dataKind is a type of data: one kind of file.
type dataKind struct {
	name      string
	arguments []string // beside file, key and where
	key       string   // where none is named; "" where one must be
	// format reads the arguments of this kind alone.
	format func(*dataSource, *reader) rows.Format
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
		format: func(d *dataSource, r *reader) rows.Format {
			options := rows.CSV{
				Delimiter: r.delimiter(), Encoding: r.oneOf("encoding", rows.Encodings()...),
				SkipFirst: r.whole("skip_first", 0, rows.SkipMax, 0), SkipLast: r.whole("skip_last", 0, rows.SkipMax, 0),
			}
			d.skipLast = options.SkipLast
			return options
		},
	}
}

// delimiter is the argument of that name, 0 where it is absent. A tab is a control character
// and allowed here.
func (r *reader) delimiter() rune {
	v, a, found := r.value("delimiter")
	if found != present {
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
		r.refuse(a.expr.Range(), "Invalid delimiter", "delimiter must be one character, such as \";\" or \"\\t\", and no quotation mark.")
	}
	return c
}

func xlsxKind() dataKind {
	return dataKind{
		name: "xlsx", arguments: []string{"columns", "number_format", "range", "sheet", "skip_first", "skip_last"},
		format: func(d *dataSource, r *reader) rows.Format {
			var options rows.XLSX
			options.Sheet, _ = r.text("sheet")
			options.SkipFirst, options.SkipLast = r.whole("skip_first", 0, rows.SkipMax, 0), r.whole("skip_last", 0, rows.SkipMax, 0)
			d.skipLast = options.SkipLast
			text, a := r.text("range")
			ok := text == ""
			if !ok {
				options.Cells, ok = rows.ParseCellRange(text)
			}
			if !ok {
				r.refuse(a.expr.Range(), "Invalid range", "range is a part of a sheet such as \"A4:F120\", \"A4:F\" (all rows from 4 on) or \"B:F\", not %q.", text)
			}
			return options
		},
	}
}

func jsonKind() dataKind {
	return dataKind{
		name: "json", arguments: []string{"columns", "number_format", "pointer"},
		format: func(_ *dataSource, r *reader) rows.Format {
			text, a := r.text("pointer")
			if text != "" && !jsontext.Pointer(text).IsValid() {
				r.refuse(a.expr.Range(), "Invalid pointer", "pointer is a JSON Pointer (RFC 6901) to the array of rows, such as \"/batch/payments\", not %q.", text)
			}
			return rows.JSON{Pointer: jsontext.Pointer(text)}
		},
	}
}

func pain001Kind() dataKind {
	return dataKind{
		name: "pain001", key: "end_to_end_id",
		format: func(*dataSource, *reader) rows.Format { return rows.Pain001{} },
	}
}
