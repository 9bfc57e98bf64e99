package cli

import (
	"context"
	"fmt"
	"os"

	"remit/internal/records"
	"remit/internal/transfer"
)

// readRecords reads all transfer records of a file, or of standard input where it is named "-":
// see [records.Reader]. At most max bytes are read, and at least one record must be there.
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
	reader := records.NewReader(name, in, max)
	var all []transfer.Record
	for record, err := range reader.All() {
		if err != nil {
			return nil, fmt.Errorf("read the records: %w", err)
		}
		all = append(all, record.Record)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no record in %s", name)
	}
	if reader.Continues() {
		return nil, fmt.Errorf("%s names a next page (next_page_cursor), which is not in it: the export is not complete", name)
	}
	return all, nil
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
