package load

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"text/template"
)

// EditedFile is the file of [WriteEdited] that somebody edits.
const EditedFile = "blocks.hcl"

// WriteEdited makes a directory whose configuration reads a file with so many rows, and has a tenth as many blocks in
// [EditedFile], which pay others.
func WriteEdited(dir string, rows int) (err error) {
	if err := WriteConfiguration(dir, RemitRows, rows, ""); err != nil {
		return err
	}
	block, err := template.ParseFS(embedded, "templates/block.hcl")
	if err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, EditedFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriter(file)
	for number := range rows / 10 {
		if err := block.Execute(out, NewRow(rows+number)); err != nil {
			return err
		}
	}
	return out.Flush()
}
