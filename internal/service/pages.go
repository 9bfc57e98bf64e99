package service

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
)

const (
	// lookupBytesFirst bounds the path and the query of a lookup, in bytes, until one is refused as too long.
	// Stock nginx and Apache take a request line of 8 KiB, IIS an address of 4,096 bytes.
	lookupBytesFirst = 4000
	// findBarrenMax is after how many pages in a row without anything new a list has ended
	// although the service names a further page, each time by another cursor: some always do. Others cut the pages
	// before they filter, and a record may follow many empty pages: taken for absent it would be paid again.
	findBarrenMax = 50
	// findSameMax is the same of a list that had nothing yet, and names one cursor for all its pages: its service keeps the place
	// itself. After an item, one empty page ends it.
	findSameMax = 4
)

// lookupLength is how long the address of a lookup may be, and whether it may have several ref_ids. It is safe for concurrent use.
type lookupLength struct {
	refused atomic.Int64 // bytes of the shortest address that was too long; 0 for none
	alone   atomic.Bool  // of several ref_ids some do not reach the service, so that each is asked for alone
}

func (l *lookupLength) fits(target *url.URL) bool {
	most := int64(lookupBytesFirst)
	if refused := l.refused.Load(); refused > 0 {
		most = min(most, refused-1)
	}
	return int64(len(target.RequestURI())) <= most
}

// shorten remembers that an address of so many bytes is too long.
func (l *lookupLength) shorten(bytes int) {
	for {
		was := l.refused.Load()
		if was > 0 && was <= int64(bytes) || l.refused.CompareAndSwap(was, int64(bytes)) {
			return
		}
	}
}

// tooLongError says that the service, or a proxy before it, takes no address of so many bytes.
type tooLongError struct {
	text  string
	bytes int
}

// Error repeats the answer.
func (e *tooLongError) Error() string { return e.text }

// turner turns the pages of one list. A list ends at a page that names no further one. Services
// exist that always name one: theirs ends where the cursor leads back and brings nothing new, or many pages
// in a row bring nothing new. One empty page alone is no end, since some services filter after they
// have cut the pages. A page that comes again is of a service that does not know the cursor: its list may lack anything.
type turner struct {
	cursor string // of the page to read; "" for the first
	used   map[string]bool
	seen   map[[sha256.Size]byte]bool // items, this page's included
	pages  int

	brought  bool // this page has an item that is new
	repeated bool // this page has an item that came before
	any      bool // a page had an item that was new
	barren   int  // pages in a row that brought nothing new
	again    bool // the list ended with a page that came again
}

func newTurner() *turner {
	return &turner{used: make(map[string]bool), seen: make(map[[sha256.Size]byte]bool)}
}

// isNew reports whether an item of the page did not come before, byte for byte.
func (t *turner) isNew(item []byte) bool {
	sum := sha256.Sum256(item)
	if t.seen[sum] {
		t.repeated = true
		return false
	}
	t.seen[sum], t.brought = true, true
	return true
}

// turn goes on to the page with the cursor next and reports whether there is none. The error says
// that the list has no end, so that nobody knows what it holds.
func (t *turner) turn(next string) (isLast bool, err error) {
	t.pages++
	t.barren++
	if t.brought {
		t.barren, t.brought, t.any = 0, false, true
	}
	repeated := t.repeated && t.barren > 0
	t.repeated = false
	t.used[t.cursor] = true
	leadsBack := t.used[next]
	isOver := t.any || next != t.cursor || t.barren == findSameMax
	switch {
	case next == "":
		return true, nil
	case t.barren == findBarrenMax, t.barren > 0 && leadsBack && isOver:
		t.again = repeated
		return true, nil
	case leadsBack && next != t.cursor: // one cursor for all pages is some services' way
		return false, errors.New("the service's next_page_cursor leads back to an earlier page")
	case t.pages == findPagesMax:
		return false, fmt.Errorf("the service answered more than %d pages", findPagesMax)
	}
	t.cursor = next
	return false, nil
}
