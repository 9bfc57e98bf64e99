package main

import (
	"bytes"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/proof/suite"
)

// TestPicturesOfAPage makes all pages and photographs one: six pictures, as wide as they say.
func TestPicturesOfAPage(t *testing.T) {
	suite.Slow(t)
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed here (Debian: apt-get install chromium)")
	}
	dir := t.TempDir()
	t.Chdir(filepath.Join("..", "..", ".."))
	var said bytes.Buffer
	if err := run(t.Context(), &said, dir, "^reconciliation$"); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"plan", "plan-blocked", "run", "report", "reconciliation", "tree", "review", "register"} {
		if text, err := os.ReadFile(filepath.Join(dir, page+".html")); err != nil || !bytes.HasPrefix(text, []byte("<!doctype html>")) {
			t.Errorf("the page %s begins with %.40q, %v", page, text, err)
		}
	}
	pictures := strings.Fields(said.String())
	if len(pictures) != 6 {
		t.Errorf("there are %q", pictures)
	}
	for _, name := range pictures {
		file, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.DecodeConfig(file)
		_ = file.Close()
		if wide := strings.Split(name, "-")[1]; err != nil || map[string]int{"1280": 1280, "820": 820, "390": 390}[wide] != picture.Width {
			t.Errorf("%s is %d wide, %v", name, picture.Width, err)
		}
	}
}
