package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/shopspring/decimal"

	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// doubtOfHeader warns where the column of the amounts says another currency than the block. It is asked for the first row of a block.
func doubtOfHeader(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	amount, asset := block.fields["amount"], block.fields["asset"]
	if in.row == nil || in.row.source == nil || amount == nil || amount.column == "" || asset == nil || !asset.constant {
		return nil
	}
	header := in.row.source.file.HeaderOf(amount.column)
	code := currencyOf(header)
	if spelled := transfer.AssetSpelled(t.Request.Asset); code == "" || code == spelled || code == block.configured.currencies[spelled] {
		return nil
	}
	d := mistake.Warning(asset.Expr.Range(), otherHeader,
		"The amounts come from the column %q, and the asset is %q. %s",
		header, t.Request.Asset, block.configured.meantCurrency(t.Request.Asset, code, fmt.Sprintf("Write the one that is meant, or call the column by another name:\n\n  asset = %q", code)))
	d.Extra = &mistake.Origin{Block: t.Block, Column: "asset", Reason: d.Summary}
	return hcl.Diagnostics{d}
}

// rowCurrencies compares the asset of each row with the currency that its file says. The zero value is ready for use.
type rowCurrencies struct {
	block    *transferBlock
	amounts  []string            // columns of which the amount is made
	beside   bool                // the text beside an amount is compared
	columns  []string            // that are called as that of the currency is, and that nobody looks at
	known    map[string][]string // the currencies of texts
	warnings hcl.Diagnostics     // of the row that was checked last
}

// knownCurrencies bounds how many texts are kept with their currencies.
const knownCurrencies = 1000

// begin looks at what the rows of a block have.
func (c *rowCurrencies) begin(block *transferBlock, in instance) {
	*c = rowCurrencies{block: block, known: map[string][]string{}}
	amount, asset := block.fields["amount"], block.fields["asset"]
	if amount == nil || asset == nil {
		return
	}
	columns, headerOf := in.columns(), func(column string) string { return column }
	looked := slices.Concat(amount.Refs.Columns, asset.Refs.Columns)
	for _, p := range block.preconditions {
		looked = slices.Concat(looked, p.condition.Refs.Columns)
	}
	ownCurrency := "" // the column of the text beside an amount
	if in.row != nil && in.row.source != nil {
		headerOf, c.beside = in.row.source.file.HeaderOf, true
		if in.row.source.kind.name == "pain001" {
			ownCurrency = "currency"
			c.beside = !slices.Contains(asset.Refs.Columns, ownCurrency) && !slices.Contains(asset.Refs.Columns, "")
		}
	}
	if in.element != nil {
		c.beside = slices.ContainsFunc(block.held, func(d *dataSource) bool { return d.currencies != nil })
	}
	for _, column := range columns {
		if slices.Contains(amount.Refs.Columns, column) || slices.Contains(amount.Refs.Columns, "") {
			c.amounts = append(c.amounts, column)
		}
		isLookedAt := slices.Contains(looked, column) || slices.Contains(looked, "")
		if asset.constant && !isLookedAt && column != ownCurrency && isCurrencyHeader(headerOf(column)) {
			c.columns = append(c.columns, column)
		}
	}
}

// check refuses a row that pays its amount in another currency than the file says. It warns of one that may be right.
func (c *rowCurrencies) check(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	c.warnings = nil
	if in.row == nil && in.element == nil {
		return nil
	}
	if c.block != block {
		c.begin(block, in)
	}
	if !c.isOther(block, in, t.Request.Asset) {
		return nil
	}
	amount := c.amountOf(block, in, t)
	if amount == "" {
		return nil // it is converted, or made of several
	}
	if d := c.besideAmount(block, in, t, amount); d != nil {
		if d.Severity == hcl.DiagError {
			return hcl.Diagnostics{d}
		}
		c.warnings = append(c.warnings, d)
	}
	for _, column := range c.columns {
		if d := c.inColumn(block, in, t, column); d != nil {
			c.warnings = append(c.warnings, d)
		}
	}
	return nil
}

