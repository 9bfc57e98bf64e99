// Command release makes those parts of a release that are read off the program: the pages of its manual,
// its bill of materials, the licences of its modules.
//
// Its one invariant: the same program and the same SOURCE_DATE_EPOCH make the same bytes.
//
//	go run ./internal/release man DIRECTORY
//	go run ./internal/release sbom PROGRAM >remit.cdx.json
//	go run ./internal/release notices PROGRAM >copyright
//
// .ci/release/build calls it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"remit/internal/cli"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Getenv("SOURCE_DATE_EPOCH"), os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:forbidigo // this is a main
	}
}

// run makes one part; epoch is the time of the release, in seconds of Unix.
func run(ctx context.Context, args []string, epoch string, stdout io.Writer) error {
	if len(args) != 2 {
		return errors.New("it takes man DIRECTORY, sbom PROGRAM or notices PROGRAM")
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is %q, and not the seconds of a commit's time: %w", epoch, err)
	}
	released := time.Unix(seconds, 0).UTC()
	switch args[0] {
	case "man":
		return writeManual(args[1], released)
	case "sbom":
		return writeSBOM(ctx, args[1], released, stdout)
	case "notices":
		return writeNotices(ctx, args[1], stdout)
	}
	return fmt.Errorf("there is no part %q; man, sbom and notices are there", args[0])
}

func writeManual(dir string, released time.Time) error {
	for _, page := range cli.Manual(released) {
		if err := os.WriteFile(filepath.Join(dir, page.Name), []byte(page.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
