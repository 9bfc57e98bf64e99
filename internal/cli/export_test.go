package cli

// RunAt is Run with a clock, for tests of what happens when.
var RunAt = runAt
