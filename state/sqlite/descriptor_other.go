//go:build !linux

package sqlite

import "remit/state"

// descriptor is empty here: locks of open file descriptions are Linux's, and a lock is that of the
// file beside the state alone.
type descriptor struct{}

func openDescriptor(string, bool) (*descriptor, error) { return &descriptor{}, nil }

func (*descriptor) release() error                      { return nil }
func (*descriptor) lock(int64) (bool, error)            { return true, nil }
func (*descriptor) heldFrom(int64) (int64, bool, error) { return 0, false, nil }
func (*descriptor) hasLocks(string) error               { return nil }
func (*descriptor) place(string) state.FilePlace        { return state.FilePlace{} }
