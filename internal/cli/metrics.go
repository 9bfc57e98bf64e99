package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"remit/internal/files/filelock"
	"remit/internal/files/wholefile"
	"remit/internal/monitor/metrics"
	"remit/internal/view"
)

const (
	metricsSuffix   = ".prom" // node_exporter reads no other files
	metricsMax      = 30 * time.Second
	metricsHurried  = 2 * time.Second // after an interrupt
	metricsLockMax  = 2 * time.Second
	metricsLockLook = 20 * time.Millisecond
)

// checkMetrics refuses a name that nobody would read, or whose file would be missed.
func (m *monitoring) checkMetrics() error {
	if m.metricsFile == "" {
		return nil
	}
	if !strings.HasSuffix(m.metricsFile, metricsSuffix) {
		return fmt.Errorf("--metrics-file=%s does not end in %s, and node_exporter reads no other files; nothing was sent", m.metricsFile, metricsSuffix)
	}
	// A file that can't be looked at is named at the end: no payment waits for a monitor.
	replaceable, err := isReplaceable(m.of.Within(m.metricsFile), metrics.Start)
	if err == nil && !replaceable {
		return fmt.Errorf("--metrics-file=%s: it is there already and no file of remit's metrics, so it is not replaced; nothing was sent", m.metricsFile)
	}
	return nil
}

// checkMetricsOf refuses the file of metrics of another environment of the directory, once it is known which one
// is worked on: its counts would be added to those of this one, and nobody would be told at night.
func (m *monitoring) checkMetricsOf(environment string) error {
	if m.metricsFile == "" || m.of.Block() == "" {
		return nil
	}
	before, err := readMetrics(m.of.Within(m.metricsFile))
	if err != nil || before.Environment == "" || before.Environment == environment {
		return nil // a failed read is told of at the end: no payment waits for a monitor
	}
	return fmt.Errorf("--metrics-file=%s has the metrics of environment %q, and this apply works on environment %q; nothing was sent. Name a file for each environment",
		m.metricsFile, before.Environment, environment)
}

// writeMetrics replaces the file of metrics. Everybody may read it: a monitor is another user.
func (m *monitoring) writeMetrics(ctx context.Context, ended view.Ended) error {
	longest := metricsMax
	if ctx.Err() != nil {
		longest = metricsHurried
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer cancel()
	run := metrics.Run{
		Environment: ended.Environment, Directory: ended.Directory, Version: readVersion().Version,
		Began: ended.Began, Ended: ended.Ended, ExitCode: ended.ExitCode, Summary: ended.Summary,
		State: m.countState(ctx),
	}
	path := m.of.Within(m.metricsFile)
	defer alone(ctx, filepath.Dir(path))()
	before, err := readMetrics(path)
	if err != nil {
		return fmt.Errorf("--metrics-file=%s: %w", m.metricsFile, err)
	}
	if before.Other(run) {
		return fmt.Errorf("--metrics-file=%s has the metrics of the directory %q, environment %q, and was left as it is; name another file for each directory",
			m.metricsFile, before.Directory, before.Environment)
	}
	if run.Environment == "" {
		run.Environment = before.Environment
	}
	if err := wholefile.Replace(path, 0o644, func(w io.Writer) error { return metrics.Write(w, run, before) }); err != nil {
		return fmt.Errorf("--metrics-file=%s: %w", m.metricsFile, err)
	}
	return nil
}

// countState counts the transfers of the state now; nil where it can't be read, which the run has told.
func (m *monitoring) countState(ctx context.Context) *metrics.StateCounts {
	if m.facts.opened == nil {
		return nil
	}
	snapshot, done, err := m.facts.opened.state.Read(ctx)
	if err != nil {
		return nil
	}
	defer done()
	counts, err := metrics.CountState(ctx, snapshot)
	if err != nil {
		return nil
	}
	return counts
}

func readMetrics(path string) (metrics.Past, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return metrics.Past{}, nil
	}
	if err != nil {
		return metrics.Past{}, err
	}
	defer func() { _ = file.Close() }() // only read
	past, err := metrics.Read(file)
	if err != nil {
		return metrics.Past{}, fmt.Errorf("read %s: %w; remove it, and counting begins anew", path, err)
	}
	return past, nil
}

// alone keeps others from replacing files of a directory in this way, until what it returns is
// called. It waits for them for a while, and then goes on: a count may be lost, no payment.
func alone(ctx context.Context, dir string) (leave func()) {
	file, err := filelock.OpenDirectory(dir)
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, metricsLockMax)
	defer cancel()
	for ctx.Err() == nil {
		if taken, err := filelock.TryExclusive(file); taken && err == nil {
			break
		}
		time.Sleep(metricsLockLook)
	}
	return func() { _ = file.Close() }
}
