package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// The parts of CycloneDX 1.6 (ECMA-424) that are written.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		SpecVersion  string       `json:"specVersion"`
		SerialNumber string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp time.Time `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licences   []licence  `json:"licenses"`
		PURL       string     `json:"purl,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licence struct {
		Licence licenceID `json:"license"`
	}
	licenceID struct {
		ID string `json:"id"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn,omitempty"`
	}
)

// writeSBOM writes the bill of materials of the program at path: its modules, as the program itself says. What only running it
// would say is asked of native, a program of the same commit for this machine.
func writeSBOM(ctx context.Context, path, native string, released time.Time, stdout io.Writer) error {
	info, modules, err := readLinked(ctx, path)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	own, err := askVersion(ctx, native)
	if err != nil {
		return err
	}
	if commit, ok := setting(info, "vcs.revision"); ok && commit != own.Commit {
		return fmt.Errorf("%s is of the commit %s, and %s of %s", path, commit, native, own.Commit)
	}
	system, _ := setting(info, "GOOS")
	libraries, err := systemLibraries(ctx, system)
	if err != nil {
		return err
	}
	parts := []component{
		part("std", strings.TrimPrefix(info.GoVersion, "go"), "golang", "BSD-3-Clause"),
		part("sqlite", own.SQLite, "generic", "blessing"),
	}
	parts = append(parts, libraries...)
	for _, module := range modules {
		c := part(module.path, module.version, "golang", module.licence)
		c.Properties = []property{{"go:sum", module.sum}}
		parts = append(parts, c)
	}
	bill := newBOM(program, newApplication(program, own.Version, info), parts, released)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(bill); err != nil {
		return err
	}
	_, err = stdout.Write(b.Bytes())
	return err
}

// versions are what a program says of itself, and of SQLite, which is no module.
type versions struct{ Version, Commit, SQLite string }

// askVersion runs a program.
func askVersion(ctx context.Context, program string) (versions, error) {
	var own versions
	out, err := exec.CommandContext(ctx, program, "version", "--json").Output()
	if err == nil {
		err = json.Unmarshal(out, &own)
	}
	if err != nil {
		return versions{}, fmt.Errorf("%s version --json: %w", program, err)
	}
	return own, nil
}

// setting is one of the build that made a program.
func setting(info *debug.BuildInfo, key string) (value string, ok bool) {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// newApplication is the component that the bill is about.
func newApplication(program []byte, version string, info *debug.BuildInfo) component {
	sum := sha256.Sum256(program)
	remit := component{
		Type: "application", Ref: "remit", Name: "remit", Version: version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licences: licensed("Apache-2.0"),
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision", "vcs.modified", "GOOS", "GOARCH", "-tags":
			remit.Properties = append(remit.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	return remit
}

// newBOM says that the application depends on each of its parts.
func newBOM(program []byte, application component, parts []component, released time.Time) bom {
	all := dependency{Ref: application.Ref}
	for _, c := range parts {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	return bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		SerialNumber: uuid.NewSHA1(uuid.NameSpaceOID, program).URN(),
		Metadata:     metadata{released, application}, Components: parts, Dependencies: []dependency{all},
	}
}

// systemLibraries are those of the compiler $CC that are linked in: a C library on Linux and on Windows, and none on macOS, which
// has its own.
func systemLibraries(ctx context.Context, system string) ([]component, error) {
	header, name, licence := "features.h", "glibc", "LGPL-2.1-or-later"
	names := []string{"__GLIBC__", "__GLIBC_MINOR__"}
	switch system {
	case "darwin":
		return nil, nil
	case "windows":
		header, name, licence = "_mingw.h", "mingw-w64", "ZPL-2.1"
		names = []string{"__MINGW64_VERSION_MAJOR", "__MINGW64_VERSION_MINOR"}
	}
	compiler := cmp.Or(os.Getenv("CC"), "gcc")
	command := exec.CommandContext(ctx, compiler, "-E", "-dM", "-include", header, "-x", "c", os.DevNull)
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for the version of %s: %w", compiler, name, err)
	}
	version := make([]string, len(names))
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "#define" {
			if i := slices.Index(names, fields[1]); i >= 0 {
				version[i] = fields[2]
			}
		}
	}
	if slices.Contains(version, "") {
		return nil, fmt.Errorf("%s of %s does not say its version", name, compiler)
	}
	return []component{part(name, strings.Join(version, "."), "generic", licence)}, nil
}

// part is a component that is linked in; kind is that of its package URL.
func part(name, version, kind, id string) component {
	purl := fmt.Sprintf("pkg:%s/%s@%s", kind, name, strings.ReplaceAll(version, "+", "%2B"))
	return component{Type: "library", Ref: purl, Name: name, Version: version, Licences: licensed(id), PURL: purl}
}

func licensed(id string) []licence { return []licence{{licenceID{id}}} }
