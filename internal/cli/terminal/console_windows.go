package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// obeys has a console obey escape sequences and reports whether it does: one before Windows 10 would show them. What
// Go writes to a console is UTF-16 to Windows, whatever its code page is.
func obeys(file *os.File) bool {
	console := windows.Handle(file.Fd())
	var mode uint32
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
