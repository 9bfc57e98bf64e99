package cli

import "testing"

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
