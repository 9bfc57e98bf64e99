package lockfile

// Read and Write without the file, so that a fuzzer need not wait for the disk.
var (
	Parse  = parse
	Format = format
)
