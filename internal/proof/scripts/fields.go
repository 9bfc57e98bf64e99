//go:build unix

package scripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// runFields is the script command
//
//	fields OLDER NEWER
//
// that holds the lines of --json in one directory against those of an older version: each
// file of OLDER is in NEWER, and has each type of line, with all fields that it had, of the
// same kind of value.
func runFields(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fields OLDER NEWER")
	}
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*.jsonl"))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("%s has no files", args[0])
	}
	var missing []string
	for _, file := range files {
		older, err := fieldsOf([]byte(ts.ReadFile(file)))
		ts.Check(err)
		newer, err := fieldsOf([]byte(ts.ReadFile(filepath.Join(args[1], filepath.Base(file)))))
		ts.Check(err)
		for _, field := range slices.Sorted(maps.Keys(older)) {
			if !newer[field] {
				missing = append(missing, filepath.Base(file)+" "+field)
			}
		}
	}
	if len(missing) > 0 {
		ts.Fatalf("these were there:\n%s", strings.Join(missing, "\n"))
	}
}

// fieldsOf are the fields of all lines, as TYPE.FIELD.FIELD:KIND.
func fieldsOf(text []byte) (map[string]bool, error) {
	fields := make(map[string]bool)
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var line map[string]any
		err := decoder.Decode(&line)
		if errors.Is(err, io.EOF) {
			return fields, nil
		}
		if err != nil {
			return nil, err
		}
		kind, _ := line["type"].(string) // "" where a command writes one object alone
		addFields(fields, kind, line)
	}
}

func addFields(fields map[string]bool, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		fields[path+":object"] = true
		for name, member := range v {
			if name == "dependencies" {
				continue // whose names are those of modules
			}
			addFields(fields, path+"."+name, member)
		}
	case []any:
		fields[path+":array"] = true
		for _, member := range v {
			addFields(fields, path+"[]", member)
		}
	default:
		fields[path+":"+strings.TrimPrefix(fmt.Sprintf("%T", value), "*")] = true
	}
}
