package config_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/files/confined"
	"remit/internal/proof/suite"
)

// remembered is a directory that is checked after each edit, with a memory and without one.
type remembered struct {
	dir    string
	texts  map[string]string
	memory *config.Memory
}

// rememberedBlocks are as many literal blocks as a file has that is read in parts.
const rememberedBlocks = 160

// rememberedTexts are those of a directory that has all on which a transfer may hang.
func rememberedTexts() map[string]string {
	var blocks, rows strings.Builder
	for i := range rememberedBlocks {
		extra := []string{"", "  batch = batch.rent\n", "  ref_id = \"${var.period}-rent-" + fmt.Sprint(i) + "\"\n", "  depends_on = [transfer.internal.rent-0]\n", "  window = window.office\n  display_name = \"Owner\"\n"}[i%5]
		fmt.Fprintf(&blocks, "# block %d\ntransfer \"internal\" \"rent-%d\" {\n%s  from = profile.treasury\n  to_profile_id = \"00000000-0000-4000-8000-%012d\"\n  amount = \"%d.50\"\n  asset = \"USD\"\n  metadata = {\n    note = local.note\n    house = \"number %d of the street\"\n  }\n}\n\n", i, i, extra, i, i+1, i)
	}
	rows.WriteString("id,profile,net,asset,batch\n")
	for i := range 30 {
		fmt.Fprintf(&rows, "E-%d,10000000-0000-4000-8000-%012d,%d.25,EUR,pay\n", i, i, i+1)
	}
	return map[string]string{
		"blocks.hcl": blocks.String(),
		"staff.csv":  rows.String(),
		"note.txt":   "thanks",
		"days.txt":   "2026-12-24\n",
		"main.hcl": `remit {
  include = ["book"]
}

variable "period" {
  type = string
}

locals {
  note   = file("note.txt")
  prefix = "payroll"
  other  = "EUR"
}

profile "treasury" {
  profile_id = "20000000-0000-4000-8000-000000000001"
}

calendar "bank" {
  file = "days.txt"
}

window "office" {
  calendar = calendar.bank
  from     = "08:00"
  to       = "18:00"
}

batch "rent" {
  not_before = "2026-11-27T09:00:00Z"
}

batch "pay" {
  duplicate_within = "10d"
}

batch "bonus" {
  expires = "2027-11-27T09:00:00Z"
}

data "csv" "staff" {
  file  = "staff.csv"
  key   = "id"
  where = row.net != local.other
}

transfer "internal" "pay" {
  for_each      = data.csv.staff.rows
  batch         = batch[each.value.batch]
  ref_id        = "${local.prefix}-${each.key}"
  from          = profile.bank
  to_profile_id = each.value.profile
  amount        = each.value.net
  asset         = each.value.asset
}

transfer "internal" "bonus" {
  for_each      = data.csv.staff.rows
  batch         = batch.bonus
  ref_id        = "bonus-${var.period}-${each.key}"
  from          = profile.treasury
  to_profile_id = each.value.profile
  amount        = "1.00"
  asset         = local.other
  display_name  = "Staff"
  precondition {
    condition     = each.value.net != "0.00"
    error_message = "Nobody gets nothing."
  }
}
`,
		"book/book.hcl":      "profile \"bank\" {\n  profile_id = \"30000000-0000-4000-8000-000000000001\"\n}\n",
		"remit.auto.hclvars": "period = \"2026-11\"\n",
	}
}

