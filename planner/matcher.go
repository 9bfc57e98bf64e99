package planner

// matcher finds the row or the change of each declared ref_id: its row, or the change that declared
// it before. While they are declared in byte order, in which rows are, it goes along both in
// one pass; from the first that is not on, it has an index.
type matcher struct {
	rows    *rows
	changes *Changes
	last    string // the ref_id before
	next    int    // the first row that is not before last
	index   *index // nil while each ref_id comes after the one before
}

// match returns the number of a row or, from rows.len() on, of a change. A ref_id that is
// not known is from now on that of the change that is added next.
func (m *matcher) match(refID string) (number int, known bool) {
	if m.index == nil && refID > m.last {
		m.last = refID
		for m.next < m.rows.len() && m.rows.refID(m.rows.at(m.next)) < refID {
			m.next++
		}
		return m.next, m.next < m.rows.len() && m.rows.refID(m.rows.at(m.next)) == refID
	}
	if m.index == nil {
		m.makeIndex()
	}
	number, known = m.index.find(refID, func(number int) bool { return m.refID(number) == refID })
	if !known {
		m.index.add(refID, m.rows.len()+m.changes.Len())
	}
	return number, known
}

func (m *matcher) makeIndex() {
	m.index = newIndex(m.rows.len() + m.changes.Len())
	for n := range m.rows.len() {
		m.index.add(m.rows.refID(m.rows.at(n)), n)
	}
	for n, c := range m.changes.All() {
		if _, isRow := m.index.find(c.RefID, func(number int) bool { return m.refID(number) == c.RefID }); !isRow {
			m.index.add(c.RefID, m.rows.len()+n)
		}
	}
}

func (m *matcher) refID(number int) string {
	if number < m.rows.len() {
		return m.rows.refID(m.rows.at(number))
	}
	return m.changes.At(number - m.rows.len()).RefID
}
