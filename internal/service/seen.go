package service

import (
	"encoding/json"
	"time"

	"github.com/rs/zerolog"
)

// Seen is one request and its answer, for logs and traces. No amount, name, body or secret is
// in it.
type Seen struct {
	Token        bool   // it was for a token
	Method, Path string // Path without a query
	RefIDs       []string
	Began, Ended time.Time
	Status       int    // 0 where no answer was read
	Begun        bool   // a byte of it may have left
	Reason       string // why there is no whole answer, in words; "" where there is

	// Of a token that was answered:
	Life  time.Duration // as expires_in says; 0 where it does not
	Lacks []string      // scopes that were asked for and not granted
}

// List is one page of a lookup that was read.
type List struct {
	Asked  int  // ref_ids
	Alone  bool // each is asked for alone by now: of several, some do not reach the service
	Length int  // bytes of its address, without scheme and host
	Items  int  // records
	Others int  // of these, of ref_ids that were not asked for
	More   bool // it named a further page
}

// witness tells of single requests to a log and to a caller that watches.
type witness struct {
	log       zerolog.Logger
	watch     func(Seen)
	watchList func(List)
}

// isSeen reports whether anybody watches single requests.
func (w *witness) isSeen() bool { return w.watch != nil || w.log.GetLevel() <= zerolog.DebugLevel }

// ifSeen returns refIDs if anybody watches.
func (w *witness) ifSeen(refIDs []string) []string {
	if !w.isSeen() {
		return nil
	}
	return refIDs
}

// refIDOf returns the ref_id of a request to create if anybody watches.
func (w *witness) refIDOf(body []byte) []string {
	if !w.isSeen() {
		return nil
	}
	var request struct {
		RefID string `json:"ref_id"`
	}
	if json.Unmarshal(body, &request) != nil || request.RefID == "" {
		return nil
	}
	return []string{request.RefID}
}

// tell logs a request and shows it.
func (w *witness) tell(s Seen) {
	log := w.log.Debug().Str("method", s.Method).Str("path", s.Path)
	switch len(s.RefIDs) {
	case 0:
	case 1:
		log = log.Str("ref_id", s.RefIDs[0])
	default:
		log = log.Int("ref_ids", len(s.RefIDs))
	}
	log = log.Int("status", s.Status).Dur("took", s.Ended.Sub(s.Began))
	if s.Reason != "" {
		log = log.Bool("begun", s.Begun).Str("reason", s.Reason)
	}
	log.Msg("request")
	w.show(s)
}

// show shows a request to the watcher.
func (w *witness) show(s Seen) {
	if w.watch != nil {
		w.watch(s)
	}
}
