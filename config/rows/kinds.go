package rows

func (CSV) kind() string     { return "csv" }
func (JSON) kind() string    { return "json" }
func (XLSX) kind() string    { return kindXLSX }
func (Pain001) kind() string { return kindPain001 }
