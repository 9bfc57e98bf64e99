package functions

import "math/big"

// Allocate lets a test split more often than the language could be asked in the same time.
func Allocate(units *big.Int, weights []*big.Int) []*big.Int { return allocate(units, weights) }
