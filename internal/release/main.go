// Command release makes those parts of a release that are read off its programs and files: the pages of the manual, bills of
// materials, licences of modules, and what Homebrew and Scoop install by.
//
// Its one invariant: the same program, files and SOURCE_DATE_EPOCH make the same bytes.
//
//	release man DIRECTORY
//	release sbom PROGRAM NATIVE >remit.cdx.json
//	release notices PROGRAM >copyright
//	release formula DIRECTORY VERSION BASE_URL >remit.rb
//	release scoop DIRECTORY VERSION BASE_URL >remit.json
//
// NATIVE is a program of the same commit that this machine runs. .ci/release/build calls all of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is %q, and not the seconds of a commit's time: %w", epoch, err)
	}
	released := time.Unix(seconds, 0).UTC()
	switch part := strings.Join(args[:min(1, len(args))], ""); {
	case part == "man" && len(args) == 2:
		return writeManual(args[1], released)
	case part == "sbom" && len(args) == 3:
		return writeSBOM(ctx, args[1], args[2], released, stdout)
	case part == "notices" && len(args) == 2:
		return writeNotices(ctx, args[1], stdout)
	case part == "formula" && len(args) == 4:
		return writeFormula(args[1], args[2], args[3], stdout)
	case part == "scoop" && len(args) == 4:
		return writeScoop(args[1], args[2], args[3], stdout)
	}
	return errors.New("it takes man DIRECTORY, sbom PROGRAM NATIVE, notices PROGRAM, or formula or scoop DIRECTORY VERSION BASE_URL")
}

func writeManual(dir string, released time.Time) error {
	for _, page := range cli.Manual(released) {
		if err := os.WriteFile(filepath.Join(dir, page.Name), []byte(page.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
