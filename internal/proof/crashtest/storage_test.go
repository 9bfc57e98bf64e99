package crashtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"remit/internal/proof/suite"
)

// needs skips a test where this machine does not let a command like this one run.
func needs(t *testing.T, command ...string) {
	t.Helper()
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Skipf("this machine does not run %q: %v %s", command, err, out)
	}
}

// settled pays what is left and compares ledger and state, whose file is in dir.
func settled(t *testing.T, d *directory, s *service, dir string) {
	t.Helper()
	finish(t, d)
	d.must(0, "plan", "--detailed-exitcode")
	s.kill()
	for _, wrong := range compare(readLedger(t, s.ledger), readState(t, dir), payroll) {
		t.Error(wrong)
	}
}

// volume makes a directory whose state is on a volume of its own, the directory disk of it, and returns a function that runs a script there. The
// script mounts the volume, and leaves a copy of the state in the directory.
func volume(t *testing.T, faults ...string) (*service, *directory, func(code int, script string) ended) {
	t.Helper()
	needs(t, "unshare", "--user", "--map-root-user", "--mount", "true")
	s := newService(t, program.Build(t), faults...)
	d := newDirectory(t, s.program, s, false, 8)
	if err := os.Mkdir(filepath.Join(d.path, "disk"), 0o700); err != nil {
		t.Fatal(err)
	}
	block := filepath.Join(d.path, "state.hcl")
	if err := os.WriteFile(block, []byte("state \"sqlite\" { path = \"disk/remit.db\" }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &directory{t: t, program: "unshare", path: d.path, env: d.env}
	return s, d, func(code int, script string) ended {
		t.Helper()
		e := r.must(code, "--user", "--map-root-user", "--mount", "sh", "-c", script+kept, s.program)
		if err := os.Remove(block); err != nil {
			t.Fatal(err)
		}
		return e
	}
}

// kept ends the script of a volume.
const kept = `
"$0" audit verify || exit 94
cp disk/remit.db remit.db && if test -e disk/remit.db-wal; then cp disk/remit.db-wal remit.db-wal; fi
exit $code
`

func says(t *testing.T, e ended, words ...string) {
	t.Helper()
	text := oneLine(e.stderr + e.stdout)
	for _, want := range words {
		if !strings.Contains(text, want) {
			e.fatal(t, "it does not say "+want)
		}
	}
}

// TestAFullDiskIsToldAndNothingIsLost has somebody else fill the disk of the state in the middle of a
// payroll, and applies again when there is room. The run stands still meanwhile: it would see less and less room, and stop in order.
func TestAFullDiskIsToldAndNothingIsLost(t *testing.T) {
	t.Parallel()
	s, d, run := volume(t, "latency=500ms")
	full := run(4, `
mount -t tmpfs -o size=4m none disk || exit 90
"$0" init || exit 91
"$0" apply --auto-approve --json >out.json 2>err.txt &
until grep -q '"recorded"' out.json; do sleep 0.05; done
kill -STOP $!
dd if=/dev/zero of=disk/rest bs=4k 2>/dev/null
kill -CONT $!
wait $!
code=$?
cat err.txt >&2
rm disk/rest
"$0" plan >plan.txt || exit 92
`)
	says(t, full, "Error: the state disk/remit.db could not be written: ", "full", "Certain: what is listed", "In doubt: ", " remit apply")
	settled(t, d, s, d.path)
}

// TestAVolumeThatGetsFullEndsARunInOrder gives the state a volume of its own that is too small for the payroll: the run starts nothing more
// while there is room for the outcomes of the started ones, and no transfer is in doubt.
func TestAVolumeThatGetsFullEndsARunInOrder(t *testing.T) {
	t.Parallel()
	s, d, run := volume(t)
	full := run(3, `
mount -t tmpfs -o size=700k none disk || exit 90
"$0" init || exit 91
"$0" apply --auto-approve
code=$?
"$0" plan --detailed-exitcode >plan.txt
test $? = 2 || exit 92
dd if=/dev/zero of=disk/rest bs=1k count=250 2>/dev/null
"$0" apply --auto-approve && exit 93
rm disk/rest
`)
	says(t, full, "the volume of the state ", "/disk/remit.db has ", " KiB to begin a payment and to record it. Make room there, by anything but the state's own files, or make the volume larger",
		"not attempted", "and type the same again. Nothing was sent", "df -h")
	if strings.Contains(full.stdout, "in doubt") {
		full.fatal(t, "something is in doubt")
	}
	settled(t, d, s, d.path)
}

// TestARunMovesItsLogWhileItGoesOn pays the payroll on a volume with room for the state, and not for a log of all that the run writes.
func TestARunMovesItsLogWhileItGoesOn(t *testing.T) {
	t.Parallel()
	s, d, run := volume(t)
	run(0, `
mount -t tmpfs -o size=1100k none disk || exit 90
"$0" init || exit 91
"$0" apply --auto-approve --parallelism=2
code=$?
`)
	settled(t, d, s, d.path)
}

// TestAFailingSyncIsToldAndNothingIsLost makes each fsync of the state fail, from the first
// one or from a later one on, as a dying disk does.
func TestAFailingSyncIsToldAndNothingIsLost(t *testing.T) {
	t.Parallel()
	program := program.Build(t)
	needs(t, "strace", "-f", "-qq", "-o", "/dev/null", program, "version")
	for name, c := range map[string]struct {
		from int // which fsync of a thread is the first to fail
		code int
		want []string
	}{
		"from the first": {1, 1, []string{"disk I/O error", "nothing was sent"}},
		"in the middle":  {10, 4, []string{"could not be written: disk I/O error", "Certain: ", "In doubt: ", "    remit apply\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t, program, "latency=5ms")
			d := newDirectory(t, program, s, false, 8)
			d.must(0, "init")
			r := &directory{t: t, program: "strace", path: d.path, env: d.env}
			failed := r.must(c.code, "-f", "-qq", "-o", "/dev/null", "-e", fmt.Sprintf("inject=fsync,fdatasync:error=EIO:when=%d+", c.from),
				program, "apply", "--auto-approve", "--parallelism=2")
			for _, want := range c.want {
				if !strings.Contains(failed.stderr, want) {
					failed.fatal(t, "it does not say "+want)
				}
			}
			if c.code == 1 && strings.Contains(d.must(0, "audit", "log").stdout, "intent") {
				t.Error("an intent was written although nothing was sent")
			}
			settled(t, d, s, d.path)
		})
	}
}

// TestAStateThatMayNotBeWrittenIsRefused applies as a user who may read the state, or its
// directory, but not write to it.
func TestAStateThatMayNotBeWrittenIsRefused(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	for name, modes := range map[string]struct{ file, dir os.FileMode }{
		"the file":      {0o444, 0o777},
		"the directory": {0o666, 0o555},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, program)
			d := newDirectory(t, program, s, false, 8)
			d.must(0, "init")
			open(t, d.path, program)
			chmod(t, filepath.Join(d.path, "remit.db"), modes.file)
			chmod(t, d.path, modes.dir)
			defer chmod(t, d.path, 0o700)
			d.nobody = os.Geteuid() == 0
			d.must(2, "plan", "--detailed-exitcode")
			refused := d.must(1, "apply", "--auto-approve")
			for _, want := range []string{"Error: the state remit.db ", "nothing was sent", "    sudo chown "} {
				if !strings.Contains(refused.stderr, want) {
					refused.fatal(t, "it does not say "+want)
				}
			}
			d.nobody = false
			chmod(t, d.path, 0o700)
			chmod(t, filepath.Join(d.path, "remit.db"), 0o600)
			settled(t, d, s, d.path)
		})
	}
}

