// Package access asks the system who may do what with a file.
//
// Its one invariant: what it can't find out counts as a stranger's, where it is asked whose something is.
package access