// swaps are edits that leave most of the language whole: a text, and what is written in its place.
var swaps = [][3]string{
	{"remit.auto.hclvars", `2026-11`, `2026-12`},
	{"remit.auto.hclvars", `period`, `perio`},
	{"note.txt", `thanks`, `regards`},
	{"note.txt", `thanks`, ``},
	{"days.txt", `2026-12-24`, `2026-12-31`},
	{"days.txt", `24`, `44`},
	{"book/book.hcl", `3000`, `4000`},
	{"book/book.hcl", `bank`, `banque`},
	{"book/book.hcl", `profile "bank"`, "profile \"owner\" {\n  profile_id = \"x\"\n}\nprofile \"bank\""},
	{"main.hcl", `profile "treasury"`, "profile \"staff\" {\n  profile_id = \"x\"\n}\nprofile \"treasury\""},
	{"main.hcl", `type = string`, "type = string\n  sensitive = true"},
	{"main.hcl", `prefix = "payroll"`, `prefix = "2026-11-rent"`},
	{"main.hcl", `prefix = "payroll"`, `prefix = var.period`},
	{"main.hcl", `other  = "EUR"`, `other  = "eur"`},
	{"main.hcl", `other  = "EUR"`, `other  = "XYZ"`},
	{"main.hcl", `other  = "EUR"`, `other  = file("note.txt")`},
	{"main.hcl", `2000`, `5000`},
	{"main.hcl", `treasury`, `treasure`},
	{"main.hcl", `file("note.txt")`, `"a text"`},
	{"main.hcl", `file("note.txt")`, `sensitive("a text")`},
	{"main.hcl", `2026-11-27T09:00:00Z`, `2026-11-28T09:00:00Z`},
	{"main.hcl", `not_before = "2026`, "depends_on = [transfer.internal.rent-1]\n  not_before = \"2026"},
	{"main.hcl", `batch.bonus`, `{ name = "bonus" }`},
	{"main.hcl", `"10d"`, `"0"`},
	{"main.hcl", `2027-11`, `2025-11`},
	{"main.hcl", `"18:00"`, `"19:00"`},
	{"main.hcl", `row.net != local.other`, `row.net != "1.25"`},
	{"main.hcl", `row.net != local.other`, `row.id == ""`},
	{"main.hcl", `key   = "id"`, `key   = "profile"`},
	{"main.hcl", `each.value.net`, `each.value.nett`},
	{"main.hcl", `"bonus-${var.period}-${each.key}"`, `"payroll-${each.key}"`},
	{"main.hcl", `batch.bonus`, `batch.rent`},
	{"main.hcl", `data "csv" "staff" {`, "service {\n  base_url = \"https://api.example.com\"\n  fingerprint_key = \"note\"\n}\n\ndata \"csv\" \"staff\" {"},
	{"main.hcl", `locals {`, "asset \"USD\" {\n  scale = 0\n}\n\nlocals {"},
	{"main.hcl", `locals {`, "\n\nlocals {"},
	{"main.hcl", `profile "treasury"`, "transfer \"internal\" \"rent-7\" {}\n\nprofile \"treasury\""},
	{"main.hcl", `!= "0.00"`, `!= "3.25"`},
	{"staff.csv", `10.25`, `10.255`},
	{"staff.csv", `E-7,`, `E-8,`},
	{"staff.csv", `E-7,`, `,`},
	{"staff.csv", `EUR`, `eur`},
	{"staff.csv", `EUR`, `XYZ`},
	{"staff.csv", `E-9,1`, `E-9,x`},
	{"staff.csv", `,pay`, `,rent`},
	{"staff.csv", `E-3,`, "E-3x,20000000-0000-4000-8000-000000000001,3.00,EUR,pay\nE-3,"},
	{"staff.csv", `net`, `nett`},
	{"staff.csv", `E-5,`, `E-5,"`},
	{"staff.csv", `E-6,`, "\n\nE-6,"},
	{"blocks.hcl", `"USD"`, `"usd"`},
	{"blocks.hcl", `"USD"`, `"eur"`},
	{"blocks.hcl", "# block 20\n", "locals {\n  a =\n}\nlocals {\n  b =\n}\n"},
	{"blocks.hcl", `"USD"`, `"ZZZ"`},
	{"blocks.hcl", `"USD"`, `"EUR"`},
	{"blocks.hcl", `.50"`, `.505"`},
	{"blocks.hcl", `"internal" "rent-`, `"internal" "rent-1`},
	{"blocks.hcl", `batch.rent`, `batch.bonus`},
	{"blocks.hcl", `batch.rent`, `batch.rented`},
	{"blocks.hcl", `batch = batch.rent`, `ref_id = "payroll-E-4"`},
	{"blocks.hcl", `from = profile.treasury`, `from = profile.bank`},
	{"blocks.hcl", `local.note`, `local.prefix`},
	{"blocks.hcl", `local.note`, `file("note.txt")`},
	{"blocks.hcl", `to_profile_id = "0000`, `to_profile_id = "x000`},
	{"blocks.hcl", "# block", "\n# block"},
	{"blocks.hcl", `  from = `, "  window = window.office\n  from = "},
	{"blocks.hcl", `  from = `, "  from =\n"},
	{"blocks.hcl", `transfer "internal"`, `transfer "platform"`},
	{"blocks.hcl", `house = `, `house = upper("x") == "X" ? "y" : `},
	{"blocks.hcl", "}\n\n", "\n\n"},
	{"blocks.hcl", `  amount = "`, `  amount = ""`},
	{"blocks.hcl", "\n\n", "\nprofile \"more\" {\n  profile_id = \"x\"\n}\n"},
	{"blocks.hcl", "transfer", "batch \"bonus\" {}\ntransfer"},
}

// oneEdit is an edit that was drawn: a swap at one of the places of its text, or some bytes in the place of others.
type oneEdit struct {
	swap, at   int
	back, undo bool // the swap is made backwards; the file is as it was in the beginning
	raw        bool
	file       string
	from, size int
	text       string
}

