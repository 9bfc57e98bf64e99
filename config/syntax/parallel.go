package syntax

import (
	"iter"
	"runtime"
)

// Parallel yields what work makes of each item, in the order of the items. Some are worked on
// ahead of the one that is yielded, on all cores, so work must not share anything. Nothing
// is worked on any more when the iteration has ended.
func Parallel[T, R any](items []T, work func(T) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		underway := make([]chan R, 2*runtime.GOMAXPROCS(0))
		start := func(i int) {
			if i >= len(items) {
				return
			}
			done := make(chan R, 1)
			underway[i%len(underway)] = done
			go func() { done <- work(items[i]) }()
		}
		for i := range underway {
			start(i)
		}
		for i := range items {
			result := <-underway[i%len(underway)]
			start(i + len(underway))
			if yield(result) {
				continue
			}
			for j := i + 1; j < min(i+1+len(underway), len(items)); j++ {
				<-underway[j%len(underway)]
			}
			return
		}
	}
}
