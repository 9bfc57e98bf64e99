// Package lockfile reads and writes .remit.lock.hcl, the file beside a configuration that
// says which state and which service it belongs to, and .remit.NAME.lock.hcl, which says it of one
// environment where a configuration declares several.
//
// Its one invariant: the file is whole and says everything, or it is an error; nothing is
// guessed, because a guess could take the record of one service for that of another.
package lockfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"remit/internal/files/confined"
	"remit/internal/files/wholefile"
	"remit/internal/transfer"
	"remit/state"
)

// Name is the file's name in the directory of the configuration. It begins with a dot, so
// it is no part of the configuration.
const Name = ".remit.lock.hcl"

const (
	prefix = ".remit."
	suffix = ".lock.hcl"
)

// NameOf is the name of the lock file of an environment block; [Name] for "", which is a directory without such
// blocks.
func NameOf(environment string) string {
	if environment == "" {
		return Name
	}
	return prefix + environment + suffix
}

// EnvironmentOf is the environment in the name of a lock file, "" for [Name]; false for the name of another
// file.
func EnvironmentOf(name string) (environment string, isLockFile bool) {
	if name == Name {
		return "", true
	}
	rest, isPrefixed := strings.CutPrefix(name, prefix)
	environment, isSuffixed := strings.CutSuffix(rest, suffix)
	return environment, isPrefixed && isSuffixed && environment != ""
}

// sizeMax bounds the bytes that are read: a whole file has a few hundred bytes.
const sizeMax = 64 << 10

// header is the top of the file.
const header = `# Made by "remit init". It binds this configuration to its state and its service, so that
# nothing is paid again from another copy. Commit it beside the configuration.

`

// File is what the lock file says. Service.CustomerID is not part of it.
type File struct {
	Lineage     string // of the state
	Environment string
	Service     state.Identity
}

// Read reads the lock file of a directory that has the name. It reports false, without an error, where there
// is none. An error is the operating system's, or hcl.Diagnostics about a file that is not
// exactly what [Write] writes, comments and layout apart.
func Read(dir, name string) (File, bool, error) {
	src, err := readBounded(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, false, nil
	}
	if err != nil {
		return File{}, false, fmt.Errorf("read %s: %w", name, err)
	}
	file, diags := parse(src, name)
	if diags.HasErrors() {
		return File{}, false, diags
	}
	return file, true, nil
}

func readBounded(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	return confined.Read(root, name, sizeMax)
}

