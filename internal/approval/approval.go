// Package approval decides whether enough people signed a saved plan.
//
// Its one invariant: a plan for which a rule wants n approvers moves only where the exact bytes
// of its file were signed by n people whom an allowed_signers or an allowed_passkeys file knows and of whom none is
// its author. The author can't be known unless they sign themselves; where they didn't, n+1 people are needed, so
// that at least n of them are somebody else. Either way n+1 people signed the bytes, or n and a key that the bytes
// name as their author's.
//
// It is pure: bytes and a time in, a verdict out.
package approval

// Namespace is what the signatures are made for: ssh-keygen -Y sign -n remit-plan. A signature
// for anything else counts for nothing here, nor does one from here elsewhere.
const Namespace = "remit-plan"

// Bounds of read files.
const (
	SignatureBytesMax = 64 << 10 // of one file
	SignaturesMax     = 1000     // files beside one plan
	SignersBytesMax   = 1 << 20  // of a file of keys: allowed_signers, allowed_passkeys, or those that are revoked
)

// Mistake is one in a line of a file.
type Mistake struct {
	Line int // counted from 1; 0 where it is of the whole file
	Text string
}
