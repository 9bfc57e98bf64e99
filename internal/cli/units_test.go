package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"remit/internal/proof/suite"
)

// exposureMax is the exposure that systemd-analyze may find in the service, in tenths: 0 to 20 is
// "OK". The rest is the network, which a payment needs.
const exposureMax = "12"

// need skips a test where a command of Debian's packages is missing. CI installs it.
func need(t *testing.T, command, debian string) {
	t.Helper()
	if _, err := exec.LookPath(command); err != nil {
		t.Skipf("%s is not installed here (Debian: apt-get install %s)", command, debian)
	}
}

func output(t *testing.T, command string, args ...string) string {
	t.Helper()
	out, err := exec.Command(command, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", command, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// installUnits puts the units of the recipes where systemd looks for them in a root of their own,
// with a program to start.
func installUnits(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	units := filepath.Join(root, "etc/systemd/system")
	for _, dir := range []string{filepath.Join(units, "remit@.service.d"), filepath.Join(root, "usr/bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(root, "usr/bin/remit"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(root, "usr/bin/remit"), 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		"remit@.service": "remit@.service", "remit@.timer": "remit@.timer", "remit-metrics.conf": "remit@.service.d/metrics.conf",
	} {
		writeFile(t, filepath.Join(units, to), readFile(t, "../../docs/recipes/"+from))
	}
	// The commands that every machine has, and these units name.
	for _, name := range []string{"network-online.target", "time-sync.target", "timers.target", "sysinit.target", "basic.target", "shutdown.target", "multi-user.target", "time-set.target"} {
		writeFile(t, filepath.Join(units, name), "[Unit]\nDescription="+name+"\n")
	}
	return root
}

// TestUnits has systemd itself read the units, and say how exposed the service is.
func TestUnits(t *testing.T) {
	t.Parallel()
	need(t, "systemd-analyze", "systemd")
	root := installUnits(t)
	for _, unit := range []string{"remit@payments.service", "remit@payments.timer"} {
		if out := output(t, "systemd-analyze", "verify", "--man=no", "--root="+root, unit); out != "" {
			t.Errorf("systemd-analyze verify %s:\n%s", unit, out)
		}
	}
	out := output(t, "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold="+exposureMax, "--root="+root, "remit@payments.service")
	if !strings.Contains(out, "Overall exposure level") {
		t.Errorf("systemd-analyze says nothing of the exposure:\n%s", out)
	}
	for _, when := range []string{"*-*-* 01:30:00"} {
		if !strings.Contains(readFile(t, "../../docs/recipes/remit@.timer"), "OnCalendar="+when+"\n") {
			t.Errorf("the timer does not say %s", when)
		}
		output(t, "systemd-analyze", "calendar", when)
	}
}

// TestUnitsAreHardened holds what docs/nights.md says of the service, line by line: systemd
// ignores what it doesn't know, and nobody misses a line that is gone.
func TestUnitsAreHardened(t *testing.T) {
	service := readFile(t, "../../docs/recipes/remit@.service")
	for _, line := range []string{
		"DynamicUser=yes", "StateDirectory=remit/%i remit-seen/%i", "StateDirectoryMode=0700", "ProtectSystem=strict", "ProtectHome=yes", "NoNewPrivileges=yes",
		"CapabilityBoundingSet=", "AmbientCapabilities=", "SystemCallFilter=@system-service", "SystemCallFilter=~@privileged @resources",
		"LoadCredential=client_secret:/etc/remit/%i.secret", "Environment=REMIT_CLIENT_SECRET_FILE=%d/client_secret",
		"Restart=on-failure", "RestartPreventExitStatus=3 5", "LimitCORE=0",
	} {
		if !strings.Contains(service, "\n"+line+"\n") {
			t.Errorf("the service does not say %s", line)
		}
	}
	if strings.Contains(service, "SuccessExitStatus") {
		t.Error("another exit code than 0 is called a success")
	}
	timer := readFile(t, "../../docs/recipes/remit@.timer")
	for _, line := range []string{"Persistent=true", "RandomizedDelaySec=10min", "OnBootSec=5min"} {
		if !strings.Contains(timer, "\n"+line+"\n") {
			t.Errorf("the timer does not say %s", line)
		}
	}
}

// TestUnitsLetEachSystemCall traces an apply, and holds each system call that it makes against
// the filter of the service: none of them would fail there.
func TestUnitsLetEachSystemCall(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	need(t, "systemd-analyze", "systemd")
	need(t, "strace", "strace")
	allowed := systemCalls(t, "@system-service")
	for _, set := range []string{"@privileged", "@resources"} {
		for _, name := range systemCalls(t, set) {
			allowed = slices.DeleteFunc(allowed, func(n string) bool { return n == name })
		}
	}
	if os.Geteuid() == 0 {
		allowed = append(allowed, "fchown") // SQLite as root gives its files to the database's owner
	}
	dir := t.TempDir()
	copyExample(t, "../../examples/quickstart", dir)
	program := product.Build(t)
	trace := filepath.Join(dir, "trace")
	output(t, "strace", "-f", "-qq", "-o", trace, program, "apply", "--sandbox", "--auto-approve", "--chdir="+dir,
		"--metrics-file="+filepath.Join(dir, "remit.prom"), "--notify-command=true")
	made := regexp.MustCompile(`(?m)^\d+ +([a-z_0-9]+)\(`).FindAllStringSubmatch(readFile(t, trace), -1)
	seen := map[string]bool{}
	for _, call := range made {
		if name := call[1]; !seen[name] && !slices.Contains(allowed, name) {
			t.Errorf("an apply calls %s, which the service may not", name)
		}
		seen[call[1]] = true
	}
	if !seen["fsync"] && !seen["fdatasync"] || !seen["connect"] {
		t.Errorf("the trace is not of an apply: %v", seen)
	}
}

// systemCalls are those of a set, with those of the sets in it.
func systemCalls(t *testing.T, set string) []string {
	t.Helper()
	var names []string
	for line := range strings.Lines(output(t, "systemd-analyze", "syscall-filter", "--no-pager", set)) {
		switch name := strings.TrimSpace(line); {
		case name == "" || name == set || strings.HasPrefix(name, "#"):
		case strings.HasPrefix(name, "@"):
			names = append(names, systemCalls(t, name)...)
		default:
			names = append(names, name)
		}
	}
	return names
}

// TestDocsNights holds what incidents.md shows of nights that went wrong against what the script
// nightly compares with what remit writes.
func TestDocsNights(t *testing.T) {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	doc := words(readFile(t, "../../docs/incidents.md"))
	archive, err := txtar.ParseFile("../../testdata/script/nightly.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, file := range archive.Files {
		switch file.Name {
		case "missed.txt", "locked.txt", "full.txt", "expired.txt", "killed-status.txt", "killed.txt":
			shown++
			if !strings.Contains(doc, words(string(file.Data))) {
				t.Errorf("incidents.md does not show %s:\n%s", file.Name, file.Data)
			}
		}
	}
	if shown != 6 {
		t.Errorf("the script has %d of 6 files to show", shown)
	}
}