var edits = rapid.Custom(func(r *rapid.T) oneEdit {
	e := oneEdit{swap: rapid.IntRange(0, len(swaps)-1).Draw(r, "swap"), at: rapid.IntRange(0, rememberedBlocks).Draw(r, "at")}
	switch rapid.IntRange(0, 9).Draw(r, "kind") {
	case 0:
		e.raw, e.file = true, rapid.SampledFrom([]string{"main.hcl", "blocks.hcl", "blocks.hcl", "staff.csv"}).Draw(r, "file")
		e.from, e.size = rapid.IntRange(0, 60_000).Draw(r, "from"), rapid.IntRange(0, 12).Draw(r, "size")
		e.text = rapid.SampledFrom([]string{"", "", "\"", "{", "}", "\n", "x", ",", "${", "/*", "#", "0", "é", " "}).Draw(r, "text")
	case 1, 2, 3:
		e.back = true
	case 4, 5:
		e.undo = true
	}
	return e
})

// apply makes the edit.
func (e oneEdit) apply(texts map[string]string) {
	if e.raw {
		text := texts[e.file]
		from := e.from % (len(text) + 1)
		to := min(from+e.size, len(text))
		if changed := text[:from] + e.text + text[to:]; utf8.ValidString(changed) {
			texts[e.file] = changed
		}
		return
	}
	file, old, other := swaps[e.swap][0], swaps[e.swap][1], swaps[e.swap][2]
	if e.undo {
		texts[file] = rememberedTexts()[file]
		return
	}
	if e.back {
		old, other = other, old
	}
	if old == "" {
		return
	}
	n := strings.Count(texts[file], old)
	if n == 0 {
		return
	}
	at := -1
	for range e.at%n + 1 {
		at += 1 + strings.Index(texts[file][at+1:], old)
	}
	texts[file] = texts[file][:at] + other + texts[file][at+len(old):]
}

