//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// part is some of the histories. A process plays one at a time, on one processor: so it knows when everybody
// waits.
type part struct {
	from  uint64 // seed of the first one
	every uint64 // the difference to the next one
	count int
}

// shares deals histories out to processes.
func (p part) shares(processes int) []part {
	var shares []part
	for i := range min(processes, p.count) {
		shares = append(shares, part{p.from + uint64(i)*p.every, p.every * uint64(processes), (p.count + processes - 1 - i) / processes})
	}
	return shares
}

// playParts has processes play, which an interrupt ends as well. Their words about histories that broke
// an invariant go to stdout.
func playParts(ctx context.Context, a *arguments, stdout, stderr io.Writer) (totals, error) {
	program, err := os.Executable()
	if err != nil {
		return totals{}, err
	}
	var mu sync.Mutex
	var sum totals
	var failed error
	var players sync.WaitGroup
	for _, p := range a.shares(a.processes) {
		cmd := exec.CommandContext(ctx, program, "-part", "-store="+a.store, fmt.Sprintf("-clocks=%t", a.clocks),
			fmt.Sprintf("-from=%d", p.from), fmt.Sprintf("-every=%d", p.every), fmt.Sprintf("-seeds=%d", p.count))
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.Stderr = stderr
		players.Go(func() {
			one, err := playPart(cmd, func(line string) {
				mu.Lock()
				defer mu.Unlock()
				_, _ = fmt.Fprintln(stdout, line)
			})
			mu.Lock()
			defer mu.Unlock()
			sum.add(one)
			failed = errors.Join(failed, err)
		})
	}
	players.Wait()
	return sum, failed
}

// playPart runs a process, and returns what its last line says. The others are said.
func playPart(cmd *exec.Cmd, say func(line string)) (totals, error) {
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return totals{}, err
	}
	var sum totals
	isWhole := false
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if isWhole = strings.HasPrefix(lines.Text(), "{") && json.Unmarshal(lines.Bytes(), &sum) == nil; !isWhole {
			say(lines.Text())
		}
	}
	err = errors.Join(lines.Err(), cmd.Wait())
	if isWhole { // how it ended follows from the totals
		return sum, nil
	}
	return sum, fmt.Errorf("%s ended without its totals: %w", strings.Join(cmd.Args, " "), err)
}
