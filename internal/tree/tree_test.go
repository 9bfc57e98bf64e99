package tree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
	"remit/internal/tree"
)

const pays = "transfer \"internal\" \"rent\" {\n}\n"

func isLock(name string) bool { return name == ".remit.lock.hcl" }

// newTree makes files below a directory; a text of "->NAME" makes a link to NAME.
func newTree(t *testing.T, files map[string]string) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range files {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if to, isLink := strings.CutPrefix(text, "->"); isLink {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func TestFind(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  tree.Found
	}{
		"a block of its own makes a configuration": {
			map[string]string{
				"a/x.hcl": pays, "b/x.hcl": `remit {}`, "c/x.hcl": "state \"sqlite\" {}", "d/x.hcl": `service {}`,
				"e/x.hcl.json": `{"transfer": {"internal": {"rent": {}}}}`, "f/x.hcl": `profile "p" {}`, "g/x.hcl.json": `{"profile": {}}`,
				"h/x.hcl.json": `[{"transfer": {"internal": {"rent": {}}}}]`, "i/x.hcl.json": `[{"profile": {}}, {"state": {"sqlite": {}}}]`, "j/x.hcl.json": `[{"profile": {}}]`,
			},
			tree.Found{Configurations: []string{"a", "b", "c", "d", "e", "h", "i"}, Shared: []string{"f", "g", "j"}},
		},
		"a service of another program makes none": {
			map[string]string{
				"a/x.hcl": "service {\n  name = \"web\"\n  port = 8080\n  check {\n  }\n}\n", "b/x.hcl": "service {\n  name = \"web\"\n  base_url = \"https://x\"\n}\n",
				"c/x.hcl": "service {\n  name = \"web\"\n}\n" + pays, "d/x.hcl": "service {\n  name = \"web\"\n  rate_limit {\n  }\n}\n",
			},
			tree.Found{Configurations: []string{"b", "c", "d"}, Shared: []string{"a"}},
		},
		"a lock file does too, without any file of the language": {
			map[string]string{"a/.remit.lock.hcl": "", "b/readme.md": ""}, tree.Found{Configurations: []string{"a"}},
		},
		"a file that can't be read makes one, so that its mistake is shown": {
			map[string]string{"a/x.hcl": "transfer {", "b/x.hcl.json": "{", "c/x.hcl": "->/etc/passwd"}, tree.Found{Configurations: []string{"a", "b", "c"}},
		},
		"a long file of transfers alone is one": {
			map[string]string{"a/x.hcl": strings.Repeat(strings.ReplaceAll(pays, "{\n}", "{\n  asset = \"USD\"\n}"), 40_000)}, tree.Found{Configurations: []string{"a"}},
		},
		"the directory itself and those below each other": {
			map[string]string{"x.hcl": pays, "a/x.hcl": pays, "a/b/c/x.hcl": pays}, tree.Found{Configurations: []string{".", "a", "a/b/c"}},
		},
		"hidden directories, those of other tools, tests and backups are none": {
			map[string]string{".git/x.hcl": pays, ".remit/x.hcl": pays, "a/node_modules/x.hcl": pays, "b/x.remittest.hcl": pays, "c/x.hcl~": pays, "d/x.hcl/y": ""},
			tree.Found{},
		},
		"a link to a directory is named, and one to a file is not": {
			map[string]string{"a/x.hcl": pays, "b": "->a", "c": "->/", "d": "->nowhere", "e": "->a/x.hcl"},
			tree.Found{Configurations: []string{"a"}, Links: []string{"b", "c"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tree.Find(t.Context(), newTree(t, test.files), isLock)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindFailsBeyondABound(t *testing.T) {
	deep := strings.Repeat("d/", tree.DepthMax) + "d/x.hcl"
	if found, err := tree.Find(t.Context(), newTree(t, map[string]string{deep: pays}), isLock); err == nil || !strings.Contains(err.Error(), "more than 16 below each other") {
		t.Errorf("a tree that is too deep: %v, %v", found, err)
	}
	many := map[string]string{}
	for i := range tree.ConfigurationsMax + 1 {
		many[fmt.Sprintf("%d/.remit.lock.hcl", i)] = ""
	}
	if found, err := tree.Find(t.Context(), newTree(t, many), isLock); err == nil || !strings.Contains(err.Error(), "more than 2000 configurations") {
		t.Errorf("a tree with too many: %v, %v", found, err)
	}
	if _, err := tree.Find(t.Context(), filepath.Join(t.TempDir(), "nowhere"), isLock); err == nil {
		t.Error("a directory that is not there is found")
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := tree.Find(ctx, t.TempDir(), isLock); !errors.Is(err, reason) {
		t.Errorf("a search that is interrupted: %v", err)
	}
}

func TestEntityOf(t *testing.T) {
	for name, want := range map[string]string{"acme": "acme", "acme/payroll": "acme", "acme/eu/payroll": "acme", ".": "finance"} {
		if got := tree.EntityOf(name, "/home/finance"); got != want {
			t.Errorf("%s belongs to %s, want %s", name, got, want)
		}
	}
}

// entry has a plan that would send amounts of USD and EUR; 0 for none.
func entry(directory, environment string, applicable bool, usd, eur int64) tree.Entry {
	b := &tree.Brief{Applicable: applicable}
	for asset, amount := range map[string]int64{"USD": usd, "EUR": eur} {
		if amount > 0 {
			parsed, err := transfer.ParseAmount(fmt.Sprint(amount))
			if err != nil {
				panic(err)
			}
			b.Sent.Add(asset, parsed)
		}
	}
	b.Empty = b.Sent.Count() == 0
	return tree.Entry{Directory: directory, Environment: environment, Entity: tree.EntityOf(directory, "/finance"), Brief: b}
}

// TestSums has no sum of two assets or of two environments.
func TestSums(t *testing.T) {
	all := tree.Tree{Entries: []tree.Entry{
		entry("acme/payroll", "production", true, 100, 10), entry("acme/vendors", "production", false, 20, 0), entry("acme/payroll", "staging", true, 3, 0),
		entry("globex", "production", true, 0, 7), entry("initech", "production", true, 0, 0),
		{Directory: "broken", ExitCode: 1},
	}}
	line := func(name, environment string, sent, blocked transfer.Totals) string {
		text := name + "/" + environment
		for total := range sent.All() {
			text += fmt.Sprintf(" %d %s %s", total.Count, total.Asset, total.Sum)
		}
		for total := range blocked.All() {
			text += fmt.Sprintf(" blocked %d %s %s", total.Count, total.Asset, total.Sum)
		}
		return text
	}
	var got []string
	for _, s := range all.ByEnvironment() {
		got = append(got, line(s.Name, s.Environment, s.Sent, s.Blocked))
	}
	for _, s := range all.ByEntity() {
		got = append(got, line(s.Name, s.Environment, s.Sent, s.Blocked))
	}
	for _, s := range all.ByAsset() {
		got = append(got, fmt.Sprintf("%s/%s %s blocked %s", s.Asset, s.Environment, s.Sent.Sum, s.Blocked.Sum))
	}
	want := []string{
		"/production 2 EUR 17 1 USD 100 blocked 1 USD 20", "/staging 1 USD 3",
		"acme/production 1 EUR 10 1 USD 100 blocked 1 USD 20", "acme/staging 1 USD 3", "globex/production 1 EUR 7",
		"EUR/production 17 blocked 0", "USD/production 100 blocked 20", "USD/staging 3 blocked 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sums (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(tree.Counts{All: 6, Sending: 3, Quiet: 1, Blocked: 1, Failed: 1, NeedAction: 2}, all.Counts()); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestExitCode(t *testing.T) {
	for name, test := range map[string]struct {
		codes []int
		want  int
	}{
		"nothing was asked":                    {nil, 0},
		"all are well":                         {[]int{0, 0}, 0},
		"changes go before nothing":            {[]int{0, 2, 0}, 2},
		"what was refused goes before that":    {[]int{2, 3}, 3},
		"a mistake goes before that":           {[]int{3, 1, 2}, 1},
		"a control goes before a mistake":      {[]int{1, 5, 0}, 5},
		"what needs a look goes before all":    {[]int{5, 1, 4, 3, 2}, 4},
		"a code that nobody knows is no 0":     {[]int{0, 130}, 130},
		"and goes behind those that are known": {[]int{130, 2}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var all tree.Tree
			for _, code := range test.codes {
				all.Entries = append(all.Entries, tree.Entry{ExitCode: code})
			}
			if got := all.ExitCode(); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}