// open lets anybody read a directory's files and run the program.
func open(t *testing.T, dir, program string) {
	t.Helper()
	for _, path := range []string{filepath.Dir(dir), filepath.Dir(program), filepath.Dir(filepath.Dir(program))} {
		chmod(t, path, 0o755)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		chmod(t, filepath.Join(dir, entry.Name()), 0o666)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// asNobody makes permissions apply to a process that root starts.
func asNobody() *syscall.SysProcAttr {
	const nobody = 65534
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// TestANetworkFileSystemIsRefused lets the kernel call the disk of the state an NFS: nobody can write
// there, and the state can be read and copied to another disk. Another kind may be one, and is warned of.
func TestANetworkFileSystemIsRefused(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	const isNFS, isFUSE = "inject=statfs:poke_exit=@arg2=6969000000000000", "inject=statfs:poke_exit=@arg2=4655736500000000"
	needs(t, "strace", "-f", "-qq", "-o", "/dev/null", "-e", isNFS, program, "version")
	s := newService(t, program)
	d := newDirectory(t, program, s, false, 8)
	d.must(0, "init")
	r := &directory{t: t, program: "strace", path: d.path, env: d.env}
	on := func(code int, kind string, args ...string) string {
		t.Helper()
		return r.must(code, append([]string{"-f", "-qq", "-o", "/dev/null", "-e", kind, program}, args...)...).stderr
	}
	refused := oneLine(on(1, isNFS, "apply", "--auto-approve"))
	for _, want := range []string{"its lock would not keep others out", "nothing was sent", "NFS", "remit state backup --out=FILE"} {
		if !strings.Contains(refused, want) {
			t.Errorf("it does not say %q: %s", want, refused)
		}
	}
	on(0, isNFS, "state", "backup", "--out=copy.backup")
	if warned := on(0, isFUSE, "apply", "--auto-approve"); !strings.Contains(warned, "Warning: The state may not be on a disk of this machine") || !strings.Contains(warned, "FUSE") {
		t.Errorf("it does not warn: %s", warned)
	}
	settled(t, d, s, d.path)
}

// TestAMountedFileIsRefused mounts the file of a state over another one, as a container is often
// given a file: its log would be beside the one, and not beside the other.
func TestAMountedFileIsRefused(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	needs(t, "unshare", "--user", "--map-root-user", "--mount", "true")
	s := newService(t, program.Build(t))
	d := newDirectory(t, s.program, s, false, 8)
	d.must(0, "init")
	const script = `
mkdir inside && cp main.hcl payroll-2026-11.csv .remit.lock.hcl inside && touch inside/remit.db
mount --bind remit.db inside/remit.db || exit 90
"$0" --chdir=inside status && exit 91
"$0" --chdir=inside apply --auto-approve && exit 92
mkdir whole && mount --bind . whole || exit 93
"$0" --chdir=whole apply --auto-approve || exit 94
`
	r := &directory{t: t, program: "unshare", path: d.path, env: d.env}
	e := r.must(0, "--user", "--map-root-user", "--mount", "sh", "-c", script, s.program)
	if got := strings.Count(oneLine(e.stderr), "Mount its directory instead of the file"); got != 2 {
		e.fatal(t, fmt.Sprintf("it says %d times what to do", got))
	}
	settled(t, d, s, d.path)
}
