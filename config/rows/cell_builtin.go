package rows

import "slices"

// builtInFormat is a format that a workbook names by number alone (ECMA-376, part 1, 18.8.30).
// Those that languages have for themselves are here where each of them shows as much.
func builtInFormat(id int) string {
	const money, whole = `_($#,##0.00_);_($(#,##0.00)`, `_($#,##0_);_($(#,##0)`
	code, isKnown := map[int]string{
		0: "", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: whole, 6: whole, 7: money, 8: money,
		9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
		14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm",
		30: "m/d/yy", 31: `yyyy"年"m"月"d"日"`, 32: "h:mm", 33: "h:mm:ss",
		37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)",
		41: `_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)`, 42: `_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)`,
		43: `_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)`, 44: `_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)`,
		45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
	}[id]
	if !isKnown {
		return unknownFormat
	}
	return code
}

// isOfReader says whether a code is one of the formats of money that a workbook names by number alone: each language has its own
// currency in them.
func isOfReader(code string) bool {
	return slices.ContainsFunc([]int{5, 7, 42, 44}, func(id int) bool { return builtInFormat(id) == code })
}