// isOther reports whether the row says another currency than the asset anywhere.
func (c *rowCurrencies) isOther(block *transferBlock, in instance, asset string) bool {
	for _, column := range c.columns {
		if len(c.other(in.textOf(column), asset)) > 0 {
			return true
		}
	}
	return c.beside && slices.ContainsFunc(c.amounts, func(column string) bool {
		text, _ := in.besideColumn(block, column)
		return text != "" && len(c.other(text, asset)) > 0
	})
}

// amountOf is the column that has the amount of a transfer, perhaps with more decimals; "" for none.
func (c *rowCurrencies) amountOf(block *transferBlock, in instance, t *Transfer) string {
	if len(c.amounts) == 1 && syntax.Traversal(block.fields["amount"].Expr) != nil {
		return c.amounts[0]
	}
	for _, column := range c.amounts {
		cell, err := transfer.ParseAmount(strings.TrimSpace(in.textOf(column)))
		if err != nil {
			continue
		}
		rest := cell.Decimal().Sub(t.Request.Amount.Decimal()).Abs()
		if rest.IsZero() || cell.ScaleWritten() > t.Request.Amount.ScaleWritten() && rest.LessThan(decimal.New(1, -int32(t.Request.Amount.ScaleWritten()))) {
			return column
		}
	}
	return ""
}

// other are the currencies of which a text says one, where the asset is none of them; none where it may be one. A sign of several
// currencies says nothing against an asset that is no currency.
func (c *rowCurrencies) other(text, asset string) []string {
	codes, isKnown := c.known[text]
	if !isKnown {
		codes = currenciesIn(text)
		if len(c.known) < knownCurrencies {
			c.known[strings.Clone(text)] = codes
		}
	}
	switch {
	case len(codes) == 0, slices.Contains(codes, transfer.AssetSpelled(asset)), len(codes) > 1 && !isCurrency(asset):
		return nil
	case slices.Contains(codes, c.block.configured.currencies[transfer.AssetSpelled(asset)]), writtenReference(asset) != "": // which is told already
		return nil
	}
	return codes
}

// besideAmount tells that another currency than the asset stands beside the amount. It is a mistake where both are known for sure: the
// asset is written in the block, and is a currency itself. Many programs show the dollar sign for other currencies, and an element of
// for_each may have the key and the amount of a row by chance.
func (c *rowCurrencies) besideAmount(block *transferBlock, in instance, t *Transfer, amount string) *hcl.Diagnostic {
	if !c.beside {
		return nil
	}
	text, source := in.besideColumn(block, amount)
	asset := t.Request.Asset
	codes := c.other(text, asset)
	if len(codes) == 0 {
		return nil
	}
	isFixed := block.fields["asset"].constant
	tell := mistake.Warning
	if isFixed && in.row != nil && isCurrency(asset) && !isDollarSign(codes) {
		tell = mistake.New
	}
	remedy, right := currencyRemedy(source, amount), fmt.Sprintf("%q", codes[0])
	if source.kind.name == "pain001" {
		right = "each.value.currency"
	}
	what := fmt.Sprintf("Correct the one that is wrong: the asset, or the file. There, %s.", remedy)
	if isFixed {
		what = fmt.Sprintf("Write the asset that is meant:\n\n  asset = %s\n\nIf the amount is in %s, correct the file: %s.", right, asset, remedy)
	}
	d := tell(placeOfDoubt(block, in, "amount"), otherAmount,
		"%s has %q with the amount %s, and the asset is %q. %s", source.file.Name, text, t.Request.Amount, asset, block.configured.meantCurrency(asset, codes[0], what))
	d.Extra = &mistake.Origin{Block: t.Block, Column: "amount", Reason: text + " " + asset}
	return d
}

// currencyRemedy says what to correct in a file that has a wrong currency beside its amounts.
func currencyRemedy(source *dataSource, column string) string {
	switch {
	case source.kind.name == "pain001":
		return "have it written anew with the right Ccy"
	case source.file.Formats[column] != nil && source.file.Formats[column].Currency() != "":
		return "have its amounts written with the right currency, and say that in number_format"
	}
	return "give the cell another number format"
}

