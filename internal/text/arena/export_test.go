package arena

// HashBy has keys have other hashes.
func (m *Map) HashBy(hash func(key string) uint64) { m.hash = hash }
