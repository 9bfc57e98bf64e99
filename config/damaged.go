package config

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"remit/internal/text/lazyregexp"
)

// formulaErrors are what a spreadsheet saves in the place of a value that a formula could not compute, in English,
// German, French and Spanish.
var formulaErrors = []string{
	"#N/A", "#NV", "#REF!", "#BEZUG!", "#VALUE!", "#WERT!", "#VALEUR!", "#¡VALOR!", "#¡REF!", "#NAME?", "#NOM?", "#¿NOMBRE?",
	"#DIV/0!", "#¡DIV/0!", "#NULL!", "#NUL!", "#NUM!", "#NOMBRE!", "#ZAHL!", "#SPILL!", "#ÜBERLAUF!", "#CALC!", "#GETTING_DATA",
}

var (
	narrowColumn = lazyregexp.New(`###+`)
	markedAsText = lazyregexp.New(`(?:^|[^0-9A-Za-z'])'[0-9A-Za-z]`)
	truthValues  = map[string]bool{"TRUE": true, "FALSE": true, "WAHR": true, "FALSCH": true, "VRAI": true, "FAUX": true}

	// referenceAsText finds a reference of a row anywhere, and one of a variable or a local where a template has its signs,
	// or where it is all of the text: a ref_id may have "local." in it.
	referenceAsText = lazyregexp.New(`\b(each\.(?:key|value(?:\.[\w-]+|\["[^"]*"\])))|(?:\$|\{) ?((?:var|local)\.[A-Za-z_][\w-]*)|^((?:var|local)\.[A-Za-z_][\w-]*)$`)
)

// notExported says what a spreadsheet left in a text in the place of a value, and how the value is exported; both are
// "" for a text that has nothing of the kind. Whole is whether the text is a cell, and has nothing around it.
func notExported(text string, whole bool) (what, remedy string) {
	if !strings.Contains(text, "#") {
		return "", ""
	}
	for _, word := range formulaErrors {
		if text == word || !whole && strings.Contains(text, word) {
			return "the error of a formula of a spreadsheet", "Mend the formula there, and export the file anew."
		}
	}
	if found := narrowColumn.FindString(text); found != "" && (found == text || !whole) {
		return "what a spreadsheet shows where a column is too narrow", "Make the column wider there, and export the file anew."
	}
	return "", ""
}

// isMarkedAsText reports whether a text has the apostrophe that marks text in a cell of a spreadsheet.
func isMarkedAsText(text string) bool {
	return strings.Contains(text, "'") && strings.Count(text, "'") == 1 && markedAsText.MatchString(text)
}

// writtenReference shows the reference that a text has in its letters, as a template writes it; "" where there is none.
func writtenReference(text string) string {
	if strings.IndexByte(text, '.') < 0 || !strings.Contains(text, "each.") && !strings.Contains(text, "var.") && !strings.Contains(text, "local.") {
		return ""
	}
	if found := referenceAsText.FindStringSubmatch(text); found != nil {
		return found[1] + found[2] + found[3] // of which one was found
	}
	return ""
}

// damagedAmount says what an amount is that no digits of it can be mended in; "" for any other one.
func damagedAmount(text string, isOfColumn bool) string {
	if what, remedy := notExported(text, true); what != "" {
		return fmt.Sprintf("amount %q is %s. %s", text, what, remedy)
	}
	if reference := writtenReference(text); reference != "" && !isOfColumn {
		return fmt.Sprintf("amount %q is the name of a value in quotation marks. Write it without them:\n\n  amount = %s", text, reference)
	}
	if uuid.Validate(text) == nil {
		return fmt.Sprintf("amount %q is an ID, and no decimal. Name the column that has the amounts: it may have changed places with another.", text)
	}
	if !isOfColumn {
		return ""
	}
	switch {
	case truthValues[strings.ToUpper(text)]:
		return fmt.Sprintf("amount %q says yes or no, and is no number. Correct it in the file, or name the column that has the amounts.", text)
	case strings.HasPrefix(text, "'") && strings.Count(text, "'") == 1:
		return fmt.Sprintf("amount %q begins with an apostrophe, which marks text in a spreadsheet. Format the column as a number there, and export the file anew.", text)
	}
	return ""
}
