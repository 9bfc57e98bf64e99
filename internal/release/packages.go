package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"text/template"
)

const summary = "Declare funds transfers in files, review them like code, pay each exactly once"

// archive is a file of a release, as it is fetched.
type archive struct{ URL, Sum string }

// formula is the package of Homebrew, which wants no blank line before end and the order of these stanzas.
var formula = template.Must(template.New("remit.rb").Parse(`# typed: strict
# frozen_string_literal: true

# Declares funds transfers in files, and pays each exactly once.
class Remit < Formula
  desc "Declare funds transfers in files and pay each exactly once"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{(index .Archives "darwin_arm64").URL}}"
      sha256 "{{(index .Archives "darwin_arm64").Sum}}"
    end
    on_intel do
      url "{{(index .Archives "darwin_amd64").URL}}"
      sha256 "{{(index .Archives "darwin_amd64").Sum}}"
    end
  end

  on_linux do
    on_arm do
      url "{{(index .Archives "linux_arm64").URL}}"
      sha256 "{{(index .Archives "linux_arm64").Sum}}"
    end
    on_intel do
      url "{{(index .Archives "linux_amd64").URL}}"
      sha256 "{{(index .Archives "linux_amd64").Sum}}"
    end
  end

  def install
    bin.install "usr/bin/remit"
    man1.install Dir["usr/share/man/man1/*"]
    bash_completion.install "usr/share/bash-completion/completions/remit"
    fish_completion.install "usr/share/fish/vendor_completions.d/remit.fish"
    zsh_completion.install "usr/share/zsh/site-functions/_remit"
    pkgshare.install "usr/share/doc/remit/examples"
  end

  test do
    cp_r pkgshare/"examples/payroll", testpath
    assert_match "118", shell_output("#{bin}/remit apply --sandbox --auto-approve --chdir=payroll")
  end
end
`))

// writePackages writes the formula of Homebrew and the manifest of Scoop for the archives of a directory, which are
// fetched below base.
func writePackages(dir, version, base string) error {
	if u, err := url.Parse(base); err != nil || u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		return fmt.Errorf("BASE_URL is %q, and not an address that begins with https://", base)
	}
	archives := map[string]archive{}
	for platform, ending := range map[string]string{
		"linux_amd64": "tar.gz", "linux_arm64": "tar.gz", "darwin_amd64": "tar.gz", "darwin_arm64": "tar.gz", "windows_amd64": "zip",
	} {
		name := fmt.Sprintf("remit_%s_%s.%s", version, platform, ending)
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		address, err := url.JoinPath(base, name)
		if err != nil {
			return err
		}
		archives[platform] = archive{address, hex.EncodeToString(sum[:])}
	}
	var text bytes.Buffer
	err := formula.Execute(&text, map[string]any{"Homepage": base, "Version": version, "Archives": archives})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "remit.rb"), text.Bytes(), 0o644); err != nil {
		return err
	}
	windows := archives["windows_amd64"]
	manifest, err := json.MarshalIndent(map[string]any{
		"version": version, "description": summary, "homepage": base, "license": "Apache-2.0",
		"architecture": map[string]any{"64bit": map[string]any{"url": windows.URL, "hash": windows.Sum}},
		"bin":          "remit.exe",
	}, "", "    ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "remit.json"), append(manifest, '\n'), 0o644)
}
