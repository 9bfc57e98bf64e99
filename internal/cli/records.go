package cli

import (
	"fmt"
	"io"

	"remit/internal/accounts/records"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
)

// noRecordError says that a file has no record, and no line of a list.
type noRecordError struct{ name string }

// Error names the file.
func (e *noRecordError) Error() string { return "there is no record in " + e.name }

// eachRecordOrListing reads the transfer records of a file, or of standard input where it is named "-", one after another:
// see [records.Reader]. It takes a list as well, where list is not nil. At most max bytes are read, and at least one record must be
// there. The error of use is returned as it is.
func eachRecordOrListing(streams *terminal.Streams, dir *workspace.Directory, name string, max int64, use func(records.Record) error, list func(records.Listing) error) error {
	in, err := openExport(streams, dir, name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	return eachRecordIn(in, name, max, use, list)
}

// eachRecordIn is eachRecordOrListing of a file that is open.
func eachRecordIn(in io.Reader, name string, max int64, use func(records.Record) error, list func(records.Listing) error) error {
	reader := records.NewReader(name, in, max)
	reader.TakeList(list)
	for record, err := range reader.All() {
		if err != nil {
			return fmt.Errorf("read the records: %w", err)
		}
		if err := use(record); err != nil {
			return err
		}
	}
	if reader.Count() == 0 {
		return &noRecordError{name}
	}
	if field := reader.Continues(); field != "" {
		return fmt.Errorf("%s names a next page (%s), which is not in it: the export is not complete", name, field)
	}
	for promised, count := range reader.Promised() {
		if promised > count {
			return fmt.Errorf("%s says that its list has %d records, and has %d: the export is not complete", name, promised, count)
		}
	}
	return nil
}