// inColumn warns of a column of currencies that says another one than the asset, which the block has for all its rows.
func (c *rowCurrencies) inColumn(block *transferBlock, in instance, t *Transfer, column string) *hcl.Diagnostic {
	text, asset := in.textOf(column), t.Request.Asset
	codes := c.other(text, asset)
	if len(codes) == 0 {
		return nil
	}
	from := mistake.ColumnOf("each.value", column)
	meant := from
	switch {
	case !isCurrency(asset):
		meant = fmt.Sprintf("%s == %s ? %s : %[1]s", from, mistake.QuotedHCL(text), mistake.QuotedHCL(asset))
	case !strings.EqualFold(text, codes[0]):
		meant = fmt.Sprintf("%s == %s ? %q : %[1]s", from, mistake.QuotedHCL(text), codes[0])
	}
	leave := ""
	if in.row != nil && in.row.source != nil && isCurrency(asset) {
		leave = fmt.Sprintf("\n\nIf the block is for %s alone, leave the other rows out:\n\n  %s", asset,
			in.row.source.leaving(mistake.ColumnOf("row", column)+" != "+mistake.QuotedHCL(text)))
	}
	d := mistake.Warning(placeOfDoubt(block, in, "amount"), otherColumn,
		"The column %q says %q, and the block has the asset %q for each row. %s",
		column, text, asset, block.configured.meantCurrency(asset, codes[0], fmt.Sprintf("Take it from the column:\n\n  asset = %s%s", meant, leave)))
	d.Extra = &mistake.Origin{Block: t.Block, Column: column, Reason: text + " " + asset}
	return d
}

// meantCurrency says before a remedy how an asset that is no currency is paid where a file says one.
func (c *configured) meantCurrency(asset, code, remedy string) string {
	if isCurrency(asset) {
		return remedy
	}
	remedy = "If not, " + lowerFirst(remedy)
	line := fmt.Sprintf("  currency = %q", code)
	if _, isDeclared := c.assets[transfer.AssetSpelled(asset)]; isDeclared {
		return fmt.Sprintf("If %s is paid where the file says %s, say so in asset %s:\n\n%s\n\n%s", asset, code, mistake.QuotedHCL(asset), line, remedy)
	}
	scale, _ := transfer.CurrencyScale(code)
	return fmt.Sprintf("If %s is paid where the file says %s, say so:\n\n  asset %s {\n    scale    = %d\n  %s\n  }\n\n%s", asset, code, mistake.QuotedHCL(asset), scale, line, remedy)
}

// besideColumn is what the file has beside the number of a column, and of which data source that is; "" for nothing. An element is
// taken for the row of its key.
func (in instance) besideColumn(block *transferBlock, column string) (string, *dataSource) {
	if in.row != nil {
		return in.row.Beside(columnIndex(in.row, column)), in.row.source
	}
	for _, d := range block.held {
		if text := d.currencies[column][in.element.key]; text != "" {
			return text, d
		}
	}
	return "", nil
}

// columns are the columns of the row, or the attributes of the element.
func (in instance) columns() []string {
	if in.row != nil {
		return in.row.Table.Columns
	}
	if ty := in.element.value.Type(); ty.IsObjectType() && !in.element.value.IsNull() {
		return slices.Sorted(maps.Keys(ty.AttributeTypes()))
	}
	return nil
}

// textOf is the text of a column of the row, or of an attribute of the element; "" where that is no text.
func (in instance) textOf(column string) string {
	if in.row != nil {
		return in.row.Text(columnIndex(in.row, column))
	}
	value := in.element.value
	if ty := value.Type(); !ty.IsObjectType() || value.IsNull() || !ty.HasAttribute(column) {
		return ""
	}
	value = value.GetAttr(column)
	if !syntax.IsText(value) {
		return ""
	}
	return value.AsString()
}

// lowerFirst is a sentence that goes on after a comma.
func lowerFirst(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }
