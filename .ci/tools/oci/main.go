// Command oci writes an image of remit for several architectures as one file, in the image layout of OCI, with the bill of
// materials of each program as an artifact that refers to its image.
//
// Its one invariant: the same files, SOURCE_DATE_EPOCH and REVISION make the same bytes. The certificates of authorities are
// Mozilla's, of the version that go.mod names, and not those of the machine.
//
//	oci FILE VERSION ARCH=ROOT...
//
// A ROOT is what a package installs. Of it the image has the program and its documents, no shell and no library.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "oci:", err)
		os.Exit(1)
	}
}

// release is what all images of one release have alike.
type release struct {
	version, revision string
	at                time.Time
}

func run(args []string) error {
	if len(args) < 3 {
		return errors.New("it takes FILE VERSION ARCH=ROOT...")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	// Names of images know no tilde.
	r := release{version: strings.ReplaceAll(args[1], "~", "-"), revision: os.Getenv("REVISION"), at: time.Unix(seconds, 0).UTC()}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arg := range args[2:] {
		arch, root, isPair := strings.Cut(arg, "=")
		if !isPair {
			return fmt.Errorf("%q is no ARCH=ROOT", arg)
		}
		if index, err = r.add(index, arch, root); err != nil {
			return fmt.Errorf("%s: %w", arch, err)
		}
	}
	return r.write(args[0], mutate.Annotations(index, r.labels()).(v1.ImageIndex))
}

// add returns the index with one architecture more: its image, and the bill of materials that refers to it.
func (r release) add(index v1.ImageIndex, arch, root string) (v1.ImageIndex, error) {
	image, err := r.image(arch, root)
	if err != nil {
		return nil, err
	}
	described, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "usr/share/doc/remit/remit.cdx.json"))
	if err != nil {
		return nil, err
	}
	const cyclonedx = "application/vnd.cyclonedx+json"
	bill, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), static.NewLayer(text, cyclonedx))
	if err != nil {
		return nil, err
	}
	bill = mutate.Subject(mutate.ConfigMediaType(bill, cyclonedx), *described).(v1.Image)
	// No program of any machine is in it, so that nobody who runs the image takes it.
	noPlatform := &v1.Platform{OS: "unknown", Architecture: "unknown"}
	return mutate.AppendManifests(index,
		mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}},
		mutate.IndexAddendum{Add: bill, Descriptor: v1.Descriptor{Platform: noPlatform, ArtifactType: cyclonedx}}), nil
}

func (r release) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "remit",
		"org.opencontainers.image.version":  r.version,
		"org.opencontainers.image.revision": r.revision,
		"org.opencontainers.image.created":  r.at.Format(time.RFC3339),
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

// image is remit for one architecture. Its user has no name and may write to /tmp and to what is mounted.
func (r release) image(arch, root string) (v1.Image, error) {
	base, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), &v1.ConfigFile{
		OS: "linux", Architecture: arch, Created: v1.Time{Time: r.at},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: "65532:65532", WorkingDir: "/work", Env: []string{"PATH=/usr/bin", "USER=remit", "HOME=/tmp"},
			Entrypoint: []string{"/usr/bin/remit"}, Labels: r.labels(),
		},
	})
	if err != nil {
		return nil, err
	}
	system, err := r.layer(func(w *tar.Writer) error {
		for _, dir := range []struct {
			name string
			mode int64
		}{{"etc/", 0o755}, {"etc/ssl/", 0o755}, {"etc/ssl/certs/", 0o755}, {"tmp/", 0o1777}, {"work/", 0o755}} {
			if err := r.directory(w, dir.name, dir.mode); err != nil {
				return err
			}
		}
		return r.file(w, "etc/ssl/certs/ca-certificates.crt", 0o644, authorities())
	})
	if err != nil {
		return nil, err
	}
	program, err := r.layer(func(w *tar.Writer) error {
		for _, dir := range []string{"usr/", "usr/share/", "usr/share/doc/"} {
			if err := r.directory(w, dir, 0o755); err != nil {
				return err
			}
		}
		return errors.Join(r.copy(w, root, "usr/bin"), r.copy(w, root, "usr/share/doc/remit"))
	})
	if err != nil {
		return nil, err
	}
	return mutate.Append(base, r.made(system, "certificates of authorities"), r.made(program, "remit"))
}

func (r release) made(layer v1.Layer, what string) mutate.Addendum {
	return mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.at}, CreatedBy: "remit .ci/tools/oci", Comment: what}}
}

// authorities are the certificates that Mozilla trusts without a constraint, as a file of PEM.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a buffer takes all
		}
	}
	return b.Bytes()
}

// layer is what fill writes, compressed.
func (r release) layer(fill func(*tar.Writer) error) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := fill(w); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
}

func (r release) file(w *tar.Writer, name string, mode int64, text []byte) error {
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(text)), ModTime: r.at}); err != nil {
		return err
	}
	_, err := w.Write(text)
	return err
}

func (r release) directory(w *tar.Writer, name string, mode int64) error {
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: mode, ModTime: r.at})
}

// copy writes a directory of root with all that is in it, in the order of their names.
func (r release) copy(w *tar.Writer, root, part string) error {
	return filepath.WalkDir(filepath.Join(root, part), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return r.directory(w, name+"/", 0o755)
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no file", path)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return r.file(w, name, int64(info.Mode().Perm()), text)
	})
}

// write puts a layout into a directory for a moment, and its files into one, in the order of their names.
func (r release) write(file string, index v1.ImageIndex) error {
	dir, err := os.MkdirTemp("", "oci")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := path.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return r.file(w, name, 0o644, text)
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return out.Close()
}
