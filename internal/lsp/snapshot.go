package lsp

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config"
)

// snapshot is what one check found.
type snapshot struct {
	mu      sync.Mutex // of the configurations, which are not for several goroutines
	checked []Checked
	now     time.Time // of the check
	closed  bool
	release context.CancelFunc    // of what the configurations evaluate with
	data    map[string]dataSource // by address; those of an earlier check where the newest could read none
}

// dataSource is what completion knows of a data source.
type dataSource struct {
	File    string
	Columns []string
}

// close closes the configurations. A nil snapshot has none.
func (s *snapshot) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.closed = true
	if s.release != nil {
		s.release()
	}
	for _, c := range s.checked {
		config.Close(c.Configuration)
	}
}

// with calls use with the configuration of the first environment, while nobody else uses it, and not where there is none.
func (s *snapshot) with(use func(c *config.Configuration)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && len(s.checked) > 0 {
		use(s.checked[0].Configuration)
	}
}

// hasErrors reports whether the first environment has mistakes.
func (s *snapshot) hasErrors() bool { return s.checked[0].Diagnostics.HasErrors() }

// factsOf are nil where nothing is known of a block. A nil snapshot knows nothing.
func (s *snapshot) factsOf(b *hclsyntax.Block) *config.BlockFacts {
	if s == nil || len(s.checked) == 0 || len(b.Labels) < 2 {
		return nil
	}
	return s.checked[0].Facts[addressOfBlock(b)]
}

func addressOfBlock(b *hclsyntax.Block) string { return b.Type + "." + strings.Join(b.Labels, ".") }
