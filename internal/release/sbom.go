package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
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

// writeSBOM writes the bill of materials of the program at path: its modules, as the program
// itself says.
func writeSBOM(ctx context.Context, path string, released time.Time, stdout io.Writer) error {
	info, modules, err := readLinked(ctx, path)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// The program says its own version, and that of SQLite, which is no module.
	out, err := exec.CommandContext(ctx, path, "version", "--json").Output()
	if err != nil {
		return fmt.Errorf("%s version --json: %w", path, err)
	}
	var version struct{ Version, SQLite string }
	if err := json.Unmarshal(out, &version); err != nil {
		return fmt.Errorf("%s version --json: %w", path, err)
	}
	libc, err := exec.CommandContext(ctx, "getconf", "GNU_LIBC_VERSION").Output()
	if err != nil {
		return fmt.Errorf("getconf GNU_LIBC_VERSION: %w", err)
	}
	sum := sha256.Sum256(program)
	remit := component{
		Type: "application", Ref: "remit", Name: "remit", Version: version.Version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licences: licensed("Apache-2.0"),
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision", "vcs.modified", "GOOS", "GOARCH", "-tags":
			remit.Properties = append(remit.Properties, property{"go:" + setting.Key, setting.Value})
		}
	}
	parts := []component{
		part("std", strings.TrimPrefix(info.GoVersion, "go"), "golang", "BSD-3-Clause"),
		part("sqlite", version.SQLite, "generic", "blessing"),
		part("glibc", strings.TrimPrefix(strings.TrimSpace(string(libc)), "glibc "), "generic", "LGPL-2.1-or-later"),
	}
	for _, module := range modules {
		c := part(module.path, module.version, "golang", module.licence)
		c.Properties = []property{{"go:sum", module.sum}}
		parts = append(parts, c)
	}
	bill := bom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		SerialNumber: uuid.NewSHA1(uuid.NameSpaceOID, program).URN(),
		Metadata:     metadata{released, remit}, Components: parts,
	}
	all := dependency{Ref: remit.Ref}
	for _, c := range parts {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	bill.Dependencies = []dependency{all}
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

// part is a component that is linked in; kind is that of its package URL.
func part(name, version, kind, id string) component {
	purl := fmt.Sprintf("pkg:%s/%s@%s", kind, name, strings.ReplaceAll(version, "+", "%2B"))
	return component{Type: "library", Ref: purl, Name: name, Version: version, Licences: licensed(id), PURL: purl}
}

func licensed(id string) []licence { return []licence{{licenceID{id}}} }