// Write writes the lock file of a directory under the name, with mode 0644: the old file stays until the
// new one is whole and durable. It leaves a file that says the same as it is, and refuses a
// File that Read would refuse, such as the sandbox's.
func Write(dir, name string, file File) error {
	src := format(file)
	if _, diags := parse(src, name); diags.HasErrors() {
		return fmt.Errorf("write %s: %w", name, diags)
	}
	if old, err := readBounded(dir, name); err == nil && bytes.Equal(old, src) {
		return nil
	}
	err := wholefile.Replace(filepath.Join(dir, name), 0o644, func(w io.Writer) error {
		_, err := w.Write(src)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

func format(file File) []byte {
	out := hclwrite.NewEmptyFile()
	body := out.Body()
	body.SetAttributeValue("lineage", cty.StringVal(file.Lineage))
	body.SetAttributeValue("environment", cty.StringVal(file.Environment))
	body.AppendNewline()
	service := body.AppendNewBlock("service", nil).Body()
	service.SetAttributeValue("base_url", cty.StringVal(file.Service.BaseURL))
	service.SetAttributeValue("operator", cty.StringVal(file.Service.Operator))
	service.SetAttributeValue("client_id", cty.StringVal(file.Service.ClientID))
	if file.Service.TokenURL != "" {
		service.SetAttributeValue("token_url", cty.StringVal(file.Service.TokenURL))
	}
	return append([]byte(header), hclwrite.Format(out.Bytes())...)
}

func parse(src []byte, name string) (File, hcl.Diagnostics) {
	for at, r := range transfer.HiddenIn(src) {
		line := bytes.LastIndexByte(src[:at], '\n') + 1
		start := hcl.Pos{Line: 1 + bytes.Count(src[:at], []byte{'\n'}), Column: 1 + utf8.RuneCount(src[line:at]), Byte: at}
		end := hcl.Pos{Line: start.Line, Column: start.Column + 1, Byte: at + utf8.RuneLen(r)}
		what := fmt.Sprintf("Here is the character %U, %s.", r, transfer.SeenOtherwise(r))
		return File{}, hcl.Diagnostics{invalid(hcl.Range{Filename: name, Start: start, End: end}, what)}
	}
	parsed, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		d := invalid(*diags[0].Subject, "A merge left its marks in this file, or somebody edited it.")
		return File{}, hcl.Diagnostics{d}
	}
	top, more := parsed.Body.Content(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{required("lineage"), required("environment")},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "service"}},
	})
	if diags = append(diags, more...); diags.HasErrors() {
		return File{}, diags
	}
	if len(top.Blocks) != 1 {
		what := fmt.Sprintf("There are %d service blocks instead of one.", len(top.Blocks))
		return File{}, append(diags, invalid(parsed.Body.MissingItemRange(), what))
	}
	service, more := top.Blocks[0].Body.Content(&hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{required("base_url"), required("operator"), required("client_id"), {Name: "token_url"}},
	})
	if diags = append(diags, more...); diags.HasErrors() {
		return File{}, diags
	}
	file := File{
		Lineage:     text(top.Attributes["lineage"], notEmpty, &diags),
		Environment: text(top.Attributes["environment"], notEmpty, &diags),
		Service: state.Identity{
			BaseURL:  text(service.Attributes["base_url"], normalized, &diags),
			Operator: text(service.Attributes["operator"], operator, &diags),
			ClientID: text(service.Attributes["client_id"], notEmpty, &diags),
		},
	}
	if attribute, there := service.Attributes["token_url"]; there {
		file.Service.TokenURL = text(attribute, origin, &diags)
	}
	return file, diags
}

func required(name string) hcl.AttributeSchema {
	return hcl.AttributeSchema{Name: name, Required: true}
}

// text returns a quoted string without interpolation that check accepts.
func text(attribute *hcl.Attribute, check func(string) error, diags *hcl.Diagnostics) string {
	value, more := attribute.Expr.Value(nil)
	if more.HasErrors() {
		*diags = append(*diags, more...)
		return ""
	}
	err := errors.New("is not a quoted string")
	if value.Type() == cty.String && value.IsKnown() && !value.IsNull() {
		if err = check(value.AsString()); err == nil {
			return value.AsString()
		}
	}
	*diags = append(*diags, invalid(attribute.Expr.Range(), fmt.Sprintf("The argument %q %s.", attribute.Name, err)))
	return ""
}

func invalid(subject hcl.Range, what string) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Invalid lock file",
		Detail:   what + " This file is written by remit: restore it from version control.",
		Subject:  &subject,
	}
}

func notEmpty(text string) error {
	if text == "" {
		return errors.New("is empty")
	}
	return transfer.CheckText(text)
}

func normalized(text string) error {
	if text == state.NoService().BaseURL {
		return nil
	}
	want, err := state.NormalizeBaseURL(text)
	if err == nil && want != text {
		err = fmt.Errorf("is not in its normal form, %q", want)
	}
	return err
}

// origin refuses a text that is not the scheme, host and port of an address alone.
func origin(text string) error {
	want, err := state.NormalizeBaseURL(text)
	if err == nil {
		want = state.TokenOrigin(want, "")
	}
	if err == nil && want != text {
		err = fmt.Errorf("is not a scheme, a host and a port in their normal form, %q", want)
	}
	return err
}

func operator(text string) error {
	if !transfer.Operator(text).Valid() {
		return errors.New("is not lower-case letters, digits, '-' and '_', beginning with a letter")
	}
	return nil
}
