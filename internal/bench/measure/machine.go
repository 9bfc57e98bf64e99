//go:build linux

package measure

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine describes the processor, the cores and the memory in one line.
func Machine() string {
	model := field("/proc/cpuinfo", "model name")
	if model == "" {
		model = runtime.GOARCH
	}
	kib, err := strconv.ParseFloat(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 64)
	if err != nil {
		return fmt.Sprintf("%s, %d cores", model, runtime.NumCPU())
	}
	return fmt.Sprintf("%s, %d cores, %.0f GB", model, runtime.NumCPU(), kib*1024/1e9)
}

// Kernel is the version of the running kernel.
func Kernel() string {
	raw, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return "Linux " + strings.TrimSpace(string(raw))
}

// OwnPeak is how many bytes this process had resident at most. A child's peak begins there,
// because it begins as a copy.
func OwnPeak() int64 {
	kib, err := strconv.ParseInt(strings.TrimSuffix(field("/proc/self/status", "VmHWM"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kib * 1024
}

// field returns the value of the first line "name: value" of a file in /proc.
func field(path, name string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// fsyncs is how many syncs Fsync times.
const fsyncs = 101

// Fsync times writes of 4 KiB, each with its fsync, at the end of a file of a directory.
func Fsync(dir string) ([]float64, error) {
	f, err := os.OpenFile(filepath.Join(dir, "fsync"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	page := bytes.Repeat([]byte{'x'}, 4096)
	took := make([]float64, fsyncs)
	for i := range took {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if err := f.Sync(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		took[i] = time.Since(began).Seconds()
	}
	return took, f.Close()
}
