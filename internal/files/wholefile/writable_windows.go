package wholefile

// Writable has nothing to ask: who may write to a directory is known once a file is made in it.
func Writable(string) error { return nil }
