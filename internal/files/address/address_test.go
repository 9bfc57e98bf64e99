package address_test

import (
	"path/filepath"
	"runtime"
	"testing"

	"remit/internal/files/address"
)

func TestNamesOfDevicesAndStreams(t *testing.T) {
	for path, isFile := range map[string]bool{
		"remit.db":                    true,
		"../states/remit.db":          true,
		filepath.Join("a", "b", ".."): true,
		"NUL":                         false,
		"states/con":                  false,
		"com1/remit.db":               false,
		"remit.db:copy":               false,
		"remit.db::$DATA":             false,
	} {
		if err := address.Check(path); (err == nil) != (isFile || runtime.GOOS != "windows") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSQLiteReadsVolumes(t *testing.T) {
	want := map[string]string{"/srv/a b?.db": "file:/srv/a%20b%3F.db"}
	if runtime.GOOS == "windows" {
		want = map[string]string{`C:\srv\a b#.db`: "file:/C:/srv/a%20b%23.db"}
	}
	for path, uri := range want {
		if got := address.SQLite(path); got != uri {
			t.Errorf("%s is %s, want %s", path, got, uri)
		}
	}
}
