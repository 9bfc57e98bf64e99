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
	Length int  // bytes of its address, without scheme and host
	Items  int  // records
	Others int  // of these, of ref_ids that were not asked for
	More   bool // it named a further page
}

// isSeen reports whether anybody watches single requests.
func (c *Client) isSeen() bool { return c.watch != nil || c.log.GetLevel() <= zerolog.DebugLevel }

// ifSeen is refIDs where anybody watches.
func (c *Client) ifSeen(refIDs []string) []string {
	if !c.isSeen() {
		return nil
	}
	return refIDs
}

// refIDOf is the ref_id of a request to create, where anybody watches.
func (c *Client) refIDOf(body []byte) []string {
	if !c.isSeen() {
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
func (c *Client) tell(s Seen) {
	log := c.log.Debug().Str("method", s.Method).Str("path", s.Path)
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
	c.show(s)
}

// show lets who watches see a request.
func (c *Client) show(s Seen) {
	if c.watch != nil {
		c.watch(s)
	}
}
