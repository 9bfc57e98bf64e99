//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"remit/internal/bench/figures"
	"remit/internal/bench/load"
	"remit/internal/bench/measure"
)

// environment is that of every process: this one's, without the variables that steer remit or
// Terraform.
func (s *session) environment() []string {
	var kept []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "REMIT_") && !strings.HasPrefix(entry, "TF_") {
			kept = append(kept, entry)
		}
	}
	return append(kept, "NO_COLOR=1", "XDG_STATE_HOME="+s.work, "HOME="+s.work, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"TF_CLI_CONFIG_FILE="+filepath.Join(s.work, "terraform.rc"))
}

func (s *session) command(dir string, args []string, exit ...int) measure.Command {
	return measure.Command{
		Args: args, Dir: dir, Env: s.environment(), Exit: exit, Log: filepath.Join(s.work, "output"),
	}
}

// exec runs a process and returns what it took.
func (s *session) exec(ctx context.Context, dir string, args []string, exit ...int) (figures.Sample, error) {
	usage, err := measure.Run(ctx, s.command(dir, args, exit...))
	return sampleOf(usage), err
}

func sampleOf(u measure.Usage) figures.Sample {
	return figures.Sample{CPU: u.CPU.Seconds(), Wall: u.Wall.Seconds(), Peak: float64(u.Peak) / 1e6}
}

// number makes names that no process of this session had.
func (s *session) number() int {
	s.runs++
	return s.runs
}

// dir is the directory of a kind and a size.
func (s *session) dir(kind string, size int) string {
	return filepath.Join(s.work, fmt.Sprintf("%s-%d", kind, size))
}

// once prepares a directory the first time that it is asked for. What an earlier session left half made is made anew.
func (s *session) once(dir string, do func() error) error {
	if s.prepared[dir] {
		return nil
	}
	ready := dir + ".ready"
	if s.kept {
		if _, err := os.Stat(ready); err == nil {
			s.prepared[dir] = true
			return nil
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	s.prepared[dir] = true
	if !s.kept {
		return nil
	}
	return os.WriteFile(ready, nil, 0o644)
}

// serving says which service is meant.
type serving struct {
	latency time.Duration
	keep    bool
	pinned  bool // to a processor, remit and the floor to another one
}

// service is the bench's own service, in a process of its own.
type service struct {
	url     string
	process *exec.Cmd
}

// serve returns the service of a latency, which is started when it is first asked for.
func (s *session) serve(ctx context.Context, what serving) (*service, error) {
	if running := s.services[what]; running != nil {
		return running, nil
	}
	args := []string{s.self, "serve", "-latency", what.latency.String(), fmt.Sprintf("-keep=%t", what.keep)}
	if what.pinned {
		args = s.pinned(serviceCore, args)
	}
	process := exec.CommandContext(ctx, args[0], args[1:]...)
	process.Stderr = os.Stderr
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	running := &service{process: process}
	s.services[what] = running
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	running.url = strings.TrimSpace(line)
	return running, nil
}

func (s *service) stop() error {
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the service: %w", err)
	}
	return s.process.Wait()
}

// meter returns what the service saw since it was asked before.
func (s *service) meter(ctx context.Context) (load.Meter, error) {
	var m load.Meter
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+load.MeterPath, nil)
	if err != nil {
		return m, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return m, err
	}
	defer answer.Body.Close()
	err = json.NewDecoder(answer.Body).Decode(&m)
	return m, err
}

// metered runs do between two looks at the meter. It is an error if the service saw another
// number of transfers than size.
func (s *session) metered(ctx context.Context, what serving, size int, do func(url string) (figures.Sample, error)) (figures.Sample, error) {
	running, err := s.serve(ctx, what)
	if err != nil {
		return figures.Sample{}, err
	}
	if _, err := running.meter(ctx); err != nil {
		return figures.Sample{}, err
	}
	sample, err := do(running.url)
	if err != nil {
		return sample, err
	}
	m, err := running.meter(ctx)
	if err == nil && m.Count != int64(size) {
		err = fmt.Errorf("the service saw %d transfers instead of %d", m.Count, size)
	}
	sample.Rate = m.Rate()
	return sample, err
}
