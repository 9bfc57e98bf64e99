package service

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"remit/internal/text/lazyregexp"
)

const (
	// ageMax is how old a list may be: lists lag by as much without a cache.
	ageMax = 5 * time.Second
	// dateApartMax is how far the Date of an answer may be from the service's time as remit knows it: five minutes for each of
	// the two clocks.
	dateApartMax = 10 * time.Minute
)

// serviceTime knows the time at the service from its last token. It is safe for concurrent use.
type serviceTime struct {
	now func() time.Time

	mu    sync.Mutex
	date  time.Time // guarded by mu; of the token's answer, zero where none had one
	since stopwatch // guarded by mu; since that answer
}

// learn keeps the Date of a token's answer; a zero one says nothing.
func (s *serviceTime) learn(date time.Time, since stopwatch) {
	if date.IsZero() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.date, s.since = date, since
}

// read returns the time at the service; the local one where no token said what that was.
func (s *serviceTime) read() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.date.IsZero() {
		return s.now()
	}
	return s.date.Add(s.since.passed())
}

// answeredAt returns when the service made an answer, by its Date; zero where none can be believed: a store in between, or the
// service itself, may give an answer again as it was, with the Date of then.
func (s *serviceTime) answeredAt(h http.Header) time.Time {
	date := dateOf(h)
	if date.IsZero() || checkAge(h) != nil || checkCache(h) != nil || s.read().Sub(date).Abs() > dateApartMax {
		return time.Time{}
	}
	return date
}

// checkFresh returns an error where an answer is of an earlier time, as its Age or its Date says. An old
// list says nothing of the time since.
func (s *serviceTime) checkFresh(h http.Header) error {
	if err := cmp.Or(checkAge(h), checkCache(h)); err != nil {
		return err
	}
	date := dateOf(h)
	if late := s.read().Sub(date); !date.IsZero() && late > dateApartMax {
		return fmt.Errorf("the answer's Date, %s, is %s ago: a cache between remit and the service gave an old answer again, or a clock is wrong",
			date.UTC().Format(time.RFC3339), late.Round(time.Second))
	}
	return nil
}

// cacheHits find, by the name of a header, the words of a cache that gave an answer without a question to the service; see RFC 9211
// for the first.
var cacheHits = map[string]*lazyregexp.Regexp{
	"Cache-Status": lazyregexp.New(`(?i);\s*hit\s*(;|,|=\s*\?1|$)`),
	"X-Cache":      cacheHit, "X-Cache-Status": cacheHit, "X-Proxy-Cache": cacheHit, "CF-Cache-Status": cacheHit, "X-Nginx-Cache": cacheHit,
	"Akamai-Cache-Status": cacheHit, "X-Vercel-Cache": cacheHit, "X-Litespeed-Cache": cacheHit, "X-Drupal-Cache": cacheHit,
}

var cacheHit = lazyregexp.New(`(?i)(^|,)\s*(tcp_(mem_|disk_|ims_|inmem_)?)?(hit|stale|updating)(,|;|\s|$)`)

// staleWarning finds the codes 110 to 112 at the begin of a warning, of which one header has several.
var staleWarning = lazyregexp.New(`(?:^|,)\s*11[012]\s`)

// checkCache returns an error where an answer without an Age says that a cache gave it.
func checkCache(h http.Header) error {
	for _, text := range h.Values("Warning") { // RFC 9111, section 5.5, has removed them, and stores still write them
		if staleWarning.MatchString(text) {
			return fmt.Errorf("the answer has the Warning %q%s", visible(text), byCache)
		}
	}
	if h.Get("Age") != "" {
		return nil
	}
	for name, hit := range cacheHits {
		if text := strings.Join(h.Values(name), ", "); hit.MatchString(text) {
			return fmt.Errorf("the answer has the %s %q and no Age, so that nobody knows when it was made%s", name, visible(text), byCache)
		}
	}
	return nil
}

// checkAge returns an error where a cache gave an answer that was made more than [ageMax] ago (RFC 9111, section 5.1). An
// Age that cannot be read says that a cache gave it, and not when it was made.
func checkAge(h http.Header) error {
	for _, text := range h.Values("Age") {
		seconds, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
		age := time.Duration(seconds) * time.Second
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("the answer was made more than %s ago%s", age, byCache)
		case err != nil:
			return fmt.Errorf("the answer has an Age that cannot be read, %q: it was made earlier, nobody knows when%s", text, byCache)
		case age > ageMax:
			return fmt.Errorf("the answer was made %s ago%s", age, byCache)
		}
	}
	return nil
}

const byCache = "; a cache between remit and the service gave it, although it was asked not to"
