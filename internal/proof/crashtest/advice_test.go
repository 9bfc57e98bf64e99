package crashtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"remit/internal/proof/suite"
	"remit/state"
)

// stepsMax is within how many commands what remit advises must lead to an end.
const stepsMax = 3

// TestWhatIsAdvisedAboutFilesLeadsOn kills a payroll, does to the files of its state what careless people
// do, and follows what each command prints as the next one until a run is complete. In every case each
// transfer is made once.
func TestWhatIsAdvisedAboutFilesLeadsOn(t *testing.T) {
	t.Parallel()
	program := program.Build(t)
	// The quick set has these: after some others the state has its doubts, which are looked up for 23 seconds before one is sent again.
	quick := []string{"an older copy is put under the log", "the file is cut", "the file is gone"}
	for name, mess := range map[string]func(*testing.T, *directory){
		"nothing": func(*testing.T, *directory) {},
		"an older copy is put under the log": func(t *testing.T, d *directory) {
			t.Helper()
			move(t, d, "older.db", "remit.db")
		},
		"an older copy is put in its place, and the log is deleted": func(t *testing.T, d *directory) {
			t.Helper()
			move(t, d, "older.db", "remit.db")
			remove(t, d, "remit.db-wal", "remit.db-shm")
		},
		"the log is deleted": func(t *testing.T, d *directory) {
			t.Helper()
			remove(t, d, "remit.db-wal", "remit.db-shm")
		},
		"the file is cut": func(t *testing.T, d *directory) {
			t.Helper()
			if err := os.Truncate(filepath.Join(d.path, "remit.db"), 3*4096); err != nil {
				t.Fatal(err)
			}
			remove(t, d, "remit.db-wal", "remit.db-shm")
		},
		"the file is emptied": func(t *testing.T, d *directory) {
			t.Helper()
			if err := os.Truncate(filepath.Join(d.path, "remit.db"), 0); err != nil {
				t.Fatal(err)
			}
			remove(t, d, "remit.db-wal", "remit.db-shm")
		},
		"the file is gone": func(t *testing.T, d *directory) {
			t.Helper()
			remove(t, d, "remit.db", "remit.db-wal", "remit.db-shm")
		},
		"the file that names the holder is deleted": func(t *testing.T, d *directory) {
			t.Helper()
			remove(t, d, "remit.db.lock")
		},
		"it becomes a symbolic link": func(t *testing.T, d *directory) {
			t.Helper()
			if err := os.Mkdir(filepath.Join(d.path, "elsewhere"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if _, err := os.Stat(filepath.Join(d.path, "remit.db"+suffix)); err == nil {
					move(t, d, "remit.db"+suffix, "elsewhere/remit.db"+suffix)
				}
			}
			if err := os.Symlink("elsewhere/remit.db", filepath.Join(d.path, "remit.db")); err != nil {
				t.Fatal(err)
			}
		},
		"it gets a second hard link": func(t *testing.T, d *directory) {
			t.Helper()
			if err := os.Link(filepath.Join(d.path, "remit.db"), filepath.Join(d.path, "second.db")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for _, hasBackup := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s (backup: %v)", name, hasBackup), func(t *testing.T) {
				if hasBackup || !slices.Contains(quick, name) {
					suite.Slow(t)
				}
				t.Parallel()
				s := newService(t, program, "latency=20ms")
				watched := watchUnfinished(t, s.baseURL)
				d := newDirectory(t, program, &service{baseURL: watched.url, secret: s.secret}, true, 8)
				d.must(0, "init")
				d.must(0, "state", "backup", "--out=older.db")
				run := d.start("apply", "--auto-approve", "--json")
				if !run.await(`"type":"settled"`, 40, patience) {
					run.end().fatal(t, "nothing is settled")
				}
				signal(t, run, syscall.SIGKILL)
				run.end()
				watched.pass()
				if hasBackup {
					copyFile(t, d, "older.db", "backup.db")
				}
				mess(t, d)
				d.follow(s, "apply --auto-approve")
				made(t, d, s)
			})
		}
	}
}

