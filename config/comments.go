package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/config/rows"
)

// commentsSeen finds the rows of CSV that somebody commented out, as files of other kinds allow: they begin so, and others do not.
// Where each row begins with #, that is part of its text, as of the number of a ticket.
type commentsSeen struct {
	source  *dataSource
	isOther bool // a row does not begin so
	early   hcl.Diagnostics
}

// commentsEarlyMax bounds the rows that begin so, and are kept until another one does not.
const commentsEarlyMax = 20

// row takes the next row, which is to be made something of or is left out, and returns the mistakes that are known with it.
func (c *commentsSeen) row(r *rows.Row, isAccepted bool) hcl.Diagnostics {
	if r.Comment == "" {
		found := c.early
		c.isOther, c.early = true, nil
		return found
	}
	if what, _ := notExported(r.Comment, false); !isAccepted || what != "" {
		return nil
	}
	if c.isOther || strings.HasPrefix(r.Comment, "/") {
		return hcl.Diagnostics{c.mistake(r)}
	}
	if len(c.early) < commentsEarlyMax {
		c.early = append(c.early, c.mistake(r))
	}
	return nil
}

func (c *commentsSeen) mistake(r *rows.Row) *hcl.Diagnostic {
	mark, remedy := "#", "Delete the row."
	if strings.HasPrefix(r.Comment, "/") {
		mark = "//"
	}
	if column := r.FirstColumn(); column != "" && (c.source.where == nil || c.source.beside() != "") {
		condition := fmt.Sprintf("!startswith(%s, %q)", mistake.ColumnOf("row", column), mark)
		remedy = fmt.Sprintf("Delete the row, or leave it out of %s:\n\n  %s", c.source.address, c.source.leaving(condition))
	}
	return mistake.New(r.Whole(), "Row begins like a comment",
		"The row begins with %s. CSV has no comments, so remit would pay it as all others. Put a text that should begin so in quotation marks. %s", mark, remedy)
}
