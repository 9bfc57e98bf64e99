//go:build unix

package functions_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"remit/internal/files/confined"
)

// directory is a configuration's directory with a secret beside it.
func directory(t *testing.T) *confined.Directory {
	t.Helper()
	parent := t.TempDir()
	if err := os.WriteFile(filepath.Join(parent, "outside.txt"), []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(parent, "payroll")
	for name, content := range map[string]string{
		"payroll.csv":      "key,net\nE-1,10.00\n",
		"empty.txt":        "",
		"latin1.txt":       "caf\xe9",
		"data/a.csv":       "a",
		"data/b.txt":       "b",
		"data/deep/c.csv":  "c",
		"data/.hidden.csv": "h",
		"hello.tmpl":       "Hello ${name}%{ for n in list } ${upper(n)}%{ endfor }",
		"recursive.tmpl":   "${templatefile(\"recursive.tmpl\", {})}",
		"indirect.tmpl":    "${templatestring(\"x\", {})}",
		"broken.tmpl":      "${",
		"fails.tmpl":       "\n${tonumber(name)}",
		"null.tmpl":        "${null}",
		"list.tmpl":        "${[\"a\"]}",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"inside.csv":   "payroll.csv",
		"out.txt":      "../outside.txt",
		"absolute.txt": filepath.Join(parent, "outside.txt"),
		"parent":       "..",
		"dangling.txt": "nowhere.txt",
		"loop.txt":     "loop.txt",
		"leak/x.csv":   "../../outside.txt",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	large, err := os.Create(filepath.Join(dir, "large.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if err := large.Truncate(64<<20 + 1); err != nil {
		t.Fatal(err)
	}
	if err := large.Close(); err != nil {
		t.Fatal(err)
	}
	root, err := confined.OpenDirectory(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return root
}

func TestFiles(t *testing.T) {
	root := directory(t)
	results{
		`file("payroll.csv")`:                                                  `"key,net\nE-1,10.00\n"`,
		`file("./data//a.csv")`:                                                `"a"`,
		`file("inside.csv") == file("payroll.csv")`:                            `true`,
		`file("empty.txt")`:                                                    `""`,
		`csvdecode(file("payroll.csv"))[0].net`:                                `"10.00"`,
		`filebase64("latin1.txt")`:                                             `"Y2Fm6Q=="`,
		`fileexists("payroll.csv")`:                                            `true`,
		`fileexists("nowhere.csv")`:                                            `false`,
		`fileexists("dangling.txt")`:                                           `false`,
		`fileset("data", "*.csv")`:                                             `[".hidden.csv", "a.csv"]`,
		`fileset("data", "**/[a-z]*.csv")`:                                     `["a.csv", "deep/c.csv"]`,
		`fileset(".", "data/{a,b}.*")`:                                         `["data/a.csv", "data/b.txt"]`,
		`fileset("data", "?.txt")`:                                             `["b.txt"]`,
		`fileset("data", "none*")`:                                             `[]`,
		`fileset("data", "*")`:                                                 `[".hidden.csv", "a.csv", "b.txt"]`,
		`fileset(".", "inside*")`:                                              `["inside.csv"]`,
		`filemd5("payroll.csv") == md5(file("payroll.csv"))`:                   `true`,
		`filesha1("payroll.csv") == sha1(file("payroll.csv"))`:                 `true`,
		`filesha256("payroll.csv") == sha256(file("payroll.csv"))`:             `true`,
		`filesha512("payroll.csv") == sha512(file("payroll.csv"))`:             `true`,
		`filebase64sha256("payroll.csv") == base64sha256(file("payroll.csv"))`: `true`,
		`filebase64sha512("payroll.csv") == base64sha512(file("payroll.csv"))`: `true`,
	}.run(t, root)
	failures{
		`file("./data/../payroll.csv")`:  `".."`,
		`file("../outside.txt")`:         `".."`,
		`file("data/../../outside.txt")`: `".."`,
		`file("/etc/passwd")`:            "within the configuration's directory",
		`file("~/.ssh/id_rsa")`:          "within the configuration's directory",
		`file("out.txt")`:                "leads out of the directory",
		`file("absolute.txt")`:           "leads out of the directory",
		`file("parent/outside.txt")`:     "leads out of the directory",
		`file("loop.txt")`:               "loop.txt",
		`file("nowhere.csv")`:            "there is no file",
		`file("dangling.txt")`:           "there is no file",
		`file("data")`:                   "is a directory",
		`file("pipe")`:                   "is a pipe",
		`file("")`:                       "empty",
		`file("a\u0000b")`:               "invalid argument",
		`file("latin1.txt")`:             "not UTF-8",
		`file("large.bin")`:              "more than 67108864 bytes",
		`filesha256("large.bin")`:        "more than 67108864 bytes",
		`filesha256("out.txt")`:          "leads out of the directory",
		`filebase64("../outside.txt")`:   `".."`,
		`fileexists("out.txt")`:          "leads out of the directory",
		`fileexists("../outside.txt")`:   `".."`,
		`fileexists("data")`:             "not a regular file",
		`fileset("..", "*")`:             `".."`,
		`fileset(".", "../*")`:           `".."`,
		`fileset("/etc", "*")`:           "within the configuration's directory",
		`fileset(".", "/etc/*")`:         "within the configuration's directory",
		`fileset("parent", "*")`:         "not a directory within",
		`fileset("nowhere", "*")`:        "not a directory within",
		`fileset("leak", "*")`:           "leads out of the directory",
		`fileset(".", "out.*")`:          "leads out of the directory",
		`fileset(".", "[")`:              "not a pattern",
	}.run(t, root)
}

func TestWithoutADirectoryFileFunctionsSaySo(t *testing.T) {
	const reason = "there is no directory"
	failures{
		`file("a")`:             reason,
		`fileexists("a")`:       reason,
		`fileset(".", "*")`:     reason,
		`filesha256("a")`:       reason,
		`filebase64("a")`:       reason,
		`templatefile("a", {})`: reason,
	}.run(t, nil)
}

func TestTemplates(t *testing.T) {
	root := directory(t)
	results{
		`templatefile("hello.tmpl", {name = "Ann", list = ["a", "b"]})`:            `"Hello Ann A B"`,
		`templatestring("$${a}-$${decimal_add(b, \"0.5\")}", {a = 1, b = "1.00"})`: `"1-1.50"`,
		`templatestring("plain", {})`:                                              `"plain"`,
		`templatestring("$${x}", tomap({x = "y"}))`:                                `"y"`,
		`templatestring("$${file(\"data/a.csv\")}", {})`:                           `"a"`,
		`templatestring("%%{ if x }yes%%{ endif }", {x = true})`:                   `"yes"`,
		`issensitive(templatestring("$${s}", {s = secret}))`:                       `true`,
		`issensitive(templatestring("$${sensitive(\"s\")}", {}))`:                  `true`,
	}.run(t, root)
	failures{
		`templatefile("hello.tmpl", {name = "Ann"})`:                                               `no "list" in it, which the template uses at hello.tmpl:1,26; it has name`,
		`templatefile("hello.tmpl", {})`:                                                           `it has nothing`,
		`templatefile("recursive.tmpl", {})`:                                                       `no function named "templatefile"`,
		`templatefile("indirect.tmpl", {})`:                                                        `no function named "templatestring"`,
		`templatestring("$${templatestring(t, {t = t})}", {t = "$${templatestring(t, {t = t})}"})`: `no function named`,
		`templatefile("broken.tmpl", {})`:                                                          `broken.tmpl:1,3`,
		`templatefile("fails.tmpl", {name = "x"})`:                                                 `fails.tmpl:2,12`,
		`templatefile("fails.tmpl", {name = secret})`:                                              `an argument is sensitive`,
		`templatefile("null.tmpl", {})`:                                                            `no text`,
		`templatefile("list.tmpl", {})`:                                                            `no text`,
		`templatefile("latin1.txt", {})`:                                                           `not UTF-8`,
		`templatefile("out.txt", {})`:                                                              `leads out of the directory`,
		`templatefile("hello.tmpl", "x")`:                                                          `an object or a map`,
		`templatestring("x", {"a b" = 1})`:                                                         `"a b" cannot be the name`,
		`templatestring(join("", concat(["$${"], [for i in range(1001) : "("])), {})`:              `nested`,
	}.run(t, root)
}

func TestAFileNameWithSeveralDotsIsNoWayOut(t *testing.T) {
	root := directory(t)
	_, err := evaluate(t, root, `file("a..b")`)
	if err == nil || !strings.Contains(err.Error(), "there is no file") {
		t.Errorf("error is %v", err)
	}
}