func newRemembered(t *testing.T) *remembered {
	r := &remembered{dir: t.TempDir(), texts: rememberedTexts(), memory: config.NewMemory()}
	for name, text := range r.texts {
		path := filepath.Join(r.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// found is what a check finds: its diagnostics with the lines into which they point, and what the transfers come to.
type found struct {
	Diagnostics []string
	Facts       map[string]string
}

// check checks the texts, with the memory or with none.
func (r *remembered) check(t testing.TB, memory *config.Memory) found {
	unsaved := map[string][]byte{}
	for name, text := range r.texts {
		unsaved[filepath.Join(r.dir, filepath.FromSlash(name))] = []byte(text)
	}
	loaded, diags := config.Load(r.dir, config.Options{Unsaved: confined.NewUnsaved(unsaved), Memory: memory})
	defer config.Close(loaded)
	var all mistake.Set
	all.Add(diags)
	var of found
	switch {
	case diags.HasErrors():
	case memory != nil:
		of.Facts = factsOf(config.Facts(t.Context(), loaded, &all))
	default:
		facts := map[string]*config.BlockFacts{}
		for transfer, more := range loaded.Transfers(t.Context()) {
			all.Add(more)
			if len(more) == 0 {
				if facts[transfer.Block] == nil {
					facts[transfer.Block] = &config.BlockFacts{First: strings.Clone(transfer.Request.RefID)}
				}
				facts[transfer.Block].Totals.Add(transfer.Request.Asset, transfer.Request.Amount)
				config.NoteDue(facts[transfer.Block], transfer.NotBefore)
			}
		}
		of.Facts = factsOf(facts)
	}
	files := loaded.Files()
	for _, d := range all.Diagnostics() {
		text := fmt.Sprintf("%d %s\n%s", d.Severity, d.Summary, d.Detail)
		if d.Subject != nil {
			line := ""
			if f := files[d.Subject.Filename]; f != nil && d.Subject.Start.Byte <= len(f.Bytes) {
				line, _, _ = strings.Cut(string(f.Bytes[d.Subject.Start.Byte:]), "\n")
			}
			text += fmt.Sprintf("\nat %#v %s", *d.Subject, line)
		}
		of.Diagnostics = append(of.Diagnostics, text)
	}
	return of
}

func factsOf(all map[string]*config.BlockFacts) map[string]string {
	texts := map[string]string{}
	for address, f := range all {
		texts[address] = f.First
		for total := range f.Totals.All() {
			texts[address] += fmt.Sprintf(" %d %s %s", total.Count, total.Asset, total.Sum)
		}
		texts[address] += " " + fmt.Sprint(config.Dues(f))
	}
	return texts
}

// differs is how a check with the memory differs from a fresh one; "" where it does not.
func (r *remembered) differs(t testing.TB) string {
	return cmp.Diff(r.check(t, nil), r.check(t, r.memory))
}

// TestACheckWithAMemoryFindsWhatAFreshOneFinds makes random edits of all that a transfer hangs on.
func TestACheckWithAMemoryFindsWhatAFreshOneFinds(t *testing.T) {
	r := newRemembered(t)
	var recalled int
	suite.CheckSome(t, suite.Dose(5, 20, 300), func(rt *rapid.T) {
		r.texts, r.memory = rememberedTexts(), config.NewMemory()
		if diff := r.differs(t); diff != "" {
			rt.Fatalf("a first check: %s", diff)
		}
		for i, e := range rapid.SliceOfN(edits, 1, 12).Draw(rt, "edits") {
			e.apply(r.texts)
			if diff := r.differs(t); diff != "" {
				rt.Fatalf("after edit %d, a fresh check (-) and one with a memory (+) differ:\n%s", i+1, diff)
			}
			recalled += config.Recalled(r.memory)
		}
	})
	if recalled == 0 {
		t.Error("nothing was ever recalled")
	}
}

// likely are swaps that showed a spoiled memory when this was written: the first ones that are tried.
var likely = map[string]int{
	"the file": 37, "the text of rows": 36, "the text of data": 28, "values of rows": 11, "ref_ids of rows": 30, "assets of rows": 49,
	"places of blocks": 21, "batch of blocks": 21, "what is common": 32, "pieces": 50,
}

// TestASpoiledMemoryIsNoticed holds the comparison itself: of a memory that keeps too little, some edit shows another diagnostic.
func TestASpoiledMemoryIsNoticed(t *testing.T) {
	suite.Slow(t)
	r := newRemembered(t)
	fresh := map[int]found{} // by the number of the swap
	shows := func(t *testing.T, how string, i int) bool {
		r.texts, r.memory = rememberedTexts(), config.NewMemory()
		r.check(t, r.memory)
		oneEdit{swap: i, at: i}.apply(r.texts)
		if _, ok := fresh[i]; !ok {
			fresh[i] = r.check(t, nil)
		}
		config.Spoil(r.memory, how, r.texts)
		return !cmp.Equal(fresh[i], r.check(t, r.memory))
	}
	for _, how := range config.Spoils() {
		t.Run(how, func(t *testing.T) {
			if shows(t, how, likely[how]) {
				return
			}
			for i := range swaps {
				if shows(t, how, i) {
					return
				}
			}
			t.Error("no edit showed it")
		})
	}
}

// TestAnEditOfOneBlockReadsItAlone says what is recalled after an edit that touches one literal block.
func TestAnEditOfOneBlockReadsItAlone(t *testing.T) {
	r := newRemembered(t)
	r.check(t, r.memory)
	kept := config.Kept(r.memory)
	want := rememberedBlocks*4/5 + 1 // those with depends_on are read anew, and the rows of one block name a batch that hangs on a file
	if kept < want {
		t.Errorf("%d of %d blocks are kept, and not %d: %v", kept, rememberedBlocks+2, want, slices.Sorted(maps.Keys(r.check(t, nil).Facts)))
	}
	r.texts["blocks.hcl"] = "\n" + strings.Replace(r.texts["blocks.hcl"], `"1.50"`, `"1.75"`, 1)
	if diff := r.differs(t); diff != "" {
		t.Fatal(diff)
	}
	if got := config.Recalled(r.memory); got != kept-1 {
		t.Errorf("%d blocks were recalled, and not %d", got, kept-1)
	}
}

// TestANewProfileIsComparedWithKeptNames says that what is kept of rows and blocks hangs on the names of all profiles.
func TestANewProfileIsComparedWithKeptNames(t *testing.T) {
	for _, name := range []string{"Owner", "Staff"} {
		r := newRemembered(t)
		r.check(t, r.memory)
		r.texts["main.hcl"] += "profile \"" + strings.ToLower(name) + "\" {\n  profile_id = \"x\"\n}\n"
		if diff := r.differs(t); diff != "" {
			t.Error(diff)
		}
		if found := strings.Join(r.check(t, nil).Diagnostics, "\n"); !strings.Contains(found, "display_name \""+name) {
			t.Errorf("nobody says that %s is another's name: %s", name, found)
		}
	}
}

// TestAMemoryIsForChecksAlone says that nobody gets transfers of which a memory may leave some out.
func TestAMemoryIsForChecksAlone(t *testing.T) {
	r := newRemembered(t)
	loaded, diags := config.Load(r.dir, config.Options{Memory: r.memory})
	defer config.Close(loaded)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	defer func() {
		if recover() == nil {
			t.Error("transfers were given")
		}
	}()
	loaded.Transfers(t.Context())
}
