package terminal

import (
	"fmt"

	"github.com/rs/zerolog"
)

// Log writes what REMIT_LOG asks for to stderr; without it, nothing. Each line of an apply has
// its run.
func (s *Streams) Log(runID string) (zerolog.Logger, error) {
	name := s.getenv("REMIT_LOG")
	if name == "" {
		return zerolog.Nop(), nil
	}
	level, err := zerolog.ParseLevel(name)
	if err != nil || level == zerolog.NoLevel {
		return zerolog.Nop(), fmt.Errorf("REMIT_LOG is %q; it takes trace, debug, info, warn or error", name)
	}
	log := zerolog.New(s.Err).Level(level).With().Timestamp()
	if runID != "" {
		log = log.Str("run", runID)
	}
	return log.Logger(), nil
}
