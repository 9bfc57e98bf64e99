package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

const (
	described  = "Declare funds transfers in files, review them like code, pay each exactly once"
	licensedAs = "Apache-2.0"
)

// offer is a release at an address, for programs that install from there.
type offer struct {
	dir     string // that has the archives
	version string // of the archives' names
	base    string // address of the files, without a slash at its end
}

func newOffer(dir, version, base string) (offer, error) {
	address, err := url.Parse(base)
	if err != nil {
		return offer{}, fmt.Errorf("BASE_URL: %w", err)
	}
	if address.Scheme != "https" || address.Host == "" || address.RawQuery != "" || address.Fragment != "" || strings.ContainsAny(base, "\"#\\ $'") {
		return offer{}, fmt.Errorf("BASE_URL is %q, and no address that begins with https:// and ends with a path", base)
	}
	return offer{dir, version, strings.TrimSuffix(base, "/")}, nil
}

// shown is the version in the words that Homebrew and Scoop take: both know no tilde.
func (o offer) shown() string { return strings.ReplaceAll(o.version, "~", "-") }

// archive is the address of an archive, and its SHA-256; ok says whether the release has it.
func (o offer) archive(platform, suffix string) (address, sum string, ok bool, err error) {
	name := fmt.Sprintf("remit_%s_%s.%s", o.version, platform, suffix)
	text, err := os.ReadFile(filepath.Join(o.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", false, nil
	}
	if err != nil {
		return "", "", false, err
	}
	digest := sha256.Sum256(text)
	return o.base + "/" + name, hex.EncodeToString(digest[:]), true, nil
}

// writeFormula writes the formula of Homebrew for the archives of macOS and Linux that are in dir.
func writeFormula(dir, version, base string, stdout io.Writer) error {
	o, err := newOffer(dir, version, base)
	if err != nil {
		return err
	}
	var systems strings.Builder
	for _, system := range []struct{ name, block string }{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		var machines strings.Builder
		for _, machine := range []struct{ name, block string }{{"arm64", "on_arm"}, {"amd64", "on_intel"}} {
			address, sum, has, err := o.archive(system.name+"_"+machine.name, "tar.gz")
			if err != nil {
				return err
			}
			if has {
				fmt.Fprintf(&machines, "    %s do\n      url %q\n      sha256 %q\n    end\n", machine.block, address, sum)
			}
		}
		if machines.Len() > 0 {
			fmt.Fprintf(&systems, "\n  %s do\n%s  end\n", system.block, machines.String())
		}
	}
	if systems.Len() == 0 {
		return fmt.Errorf("%s has no archive of %s for macOS or Linux", dir, version)
	}
	_, err = fmt.Fprintf(stdout, formula, described, o.base, o.shown(), licensedAs, systems.String())
	return err
}

// formula takes what is installed from where the archive of either system has it.
const formula = `class Remit < Formula
  desc %q
  homepage %q
  version %q
  license %q
%s
  def install
    root = OS.mac? ? Pathname(".") : Pathname("usr")
    bin.install root/"bin/remit"
    man1.install Dir[root/"share/man/man1/*"]
    bash_completion.install root/"share/bash-completion/completions/remit"
    fish_completion.install root/"share/fish/vendor_completions.d/remit.fish"
    zsh_completion.install root/"share/zsh/site-functions/_remit"
    doc.install Dir[root/"share/doc/remit/*"]
  end

  test do
    cp_r doc/"examples/payroll", testpath
    assert_match(/recorded *118/, shell_output("#{bin}/remit apply --sandbox --auto-approve --chdir=payroll 2>&1"))
  end
end
`

// manifest is what Scoop installs by.
type manifest struct {
	Version      string                  `json:"version"`
	Description  string                  `json:"description"`
	Homepage     string                  `json:"homepage"`
	License      string                  `json:"license"`
	Notes        []string                `json:"notes"`
	Architecture map[string]scoopMachine `json:"architecture"`
	Bin          string                  `json:"bin"`
}

type scoopMachine struct {
	URL  string `json:"url"`
	Hash string `json:"hash"`
}

// writeScoop writes the manifest of Scoop for the archive of Windows that is in dir.
func writeScoop(dir, version, base string, stdout io.Writer) error {
	o, err := newOffer(dir, version, base)
	if err != nil {
		return err
	}
	address, sum, has, err := o.archive("windows_amd64", "zip")
	if err != nil {
		return err
	}
	if !has {
		return fmt.Errorf("%s has no archive of %s for Windows", dir, version)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "    ")
	if err := encoder.Encode(manifest{
		Version: o.shown(), Description: described, Homepage: o.base, License: licensedAs,
		Notes:        []string{"Examples and documents: $dir\\doc", "Completion in PowerShell: . $dir\\completion.ps1"},
		Architecture: map[string]scoopMachine{"64bit": {address, sum}}, Bin: "remit.exe",
	}); err != nil {
		return err
	}
	_, err = stdout.Write(b.Bytes())
	return err
}
