package host

// isStrange reports false: a program of Windows that has more rights is still one of its user.
func isStrange(string) bool { return false }
