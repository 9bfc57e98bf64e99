package cli

import (
	"runtime/debug"

	"remit/internal/clock/zone"
	"remit/state/sqlite"
)

// version is set by a release build: -ldflags "-X remit/internal/cli.version=0.1.0".
var version = "0.1.0"

// build is what remit version --json prints.
type build struct {
	Version      string            `json:"version"`
	Commit       string            `json:"commit,omitempty"`
	Modified     bool              `json:"modified,omitempty"`
	Go           string            `json:"go"`
	SQLite       string            `json:"sqlite"`     // release of the SQLite that is linked in
	TimeZones    string            `json:"time_zones"` // release of the IANA database
	Dependencies map[string]string `json:"dependencies"`
}

func readVersion() build {
	b := build{Version: version, SQLite: sqlite.Version(), TimeZones: zone.Version, Dependencies: map[string]string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Go = info.GoVersion
	for _, module := range info.Deps {
		b.Dependencies[module.Path] = module.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	return b
}
