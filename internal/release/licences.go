package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// linked is a module of which packages are in the program.
type linked struct {
	path, version, sum string
	licence            string   // its SPDX identifier
	texts              []string // its licence and notices, whole
}

// readLinked lists the modules of the program at path: itself, and those that it was built of. The modules
// must be in Go's cache, as they are after a build.
func readLinked(ctx context.Context, path string) (*debug.BuildInfo, []linked, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	args := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, module := range info.Deps {
		if module.Replace != nil {
			return nil, nil, fmt.Errorf("module %s is replaced", module.Path)
		}
		args = append(args, module.Path)
	}
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list -m: %w", err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		module, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[module] = dir
	}
	var modules []linked
	for _, module := range info.Deps {
		m := linked{path: module.Path, version: module.Version, sum: module.Sum}
		if m.texts, err = readTexts(dirs[module.Path]); err != nil {
			return nil, nil, fmt.Errorf("licence of %s: %w", module.Path, err)
		}
		if m.licence = identify(m.texts[0]); m.licence == "" {
			return nil, nil, fmt.Errorf("licence of %s is none of those that remit is linked with; see internal/release", module.Path)
		}
		modules = append(modules, m)
	}
	return info, modules, nil
}

// readTexts returns the licence of the module in dir, and after it its notices.
func readTexts(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var licences, notices []string
	for _, entry := range entries {
		name, _, _ := strings.Cut(strings.ToUpper(entry.Name()), ".")
		isNotice := name == "NOTICE" || name == "PATENTS"
		if entry.IsDir() || !isNotice && name != "LICENSE" && name != "LICENCE" && name != "COPYING" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		if isNotice {
			notices = append(notices, string(text))
		} else {
			licences = append(licences, string(text))
		}
	}
	if len(licences) == 0 {
		return nil, fmt.Errorf("no file LICENSE or COPYING in %s", dir)
	}
	return append(licences, notices...), nil
}

// marks are words that a licence surely has, and one of another kind has not; the first that fits counts.
var marks = []struct {
	id    string
	words []string
}{
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"MPL-2.0", []string{"mozilla public license", "version 2.0"}},
	{"MIT", []string{"permission is hereby granted, free of charge", "the above copyright notice and this permission notice"}},
	{"ISC", []string{"permission to use, copy, modify, and", "distribute this software for any purpose with or without fee"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "endorse or promote products"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
}

// identify returns the SPDX identifier of a licence, or "" for one that is not on the list.
func identify(text string) string {
	plain := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, forbidden := range []string{"gnu general public license version", "gnu affero", "business source license", "server side public license"} {
		if strings.Contains(plain, forbidden) && !strings.Contains(plain, "mozilla public license") { // which names the GNU licences as its secondary ones
			return ""
		}
	}
	for _, mark := range marks {
		if !slices.ContainsFunc(mark.words, func(words string) bool { return !strings.Contains(plain, words) }) {
			return mark.id
		}
	}
	return ""
}

// writeNotices writes the licences of all parts of the program, whole, as most of them ask of a
// distributor.
func writeNotices(ctx context.Context, path string, stdout io.Writer) error {
	info, modules, err := readLinked(ctx, path)
	if err != nil {
		return err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	golang, err := readTexts(strings.TrimSpace(string(root)))
	if err != nil {
		return fmt.Errorf("licence of Go: %w", err)
	}
	own, err := readTexts(".")
	if err != nil {
		return fmt.Errorf("licence of remit: %w", err)
	}
	var b bytes.Buffer
	b.WriteString("remit\n\n" + own[0])
	b.WriteString("\nThe program has parts of what follows, each under its own licence. SQLite, which is linked in, is in the public\n" +
		"domain." + ofSystem(info) + "\n")
	section(&b, "The Go standard library and runtime, BSD-3-Clause", golang)
	for _, module := range modules {
		section(&b, fmt.Sprintf("%s %s, %s", module.path, module.version, module.licence), module.texts)
	}
	_, err = stdout.Write(b.Bytes())
	return err
}

// ofSystem is what the C library that is linked into a program asks a distributor to say.
func ofSystem(info *debug.BuildInfo) string {
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "GOOS" && setting.Value == "linux":
			return " The GNU C Library, which is linked in, is under the GNU Lesser General Public License 2.1 or later\n" +
				"(/usr/share/common-licenses/LGPL-2.1 on Debian); .ci/release/build in remit's source links the program anew\n" +
				"with another one."
		case setting.Key == "GOOS" && setting.Value == "windows":
			return " The runtime of mingw-w64, which is linked in, is in the public domain or under the Zope Public License 2.1."
		}
	}
	return ""
}

func section(b *bytes.Buffer, title string, texts []string) {
	fmt.Fprintf(b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 78), title, strings.TrimSpace(strings.Join(texts, "\n\n")))
}
