package rows_test

import (
	"encoding/csv"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"remit/config/rows"
	"remit/internal/proof/suite"
)

// TestWorkbooksReadAsLibreOfficeShowsThem holds every cell of workbooks of many formats, made by
// hand, by openpyxl and by LibreOffice, against what LibreOffice shows of it: it is read as the
// same, or refused.
func TestWorkbooksReadAsLibreOfficeShowsThem(t *testing.T) {
	compareWorkbooks(t, "testdata/workbooks")
}

// TestWorkbooksOfThisMachine makes those workbooks anew with the LibreOffice and openpyxl that are
// installed.
func TestWorkbooksOfThisMachine(t *testing.T) {
	suite.Slow(t)
	_, noOffice := exec.LookPath("soffice")
	if noOffice != nil || exec.Command("/usr/bin/python3", "-c", "import openpyxl").Run() != nil {
		t.Skip("it needs LibreOffice and openpyxl: apt-get install --no-install-recommends libreoffice-calc python3-openpyxl")
	}
	dir := t.TempDir()
	if out, err := exec.Command("/usr/bin/python3", "testdata/workbooks/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("make.py: %v\n%s", err, out)
	}
	compareWorkbooks(t, dir)
}

func compareWorkbooks(t *testing.T, dir string) {
	t.Helper()
	books, err := filepath.Glob(filepath.Join(dir, "*.xlsx"))
	if err != nil || len(books) < 8 {
		t.Fatalf("%d workbooks in %s, %v", len(books), dir, err)
	}
	for _, book := range books {
		name := strings.TrimSuffix(filepath.Base(book), ".xlsx")
		content, err := os.ReadFile(book)
		if err != nil {
			t.Fatal(err)
		}
		sheets, err := rows.WorkbookSheets(content)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, sheet := range sheets {
			t.Run(name+" "+sheet, func(t *testing.T) { compareSheet(t, content, sheet, filepath.Join(dir, name+"-"+sheet+".csv")) })
		}
	}
}

// compareSheet compares a sheet with its text on the screen. A fifth of its cells must be read: a
// reader that refuses all of them shows nothing wrong either.
func compareSheet(t *testing.T, content []byte, sheet, shownFile string) {
	t.Helper()
	file, err := os.Open(shownFile)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	shown, err := reader.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cells, err := rows.SheetCells(content, sheet)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, at := range slices.SortedFunc(maps.Keys(cells), func(a, b [2]int) int { return (a[0]-b[0])*1000 + a[1] - b[1] }) {
		cell := cells[at]
		if cell.Wrong != "" {
			continue
		}
		read++
		shows := ""
		if at[0] <= len(shown) && at[1] <= len(shown[at[0]-1]) {
			shows = shown[at[0]-1][at[1]-1]
		}
		if !isSame(cell.Text, shows) {
			t.Errorf("row %d, column %d (%s): %q is read, and LibreOffice shows %q", at[0], at[1], shown[at[0]-1][0], cell.Text, shows)
		}
	}
	if read*5 < len(cells) {
		t.Errorf("%d of %d cells are read", read, len(cells))
	}
}

var (
	dateRead    = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2}))?$`)
	timeRead    = regexp.MustCompile(`^(\d{2,}):(\d{2}):(\d{2})$`)
	shownDigits = regexp.MustCompile(`\d+`)
	// shownAmount is a number with the text that may surround it, and nothing that makes it another.
	shownAmount = regexp.MustCompile(`^([^\d]*?)(\d[\d,. ’']*|\.\d+)(%?)([^\d%].*)?$`)
	monthNames  = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
)

// isSame says whether a person who sees one text would take it for the other. It is written apart
// from what it tests, and knows the formats of the workbooks.
func isSame(read, shows string) bool {
	shows = strings.TrimSpace(shows)
	if read == shows {
		return true
	}
	if m := dateRead.FindStringSubmatch(read); m != nil {
		return hasAll(shows, m[1][2:], m[3]) && (hasAll(shows, m[2]) || strings.Contains(strings.ReplaceAll(strings.ToLower(shows), "mai", "may"), monthNames[atoi(m[2])-1])) &&
			(m[4] == "" || isTime(m[4:], shows))
	}
	if m := timeRead.FindStringSubmatch(read); m != nil {
		return isTime(m[1:], shows)
	}
	shows = strings.NewReplacer("Rs.", "", "Nov 2026: ", "", "(Nov 2026)", "").Replace(shows)
	want, err := decimal.NewFromString(read)
	if err != nil {
		return false
	}
	if want.IsZero() && !strings.ContainsAny(shows, "123456789") && strings.Contains(shows, "-") {
		return true
	}
	m := shownAmount.FindStringSubmatch(shows)
	if m == nil {
		return false
	}
	digits := strings.TrimSpace(m[2])
	if comma, point := strings.LastIndex(digits, ","), strings.LastIndex(digits, "."); comma > point && point >= 0 || comma >= 0 && len(digits)-comma <= 3 || strings.Count(digits, ".") > 1 {
		digits = strings.NewReplacer(".", "", ",", ".").Replace(digits) // as in German
	}
	got, err := decimal.NewFromString(strings.NewReplacer(",", "", " ", "", "'", "", "’", "").Replace(digits))
	if err != nil {
		return false
	}
	if m[3] == "%" {
		got = got.Shift(-2)
	}
	if strings.Contains(m[1], "-") || strings.Contains(m[1], "(") && !strings.Contains(m[1], ")") {
		got = got.Neg()
	}
	return got.Equal(want)
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// hasAll says whether numbers stand in a text, whatever zeros stand before them; a year may have
// four digits there.
func hasAll(text string, numbers ...string) bool {
	return !slices.ContainsFunc(numbers, func(number string) bool {
		return !slices.ContainsFunc(shownDigits.FindAllString(text, -1), func(d string) bool {
			return atoi(d) == atoi(number) || len(d) == 4 && atoi(d)%100 == atoi(number) || len(d) == 8 && strings.Contains(d, number)
		})
	})
}

// isTime says whether hours, minutes and seconds show, but for those that are zero.
func isTime(parts []string, shows string) bool {
	hour := atoi(parts[0])
	if strings.Contains(strings.ToLower(shows), "pm") && hour > 12 || strings.Contains(shows, " p") && hour > 12 {
		hour -= 12
	}
	if hour == 0 && strings.Contains(strings.ToLower(shows), "am") {
		hour = 12
	}
	return hasAll(shows, strconv.Itoa(hour)) && (atoi(parts[1]) == 0 || hasAll(shows, parts[1])) && (atoi(parts[2]) == 0 || hasAll(shows, parts[2]))
}
