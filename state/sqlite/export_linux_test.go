package sqlite

// SharedMagic is what a type of statfs(2) is called that several machines use.
func SharedMagic(magic uint32) string { return sharedFS(magic) }
