package cli_test

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pageMax is how many bytes a page may have: what somebody reads in one go.
const pageMax = 20 << 10

// readPages is the pages of one directory of docs as one document, the index first. The name of a
// page has its headings below it.
func readPages(t *testing.T, dir string) document {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", "docs", dir, "*.md"))
	if err != nil || len(names) == 0 {
		t.Fatalf("docs/%s has no page: %v", dir, err)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, "README.md"), strings.TrimSuffix(b, "README.md"))
	})
	all := document{sections: map[string]string{}, under: map[string][]string{}}
	for _, name := range names {
		page := readDocument(t, filepath.Join(dir, filepath.Base(name)))
		all.text += page.text
		for _, heading := range page.headings {
			if _, twice := all.sections[heading]; twice {
				t.Errorf("two pages of docs/%s have the heading %q", dir, heading)
			}
		}
		maps.Copy(all.sections, page.sections)
		all.headings = append(all.headings, page.headings...)
		all.under[filepath.Base(name)] = page.headings
	}
	return all
}

// pageOf names the page of a directory, and its heading, in a message.
func (d document) pageOf(dir, heading string) string {
	for name, headings := range d.under {
		if slices.Contains(headings, heading) {
			return dir + "/" + name + ", below " + heading + ","
		}
	}
	return dir + " has no heading " + heading + ", and"
}

// markdown are the pages of docs by their paths below it, and README.md and CHANGELOG.md above it.
func markdown(t *testing.T) map[string]document {
	t.Helper()
	docs := filepath.Join("..", "..", "docs")
	pages := map[string]document{"../README.md": readDocument(t, "../README.md")}
	err := filepath.WalkDir(docs, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(file) != ".md" {
			return err
		}
		name, err := filepath.Rel(docs, file)
		pages[filepath.ToSlash(name)] = readDocument(t, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestDocsSizes holds pages to a size that somebody reads, and README.md to one of a minute.
func TestDocsSizes(t *testing.T) {
	for name, page := range markdown(t) {
		if len(page.text) > pageMax {
			t.Errorf("%s has %d bytes, and a page has at most %d", name, len(page.text), pageMax)
		}
		if lines := strings.Count(page.text, "\n"); name == "../README.md" && lines >= 150 {
			t.Errorf("README.md has %d lines, and must have fewer than 150", lines)
		}
	}
}

// TestDocsReached holds that every page is reached from the index in two steps.
func TestDocsReached(t *testing.T) {
	pages := markdown(t)
	reached := map[string]bool{"README.md": true}
	for range 2 {
		for name := range maps.Clone(reached) {
			for _, to := range links(pages[name].text) {
				if target, _, _ := strings.Cut(to, "#"); target != "" {
					reached[path.Join(path.Dir(name), target)] = true
				}
			}
		}
	}
	for name := range pages {
		if !reached[name] && !strings.HasPrefix(name, "..") {
			t.Errorf("docs/README.md leads to %s in no two steps", name)
		}
	}
}

// TestDocsLinks holds the links of the pages: the file is there, and so is the heading.
func TestDocsLinks(t *testing.T) {
	pages := markdown(t)
	for name, page := range pages {
		for _, link := range links(page.text) {
			file, fragment, _ := strings.Cut(link, "#")
			to := name
			if file != "" {
				to = strings.TrimPrefix(path.Join(path.Dir(name), file), "../docs/")
			}
			if _, err := os.Stat(filepath.Join("..", "..", "docs", to)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, link)
				continue
			}
			if fragment == "" {
				continue
			}
			if !slices.ContainsFunc(pages[to].headings, func(h string) bool { return anchor(h) == fragment }) {
				t.Errorf("%s links to %s, and no heading of that page is so", name, link)
			}
		}
	}
}

// links are the targets of the links and pictures of a page that lead to files of the repository.
func links(text string) []string {
	var list []string
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	text = regexp.MustCompile("`[^`\n]*`").ReplaceAllStringFunc(text, func(code string) string { return strings.Trim(code, "`()[]") })
	for _, m := range regexp.MustCompile(`\]\(([^)\s]+)\)`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "://") {
			list = append(list, m[1])
		}
	}
	return list
}

// anchor is what a link to a heading is made of, as GitHub makes it.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// TestDocsOpen holds that each page of the language and of the commands opens with an example, and
// that a script runs those of the commands.
func TestDocsOpen(t *testing.T) {
	script := readFile(t, "../../testdata/script/docs-commands.txtar")
	for name, page := range markdown(t) {
		dir := path.Dir(name)
		if dir != "language" && dir != "commands" || path.Base(name) == "README.md" {
			continue
		}
		opening := page.sections[page.headings[0]]
		before, _, shown := strings.Cut(opening, "\n```")
		if !shown || strings.Contains(before, "\n|") {
			t.Errorf("%s does not open with an example", name)
		}
		if dir == "commands" && !strings.Contains(script, "\npage "+name+"\n") {
			t.Errorf("no script runs what %s shows", name)
		}
	}
}

// TestDocsCells holds the tables of pages to cells that are read at one glance.
func TestDocsCells(t *testing.T) {
	const most = 25 // words
	for name, page := range markdown(t) {
		for _, heading := range page.headings {
			for _, row := range tableRows(page.sections[heading]) {
				for _, cell := range row {
					if words := len(strings.Fields(cell)); words > most {
						t.Errorf("%s, %q: a cell of %d words, and one has at most %d: %s", name, heading, words, most, cell)
					}
				}
			}
		}
	}
}
