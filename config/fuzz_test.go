package config_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"remit/config"
)

// hangs is how long a fuzzer may take for one input: more is a finding, not a slow machine.
const hangs = 5 * time.Minute

// FuzzLoad loads any three files: nothing panics, every mistake has a summary, and each declared
// transfer can be sent.
func FuzzLoad(f *testing.F) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, c := range casesOf(archive) {
			var native, json, rows string
			for _, file := range c.files {
				switch {
				case strings.HasSuffix(file.Name, ".json"):
					json = string(file.Data)
				case strings.HasSuffix(file.Name, ".hcl"):
					native += string(file.Data)
				case strings.HasSuffix(file.Name, ".csv"):
					rows = string(unescape(file.Name, file.Data))
				}
			}
			f.Add(native, json, rows)
		}
	}
	f.Fuzz(func(t *testing.T, native, json, rows string) {
		defer time.AfterFunc(hangs, func() { panic("it hangs") }).Stop()
		dir := t.TempDir()
		for name, text := range map[string]string{"a.hcl": native, "b.hcl.json": json, "pay.csv": rows, "x.csv": rows, "remit.hclvars": native} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c, diags := config.Load(dir, config.Options{Version: "0.1.0"})
		for _, d := range diags {
			if d.Summary == "" || d.Detail == "" {
				t.Errorf("a mistake without words: %#v", d)
			}
		}
		if !diags.HasErrors() {
			for transfer, diags := range c.Transfers(context.Background()) {
				if len(diags) > 0 {
					continue
				}
				r := transfer.Request
				if r.RefID == "" || r.Amount.IsZero() || r.FromProfileID == "" || r.ToProfileID == "" || r.Asset == "" {
					t.Errorf("a transfer that can't be sent: %s", r.Body())
				}
			}
			_, _ = c.Credentials()
			_, _ = c.Eval(native)
		}
		for name, file := range c.Files() {
			if file == nil || file.Body == nil {
				t.Errorf("%s is no file", name)
			}
		}
	})
}
