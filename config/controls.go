package config

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
)

// Controls are what a plan is checked against by declaration: in the configuration, and in
// the policy directories, which its authors may not be able to write to. The zero value
// checks nothing.
type Controls struct {
	// Files are those that have controls outside of the configuration: each file of a policy
	// directory, and each file that a control names. A byte that differs is another control.
	Files []ControlFile

	Limits   []Limit   // in declaration order
	Policies []*Policy // in declaration order

	Approvals []Approval // in declaration order; a plan needs what each of them wants
}

// ControlFile is a file of controls, as it was read.
type ControlFile struct {
	Name   string   // its path below its directory
	SHA256 string   // of its bytes, hexadecimal
	ends   []string // the SHA-256 of each text that differs in its line ends only
}

// DifferInEnds reports whether the file whose SHA-256 is now differs in its line ends only from one whose SHA-256 is then.
func (c Controls) DifferInEnds(then, now string) bool {
	return slices.ContainsFunc(c.Files, func(f ControlFile) bool {
		return f.SHA256 == now && now != then && slices.Contains(f.ends, then)
	})
}

// ControlDigest is one of [Controls] as a plan and the journal keep it, so that which one is
// another now can be named.
type ControlDigest struct {
	Name   string `json:"name"`            // the address of a block, or "file" and its name
	Place  string `json:"place,omitempty"` // file:line of a block
	SHA256 string `json:"sha256"`          // of what it says, or of the file's bytes; hexadecimal
}

// controlsFormat is the first text of the hash, so that no other hash of remit's can be
// taken for a digest of controls.
const controlsFormat = "remit-controls/1"

// List returns the controls in order of their names. The place of a block is no part of its SHA256:
// a block that is moved says the same.
func (c Controls) List() []ControlDigest {
	var list []ControlDigest
	for _, f := range c.Files {
		list = append(list, ControlDigest{Name: "file " + f.Name, SHA256: f.SHA256})
	}
	for i := range c.Limits {
		list = append(list, c.Limits[i].control())
	}
	for _, policy := range c.Policies {
		list = append(list, policy.control())
	}
	for i := range c.Approvals {
		list = append(list, c.Approvals[i].control())
	}
	slices.SortFunc(list, func(a, b ControlDigest) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.SHA256, b.SHA256))
	})
	return list
}

// Digest is the hexadecimal SHA-256 over netstrings (LENGTH:BYTES,) of "remit-controls/1" and,
// for each of [Controls.List], its name and its SHA256.
func (c Controls) Digest() string { return DigestOfControls(c.List()) }

// DigestOfControls is [Controls.Digest] of the controls with this list.
func DigestOfControls(list []ControlDigest) string {
	h := sha256.New()
	netstrings(h, controlsFormat)
	for _, control := range list {
		netstrings(h, control.Name, control.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// netstrings writes to a hash, which never fails.
func netstrings(h io.Writer, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s,", len(text), text)
	}
}

// newControlFile is a file of controls with these bytes.
func newControlFile(name string, content []byte) ControlFile {
	sum := func(content []byte) string {
		sum := sha256.Sum256(content)
		return hex.EncodeToString(sum[:])
	}
	unix := bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
	windows := bytes.ReplaceAll(unix, []byte("\n"), []byte("\r\n"))
	return ControlFile{Name: name, SHA256: sum(content), ends: []string{sum(unix), sum(windows)}}
}
