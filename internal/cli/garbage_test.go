package cli

import "testing"

func TestTheLeastThatIsAskedForPacesTheCollector(t *testing.T) {
	t.Parallel()
	set := garbagePercent
	p := pacer{set: func(percent int) int { set = percent; return 0 }}
	ask := func(percent int) func() { return p.begin(func(uint64) int { return percent }) }
	expect := func(when string, want int) {
		t.Helper()
		p.mu.Lock()
		defer p.mu.Unlock()
		if set != want {
			t.Errorf("%s: GOGC %d, want %d", when, set, want)
		}
	}
	command := ask(60)
	expect("a command asks", 60)
	part, other := ask(30), ask(80)
	expect("two parts of it ask", 30)
	part()
	expect("one of them ended", 60)
	command()
	expect("the command ended first", 80)
	other()
	expect("nobody asks", garbagePercent)
	again := ask(50)
	expect("another command asks", 50)
	again()
	expect("it ended", garbagePercent)
}

func TestGarbageIsBounded(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 400, 10 << 20: 400, 32 << 20: 400, 64 << 20: 200, 128 << 20: 100, 4 << 30: 100,
	} {
		if got := percentOfGarbage(live); got != want {
			t.Errorf("%d MB live: GOGC %d, want %d", live>>20, got, want)
		}
	}
}

func TestGarbageOfAPlanIsBounded(t *testing.T) {
	for live, want := range map[uint64]int{
		0: 100, 64 << 20: 100, 128 << 20: 100, 256 << 20: 50, 1 << 30: 12, 4 << 30: 10,
	} {
		if got := percentOfPlan(live); got != want {
			t.Errorf("%d MB live: GOGC %d, want %d", live>>20, got, want)
		}
	}
}
