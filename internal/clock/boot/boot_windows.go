package boot

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// Clock returns a function that reads GetTickCount64, which counts milliseconds since the boot, sleep included. The
// function returns the zero Reading where the registry does not number the boot.
func Clock() func() Reading {
	host := machine()
	id := bootID()
	tick := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetTickCount64")
	return func() Reading {
		if host == "" || id == "" {
			return Reading{}
		}
		passed, _, _ := tick.Call()
		return Reading{ID: host + "-" + id, Machine: host, Up: time.Duration(passed) * time.Millisecond} //nolint:gosec // less than 292 years
	}
}

// bootID is the number that Windows gives each boot of an installation.
func bootID() string {
	const path = `SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters`
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer func() { _ = key.Close() }() // only read
	number, _, err := key.GetIntegerValue("BootId")
	if err != nil {
		return ""
	}
	return fmt.Sprint(number)
}

// machine names the installation, of which machines that were made from one image may share the ID.
func machine() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer func() { _ = key.Close() }() // only read
	id, _, err := key.GetStringValue("MachineGuid")
	host, hostErr := os.Hostname()
	if err != nil || id == "" || hostErr != nil {
		return ""
	}
	return digest(id, host)
}
