package suite

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// faultCost is what a page fault costs here, in time of the processor; 0 where that can't be found out.
func faultCost() time.Duration {
	const pages = 1000
	page := os.Getpagesize()
	memory, err := unix.Mmap(-1, 0, pages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Munmap(memory) }()     // the process ends soon
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) // a kernel that declines has no huge pages
	before := processor()
	for i := 0; i < len(memory); i += page {
		memory[i] = 1
	}
	return (processor() - before) / pages
}

// processor is how long this process has had a processor.
func processor() time.Duration {
	var used unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used) != nil {
		return 0
	}
	return time.Duration(used.Nano())
}
