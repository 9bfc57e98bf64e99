package main_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestZZ(t *testing.T) {
	p := player(t)
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	to, _ := strconv.Atoi(os.Getenv("TO"))
	for seed := from; seed < to; seed++ {
		r := p.Play(uint64(seed), mutants()[os.Getenv("M")])
		if r.Violation != nil {
			t.Log(seed, r.Violation)
			if os.Getenv("V") != "" {
				t.Log(strings.Join(r.Lines, "\n"))
			}
			if os.Getenv("ALL") == "" {
				return
			}
		}
		if s := os.Getenv("GREP"); s != "" {
			for _, l := range r.Lines {
				if strings.Contains(l, s) {
					t.Log(seed, l)
				}
			}
		}
	}
}