// made compares ledger and state. Of what a backup or a new state does not know, the state has what a
// lookup found: adopted.
func made(t *testing.T, d *directory, s *service) {
	t.Helper()
	d.must(0, "plan", "--detailed-exitcode")
	d.must(0, "state", "verify")
	s.kill()
	rows := d.rows()
	for i := range rows {
		if rows[i].Status == state.Adopted {
			rows[i].Status = state.Recorded
		}
	}
	for _, wrong := range compare(readLedger(t, s.ledger), rows, payroll) {
		t.Error(wrong)
	}
}

// follow runs a command, does what it says, and runs what it prints as the next one, until a run is
// complete. Where that is an import, the service exports its records for it.
func (d *directory) follow(s *service, command string) {
	d.t.Helper()
	for step := 0; ; step++ {
		e := d.run(strings.Fields(command)...)
		if e.code == 0 && strings.HasPrefix(command, "apply") {
			return
		}
		if step == stepsMax {
			e.fatal(d.t, "it does not come to an end")
		}
		if command = d.heed(e); command == "" {
			e.fatal(d.t, "it leads nowhere")
		}
		if strings.HasPrefix(command, "import FILE") {
			export := d.must(0, "sandbox", "export", "--ledger="+s.ledger)
			if err := os.WriteFile(filepath.Join(d.path, "export.jsonl"), []byte(export.stdout), 0o600); err != nil {
				d.t.Fatal(err)
			}
			command = strings.Replace(command, "FILE", "export.jsonl", 1) + " --auto-approve" // nobody is there to be asked
		}
	}
}

// heed does by hand what a command says in words, as far as it is about files, and returns the next one.
func (d *directory) heed(e ended) string {
	d.t.Helper()
	says := func(words string) bool { return strings.Contains(strings.ToLower(oneLine(e.stderr)), words) }
	_, err := os.Stat(filepath.Join(d.path, "backup.db"))
	hasBackup := err == nil && says("from a backup")
	isPutAway := strings.Contains(e.stderr, "    mkdir damaged && mv remit.db* damaged/\n")
	if says("move it away") || says("move both away") || hasBackup || isPutAway {
		if err := os.MkdirAll(filepath.Join(d.path, "kept"), 0o700); err != nil {
			d.t.Fatal(err)
		}
		for _, name := range []string{"remit.db", "remit.db-wal"} {
			if _, err := os.Lstat(filepath.Join(d.path, name)); err == nil {
				move(d.t, d, name, "kept/"+name)
			}
		}
	}
	if hasBackup {
		move(d.t, d, "backup.db", "remit.db")
	}
	if strings.Contains(e.stderr, "    find / -xdev -samefile remit.db\n") {
		return d.removeNames()
	}
	switch {
	case isPutAway && hasBackup:
		return "apply --auto-approve"
	case isPutAway:
		return "init --new-state" // as it says, where no backup exists
	}
	command := next(e)
	switch isNew := strings.HasPrefix(command, "init --new-state") || says("run remit init --new-state"); {
	case hasBackup && isNew && !strings.HasPrefix(command, "audit"), command == "" && e.code == 0:
		return "apply --auto-approve"
	case isNew && !hasBackup:
		return "init --new-state"
	}
	return command
}

// removeNames finds the names of the state as remit says, in the directory alone, and removes the others.
func (d *directory) removeNames() string {
	d.t.Helper()
	find := exec.Command("find", ".", "-xdev", "-samefile", "remit.db")
	find.Dir = d.path
	list, err := find.Output()
	if err != nil {
		d.t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		if name := strings.TrimSpace(line); name != "./remit.db" {
			remove(d.t, d, name)
		}
	}
	return "apply --auto-approve"
}

// next is the command that another one printed last; "" for none.
func next(e ended) string {
	listed := regexp.MustCompile(`To see all of them:\s+remit.*`).ReplaceAllString(e.stdout, "")
	found := regexp.MustCompile(`(?m)^    remit (.+)$`).FindAllStringSubmatch(listed+e.stderr, -1)
	if len(found) == 0 {
		return ""
	}
	command := found[len(found)-1][1]
	if strings.HasPrefix(command, "apply") && !strings.Contains(command, "--auto-approve") {
		command += " --auto-approve" // nobody is there to be asked
	}
	return command
}

func copyFile(t *testing.T, d *directory, from, to string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.path, from))
	if err == nil {
		err = os.WriteFile(filepath.Join(d.path, to), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func move(t *testing.T, d *directory, from, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to)); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, d *directory, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(filepath.Join(d.path, name)); err != nil {
			t.Fatal(err)
		}
	}
}
