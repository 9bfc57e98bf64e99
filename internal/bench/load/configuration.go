package load

import (
	"bufio"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

//go:embed templates/*
var embedded embed.FS

//go:embed script.py
var script []byte

// nowhere is the address in configurations with which nothing is sent.
const nowhere = "http://127.0.0.1:9"

// Form is a way to declare the same transfers.
type Form int

// The forms. A form with rows reads the file rows.csv beside it.
const (
	RemitRows        Form = iota // data "csv"
	RemitCSVDecode               // for_each over csvdecode
	RemitBlocks                  // a block each
	TerraformRows                // terraform_data with for_each over csvdecode
	TerraformBlocks              // a terraform_data each
	TerraformRestAPI             // restapi_object with for_each over csvdecode
)

// parts are the templates of a form: one for the file, and one for each row.
func (f Form) parts() (file, each string) {
	switch f {
	case RemitRows:
		return "common.hcl rows.hcl", ""
	case RemitCSVDecode:
		return "common.hcl csvdecode.hcl", ""
	case RemitBlocks:
		return "common.hcl", "block.hcl"
	case TerraformRows:
		return "data.tf", ""
	case TerraformBlocks:
		return "", "block.tf"
	case TerraformRestAPI:
		return "restapi.tf", ""
	}
	panic(fmt.Sprintf("form %d is not known", f))
}

// WriteConfiguration makes a directory with a configuration that declares the first rows up
// to a size, and their file where the form reads one. An url of "" is one where nobody
// listens.
func WriteConfiguration(dir string, form Form, size int, url string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all, err := template.ParseFS(embedded, "templates/*")
	if err != nil {
		return err
	}
	common, each := form.parts()
	name := "main.hcl"
	if strings.HasSuffix(common+each, ".tf") {
		name = "main.tf"
	}
	file, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	values := struct {
		URL, TokenPath, Token, Treasury string
		Row
	}{url, TokenPath, token, treasury, Row{}}
	if url == "" {
		values.URL = nowhere
	}
	for i, part := range strings.Fields(common) {
		if i > 0 {
			_ = out.WriteByte('\n') // Flush reports it
		}
		if err := all.ExecuteTemplate(out, part, values); err != nil {
			return err
		}
	}
	if each == "" {
		return errors.Join(out.Flush(), WriteRows(filepath.Join(dir, "rows.csv"), size, Sorted))
	}
	block := all.Lookup(each)
	for number := range size {
		values.Row = NewRow(number)
		if err := block.Execute(out, values); err != nil {
			return err
		}
	}
	return out.Flush()
}

// WriteScript writes the script that a user would write. It takes the service's address, a
// file of payouts and a database, which it makes.
func WriteScript(path string) error { return os.WriteFile(path, script, 0o644) }
