package service

import (
	"sync"

	"remit/executor"
)

// tokenUses counts the requests that had a token. Where a service refuses a token that it had taken for another request,
// it may not be the client that it refuses.
type tokenUses struct {
	mu       sync.Mutex
	taken    map[string]bool // guarded by mu; paths of requests for which the service took the token
	underWay int             // guarded by mu; requests without an answer yet
}

func newTokenUses() *tokenUses { return &tokenUses{taken: make(map[string]bool)} }

// begin counts a request. The caller calls end with its outcome.
func (u *tokenUses) begin() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.underWay++
}

func (u *tokenUses) end(path string, taken bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.underWay--
	if taken {
		u.taken[path] = true
	}
}

// of says for what the service had taken the token before it refused it for a path.
func (u *tokenUses) of(path string) executor.TokenUse {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.taken[path]:
		return executor.TokenUsed
	case u.underWay > 0 || len(u.taken) > 0:
		return executor.TokenPerhapsUsed
	}
	return executor.TokenUnused
}
