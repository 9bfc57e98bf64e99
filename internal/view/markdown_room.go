package view

import "bytes"

// fullPage is a page for a block of code that takes so many bytes, its fence included.
type fullPage struct {
	*page
	text  bytes.Buffer
	room  int
	fence int // of the longest run of backticks so far
	shown int // transfers
}

func newFullPage(s Screen, room int) *fullPage {
	f := &fullPage{room: room}
	f.page = newPage(&f.text, s)
	return f
}

// add has one transfer written. It takes the transfer back, and returns false, where there is no room for it.
func (f *fullPage) add(write func(p *page)) bool {
	before := f.text.Len()
	write(f.page)
	_ = f.Flush() // into memory
	f.fence = max(f.fence, longestRun(f.text.String()[before:]))
	if f.text.Len()+2*f.fence > f.room {
		f.text.Truncate(before)
		return false
	}
	f.shown++
	return true
}
