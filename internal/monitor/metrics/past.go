package metrics

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"remit/executor"
)

// pastMax bounds a file that is read; one with a hundred assets has 50 KB.
const pastMax = 4 << 20

// Past is what a file of metrics says of earlier applies. The zero value is that there were none.
type Past struct {
	Environment string
	Directory   string
	Success     int64 // Unix milliseconds of the end of the last apply with exit code 0; 0 for never
	Runs        map[int]int64
	Transfers   map[executor.Result]int64
}

// Other reports whether the file is about another directory or environment. A name that could not
// be found out, because a configuration could not be read, belongs to no other.
func (p Past) Other(r Run) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	return differ(p.Environment, r.Environment) || differ(p.Directory, r.Directory)
}

// with is the past after a run.
func (p Past) with(r Run) Past {
	next := Past{Success: p.Success, Runs: maps.Clone(p.Runs), Transfers: maps.Clone(p.Transfers)}
	if next.Runs == nil {
		next.Runs = make(map[int]int64)
	}
	if next.Transfers == nil {
		next.Transfers = make(map[executor.Result]int64)
	}
	next.Runs[r.ExitCode]++
	if r.ExitCode == 0 {
		next.Success = r.Ended.UnixMilli()
	}
	if r.Summary != nil {
		for result, totals := range r.Summary.Totals {
			next.Transfers[result] += int64(totals.Count())
		}
	}
	return next
}

// codes are all exit codes that have a line.
func (p Past) codes() []int {
	all := slices.Concat(exitCodes, slices.Collect(maps.Keys(p.Runs)))
	slices.Sort(all)
	return slices.Compact(all)
}

// Read reads what [Write] wrote. An empty file says nothing.
func Read(r io.Reader) (Past, error) {
	p := Past{Runs: make(map[int]int64), Transfers: make(map[executor.Result]int64)}
	lines := bufio.NewScanner(io.LimitReader(r, pastMax))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.read(line); err != nil {
			return Past{}, fmt.Errorf("%q: %w", line, err)
		}
	}
	return p, lines.Err()
}

// read takes up one sample.
func (p *Past) read(line string) error {
	name, rest, ok := strings.Cut(line, "{")
	if !ok {
		return errors.New("it has no labels")
	}
	values, value, err := cutLabels(rest)
	if err != nil {
		return err
	}
	p.Environment, p.Directory = values["environment"], values["directory"]
	switch name {
	case "remit_runs_total":
		code, wrong := strconv.Atoi(values["exit_code"])
		count, err := strconv.ParseInt(value, 10, 64)
		p.Runs[code] = count
		return errors.Join(wrong, err)
	case "remit_run_transfers_total":
		p.Transfers[executor.Result(values["result"])], err = strconv.ParseInt(value, 10, 64)
	case "remit_last_success_timestamp_seconds":
		p.Success, err = strconv.ParseInt(strings.Replace(value, ".", "", 1), 10, 64)
	}
	return err
}

// cutLabels reads labels and the value behind them.
func cutLabels(text string) (map[string]string, string, error) {
	values := make(map[string]string)
	for {
		name, rest, ok := strings.Cut(text, "=")
		quoted, err := strconv.QuotedPrefix(rest)
		if !ok || err != nil {
			return nil, "", errors.New("its labels can't be read")
		}
		if values[name], err = strconv.Unquote(quoted); err != nil {
			return nil, "", fmt.Errorf("its label %s can't be read", name)
		}
		text = rest[len(quoted):]
		if value, isLast := strings.CutPrefix(text, "} "); isLast {
			return values, value, nil
		}
		text = strings.TrimPrefix(text, ",")
	}
}
