package host

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// apart keeps Ctrl-C from a child: remit answers it.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// detached gives a child no console.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
}

// endWhole ends a child with its descendants.
func endWhole(child *os.Process) error {
	below, err := descendants(uint32(child.Pid)) //nolint:gosec // a process of Windows has 32 bits
	err = errors.Join(err, child.Kill())
	for _, id := range below {
		err = errors.Join(err, terminate(id))
	}
	return err
}

// descendants are the processes that a process started, and those that they started.
func descendants(of uint32) ([]uint32, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = windows.CloseHandle(snapshot) }() // only read
	children := map[uint32][]uint32{}
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		children[entry.ParentProcessID] = append(children[entry.ParentProcessID], entry.ProcessID)
	}
	if !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return nil, err
	}
	found, seen := []uint32{}, map[uint32]bool{of: true}
	for next := []uint32{of}; len(next) > 0; next = next[1:] {
		for _, id := range children[next[0]] {
			if !seen[id] {
				seen[id] = true
				found, next = append(found, id), append(next, id)
			}
		}
	}
	return found, nil
}

// terminate ends a process that may have ended already.
func terminate(id uint32) error {
	handle, err := windows.OpenProcess(windows.PROCESS_TERMINATE, false, id)
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(windows.TerminateProcess(handle, 1), windows.CloseHandle(handle))
}
