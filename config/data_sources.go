package config

// DataSource is what a configuration says of a data block, and its file of itself.
type DataSource struct {
	Address string   // such as data.csv.payroll
	File    string   // relative to the directory, with slashes; "" where it has a mistake
	Key     string   // the column by whose text a row is known
	Columns []string // in the order of the file; nil where its header could not be read
	Place   Place    // of the block
}

// DataSources are those of a configuration, in declaration order; where it has mistakes, as far as they go.
func DataSources(c *Configuration) []DataSource {
	if c.scope == nil {
		return nil
	}
	var all []DataSource
	for _, n := range c.scope.InOrder {
		if d := c.data[n]; d != nil {
			all = append(all, DataSource{Address: d.address, File: d.file.Name, Key: d.file.Key, Columns: d.columns, Place: placeOf(d.block.At)})
		}
	}
	return all
}
