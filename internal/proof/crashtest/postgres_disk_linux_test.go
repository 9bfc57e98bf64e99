package crashtest_test

import (
	"strings"
	"testing"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// TestAFullDiskOfTheServerIsToldAndNothingIsLost lets the disk of the server of the state run
// full in the middle of a payroll, and applies again when it has been given room.
func TestAFullDiskOfTheServerIsToldAndNothingIsLost(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	for name, c := range map[string]struct {
		settings string
		left     int64 // bytes on the disk when the run begins
	}{
		"for its tables":          {"", 96 << 10},
		"for its write-ahead log": {"min_wal_size = '32MB'\nmax_wal_size = '32MB'\nwal_recycle = off\n", 4 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := pgtest.StartOnDisk(t, 200)
			if err := disk.Configure(c.settings); err != nil {
				t.Fatal(err)
			}
			disk.Shut()
			if err := disk.Run(); err != nil {
				t.Fatal(err)
			}
			s := newService(t, program, "latency=5ms")
			d := newDirectory(t, program, s, false, 8)
			d.share(disk.Server)
			d.must(0, "init")
			if c.settings != "" { // a file of the log has room for little more
				disk.Exec(t, "public", `SELECT pg_logical_emit_message(false, 'filler', repeat('x', (16777216 - file_offset - 131072)::int))::text
					FROM pg_walfile_name_offset(pg_current_wal_insert_lsn())`)
			}
			if err := disk.Fill(c.left); err != nil {
				t.Fatal(err)
			}
			full := d.must(4, "apply", "--auto-approve", "--failover-timeout=0s")
			for _, want := range []string{"Certain: what is listed", "In doubt: ", "    remit apply\n"} {
				if !strings.Contains(full.stderr, want) {
					full.fatal(t, "it does not say "+want)
				}
			}
			again := d.run("apply", "--auto-approve", "--failover-timeout=0s")
			if again.code != 1 && again.code != 4 {
				again.fatal(t, "it goes on")
			}
			if err := disk.Empty(); err != nil {
				t.Fatal(err)
			}
			disk.Stop() // it may have ended by itself
			if err := disk.Run(); err != nil {
				t.Fatal(err)
			}
			agree(t, d, s)
		})
	}
}
