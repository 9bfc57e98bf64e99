package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"remit/internal/transfer"
)

// readRecords reads transfer records from a file, or from standard input where it is named
// "-": JSON objects, one after another or in an array, or CSV whose header has the names of
// the service's fields and metadata.KEY for a pair. At most max bytes are read.
func (w *workspace) readRecords(name string, max int64) ([]transfer.Record, error) {
	in := w.stdin
	if name != "-" {
		file, err := os.Open(w.within(name))
		if err != nil {
			return nil, fmt.Errorf("open the records: %w", err)
		}
		defer func() { _ = file.Close() }() // only read
		in = file
	}
	limited := &io.LimitedReader{R: in, N: max + 1}
	buffered := bufio.NewReader(limited)
	if mark, err := buffered.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = buffered.Discard(len(mark)) // it was peeked at
	}
	read := readCSV
	if first, err := firstByte(buffered); err == nil && (first == '{' || first == '[') {
		read = readJSON
	}
	records, err := read(buffered)
	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("read the records in %s: it is larger than %d bytes", name, max)
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("read the records in %s: %w", name, err)
	case len(records) == 0:
		return nil, fmt.Errorf("there is no record in %s", name)
	}
	return records, nil
}

// firstByte is the first byte that is not white space; it is left to be read.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, r.UnreadByte()
		}
	}
}

func readJSON(r *bufio.Reader) ([]transfer.Record, error) {
	var records []transfer.Record
	decoder := json.NewDecoder(r)
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			if errors.Is(err, io.EOF) {
				return records, nil
			}
			return nil, err
		}
		objects := []json.RawMessage{raw}
		if raw[0] == '[' {
			if err := json.Unmarshal(raw, &objects); err != nil {
				return nil, err
			}
		}
		for _, object := range objects {
			record, err := transfer.ParseRecord(object)
			if err != nil {
				return nil, fmt.Errorf("record %d: %w", len(records)+1, err)
			}
			records = append(records, record)
		}
	}
}

func readCSV(r *bufio.Reader) ([]transfer.Record, error) {
	reader := csv.NewReader(r)
	header, err := reader.Read()
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor CSV with a header: %w", err)
	}
	var records []transfer.Record
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		record, err := rowRecord(header, row)
		if err != nil {
			line, _ := reader.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		records = append(records, record)
	}
}

// rowRecord makes a record of a row: an empty cell is a field that is absent.
func rowRecord(header, row []string) (transfer.Record, error) {
	fields := make(map[string]any, len(row))
	metadata := make(map[string]string)
	for i, value := range row {
		if value == "" {
			continue
		}
		if key, ok := strings.CutPrefix(header[i], "metadata."); ok {
			metadata[key] = value
			continue
		}
		fields[header[i]] = value
	}
	if len(metadata) > 0 {
		fields["metadata"] = metadata
	}
	raw, err := json.Marshal(fields)
	if err != nil {
		return transfer.Record{}, err
	}
	return transfer.ParseRecord(raw)
}

// export is records of a file by ref_id; it is what an import looks transfers up in.
type export map[string][]transfer.Record

// newExport sorts records by ref_id. It returns how many have none, which nothing can be
// matched with.
func newExport(records []transfer.Record) (export, int) {
	e, without := make(export), 0
	for _, record := range records {
		if record.RefID == "" {
			without++
			continue
		}
		e[record.RefID] = append(e[record.RefID], record)
	}
	return e, without
}

// Find implements executor.Finder.
func (e export) Find(_ context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	found := make(map[string][]transfer.Record, len(refIDs))
	for _, refID := range refIDs {
		if records := e[refID]; len(records) > 0 {
			found[refID] = records
		}
	}
	return found, nil
}
