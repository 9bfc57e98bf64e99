package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
)

// overrideData makes data sources read the files of [Options.DataFiles].
func (l *loader) overrideData() {
	for _, over := range l.config.options.DataFiles {
		n := l.config.scope.Nodes["data"][strings.TrimPrefix(over.Address, "data.")]
		if n == nil {
			var names []string
			for _, name := range l.config.scope.Names("data") {
				names = append(names, "data."+name)
			}
			l.report(mistake.New(over.At, "Unknown data source", "%s is not declared.%s", over.Address, mistake.DidYouMean(over.Address, names)))
			continue
		}
		l.config.data[n].override = &over
	}
}

// namedFile is the file that the data source reads, and where it is named.
func (d *dataSource) namedFile(r *eval.Reader) (string, hcl.Range) {
	file, a := r.Required("file")
	if d.override != nil {
		return d.override.File, d.override.At
	}
	if a == nil {
		return "", d.block.At
	}
	return file, a.Expr.Range()
}
