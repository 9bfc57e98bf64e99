package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// fieldsOf reads the next line, or row, of a face as its fields by their names; io.EOF after
// the last one.
type fieldsOf func() (map[string]string, error)

// linesOf reads JSON Lines. The version of the program that wrote them may be any.
func linesOf(r io.Reader) fieldsOf {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), lineBytesMax)
	return func() (map[string]string, error) {
		if !in.Scan() {
			return nil, cmp.Or(in.Err(), io.EOF)
		}
		fields, err := fieldsOfObject(in.Bytes())
		if err != nil {
			return nil, err
		}
		if fields["type"] == `"version"` {
			delete(fields, "remit")
		}
		return fields, nil
	}
}

// fieldsOfObject reads an object, and refuses one that has a field twice: another reader might take
// the other value.
func fieldsOfObject(text []byte) (map[string]string, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	fields := make(map[string]string, len(raw))
	d := json.NewDecoder(bytes.NewReader(text))
	_, _ = d.Token() // the brace: the text was just read
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if _, twice := fields[name]; twice {
			return nil, fmt.Errorf("it has %q twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		fields[name] = string(value)
	}
	return fields, nil
}

// rowsOf reads CSV with a row of names.
func rowsOf(r io.Reader) fieldsOf {
	in := csv.NewReader(bufio.NewReaderSize(r, 64<<10))
	in.ReuseRecord = true
	var names []string
	return func() (map[string]string, error) {
		row, err := in.Read()
		if err != nil {
			return nil, err
		}
		if names == nil {
			names = slices.Clone(row)
			for i, name := range names {
				if slices.Contains(names[:i], name) {
					return nil, fmt.Errorf("it has %q twice", name)
				}
			}
			return map[string]string{}, nil
		}
		fields := make(map[string]string, len(row))
		for i, cell := range row {
			fields[names[i]] = cell
		}
		return fields, nil
	}
}

// compare holds a face of the outcomes against what the journal makes of them. Where the version
// of remit that wrote the pack is this one, its bytes must be the same. Another version may write
// fewer fields, but none otherwise.
func (v *verifier) compare(f file, read func(io.Reader) fieldsOf) error {
	want := sha256.New()
	if err := f.write(want); err != nil {
		return err
	}
	got, err := sumOfFile(v.path(f.name))
	if err != nil || got == hex.EncodeToString(want.Sum(nil)) {
		return err
	}
	before := len(v.report.Findings)
	if err := v.compareFields(f, read); err != nil {
		return err
	}
	if len(v.report.Findings) == before && v.report.Facts.Remit == v.options.Version {
		v.found(f.name, "it was changed: it is not as remit writes it")
	}
	return nil
}

func (v *verifier) compareFields(f file, read func(io.Reader) fieldsOf) error {
	pack, err := os.Open(v.path(f.name))
	if err != nil {
		return err
	}
	defer func() { _ = pack.Close() }() // only read
	out, in := io.Pipe()
	go func() { in.CloseWithError(f.write(in)) }()
	defer func() { _ = out.Close() }() // ends the goroutine
	got, want := read(pack), read(out)
	for number := 1; ; number++ {
		expected, errWant := want()
		if errWant != nil && !errors.Is(errWant, io.EOF) {
			return fmt.Errorf("make %s again: %w", f.name, errWant)
		}
		found, errGot := got()
		switch {
		case errors.Is(errGot, io.EOF) && errors.Is(errWant, io.EOF):
			return nil
		case errors.Is(errGot, io.EOF):
			v.add(Finding{File: f.name, Line: number, Text: "it is cut off here: the journal has more"})
			return nil
		case errGot != nil:
			v.add(Finding{File: f.name, Line: number, Text: "it was changed: " + errGot.Error()})
			return nil
		case errors.Is(errWant, io.EOF):
			v.add(Finding{File: f.name, Line: number, Text: "it was added to: the journal has no more"})
			return nil
		}
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if value, ok := expected[name]; !ok || value != found[name] {
				v.add(Finding{File: f.name, Line: number, Text: fmt.Sprintf("its %q is %s, and the journal says %s", name, cmp.Or(found[name], "empty"), cmp.Or(value, "nothing"))})
			}
		}
	}
}
