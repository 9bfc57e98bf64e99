//go:build unix

package config_test

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"remit/config"
)

// benchRows is how many rows and blocks the benchmarks read; ns/row is the figure to compare.
const (
	benchRows   = 100_000
	benchBlocks = 10_000
)

// payouts declares a transfer for each row of payouts.csv, as a payout night does.
const payouts = `
profile "treasury" { profile_id = "0acfa5a6-6f2e-41af-a833-48e301197ffd" }
batch "night" { duplicate_within = "10d" }
data "csv" "payouts" {
  file = "payouts.csv"
  key  = "id"
}
transfer "internal" "payout" {
  for_each      = data.csv.payouts.rows
  batch         = batch.night
  ref_id        = "payout-2026-11-${each.key}"
  from          = profile.treasury
  to_profile_id = each.value.profile_id
  amount        = each.value.amount
  asset         = "USD"
  metadata      = { seller = each.key }
}
`

// BenchmarkFloorCSV is what no reader of the same file is faster than.
func BenchmarkFloorCSV(b *testing.B) {
	path := writePayouts(b, b.TempDir())
	type transfer struct{ refID, from, to, amount, asset, seller string }
	var last transfer
	perRow(b, benchRows, func() {
		file, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		reader := csv.NewReader(bufio.NewReaderSize(file, 256<<10))
		reader.ReuseRecord = true
		for {
			fields, err := reader.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			last = transfer{"payout-2026-11-" + fields[0], "treasury", fields[1], fields[2], "USD", fields[0]}
		}
	})
	_ = last
}

// BenchmarkTransfersCSV streams transfers whose attributes are compiled.
func BenchmarkTransfersCSV(b *testing.B) { benchmarkPayouts(b, payouts) }

// BenchmarkTransfersCSVGeneral streams transfers that are evaluated row by row.
func BenchmarkTransfersCSVGeneral(b *testing.B) {
	benchmarkPayouts(b, strings.Replace(payouts, "each.value.amount", `decimal_add(each.value.amount, "0")`, 1))
}

// BenchmarkTransfersCSVWhere filters rows by a general expression.
func BenchmarkTransfersCSVWhere(b *testing.B) {
	benchmarkPayouts(b, strings.Replace(payouts, `= "id"`, `= "id"`+"\n  where = row.amount != \"0.00\"", 1))
}

// BenchmarkTransfersCSVDecode reads the same rows as a value.
func BenchmarkTransfersCSVDecode(b *testing.B) {
	benchmarkPayouts(b, strings.Replace(payouts, "data.csv.payouts.rows",
		`{ for row in csvdecode(file("payouts.csv")) : row.id => row }`, 1))
}

func benchmarkPayouts(b *testing.B, source string) {
	dir := b.TempDir()
	writePayouts(b, dir)
	benchmarkTransfers(b, dir, source, benchRows)
}

// BenchmarkTransfersLiteral loads and streams blocks that are written out, in one file.
func BenchmarkTransfersLiteral(b *testing.B) {
	var source strings.Builder
	source.WriteString(`profile "treasury" { profile_id = "0acfa5a6-6f2e-41af-a833-48e301197ffd" }` + "\n")
	for i := range benchBlocks {
		fmt.Fprintf(&source, `
transfer "internal" "p-%06d" {
  from          = profile.treasury
  to_profile_id = "%s"
  amount        = "%d.%02d"
  asset         = "USD"
  metadata      = { seller = "S-%07d" }
}
`, i, profileID(i), i%90_000+1, i%100, i)
	}
	benchmarkTransfers(b, b.TempDir(), source.String(), benchBlocks)
}

func benchmarkTransfers(b *testing.B, dir, source string, rows int) {
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(source), 0o600); err != nil {
		b.Fatal(err)
	}
	perRow(b, rows, func() {
		c, diags := config.Load(dir, config.Options{})
		if diags.HasErrors() {
			b.Fatal(diags)
		}
		count := 0
		for _, diags := range c.Transfers(b.Context()) {
			if diags.HasErrors() {
				b.Fatal(diags)
			}
			count++
		}
		if count != rows {
			b.Fatalf("%d transfers of %d", count, rows)
		}
	})
}

// perRow runs pass until the benchmark is satisfied and reports what one row cost: wall
// time, and the time of all cores, which a busy machine changes less.
func perRow(b *testing.B, rows int, pass func()) {
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		pass()
	}
	all := float64(b.N * rows)
	b.ReportMetric(float64(cpuTime(b)-before)/all, "cpu-ns/row")
	b.ReportMetric(float64(b.Elapsed())/all, "ns/row")
}

// cpuTime is what this process has used of all cores.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func writePayouts(b *testing.B, dir string) string {
	var rows strings.Builder
	rows.WriteString("id,profile_id,amount\n")
	for i := range benchRows {
		fmt.Fprintf(&rows, "S-%07d,%s,%d.%02d\n", i, profileID(i), i%90_000+1, i%100)
	}
	path := filepath.Join(dir, "payouts.csv")
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// profileID is different for each i and looks like an ID.
func profileID(i int) string {
	return fmt.Sprintf("%08x-269e-0d37-f2a7-%012x", uint32(i)*2654435761, i)
}
