//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of the times in /proc, which Linux has had everywhere for long.
const ticksPerSecond = 100

// CPU is how much time of processors the server has taken since it started: its first process, those that it started, and
// those of them that have ended. It is known where there is a /proc.
func (s *Server) CPU() (time.Duration, error) {
	var ticks int64
	for i, pid := range s.processes() {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			if i > 0 {
				continue // it ended meanwhile, and the first one has its time from now on
			}
			return 0, err
		}
		// Behind the name, in brackets, utime and stime are words 11 and 12; those of children that have ended follow.
		words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		for _, word := range words[11:15] {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("times of process %d: %w", pid, err)
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}
