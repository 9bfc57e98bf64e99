package lsp

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/mistake"
	"remit/config/syntax"
)

// kindRewrite is what the protocol calls a change that no mistake asks for.
const kindRewrite = "refactor.rewrite"

// rewrites offer arguments of a transfer block that no mistake of a check names, because a plan alone would: the name of the payee,
// which a reviewer misses, and the consent to pay the same again. A check reads no state, so it knows the other declarations only.
type rewrites struct{ sources *sources }

func (f rewrites) offered(d *document, p *actionParams) []codeActionItem {
	only := p.Context.Only
	if len(only) > 0 && !slices.ContainsFunc(only, func(kind string) bool { return strings.HasPrefix(kindRewrite+".", kind+".") }) {
		return nil
	}
	offset := d.offset(p.Range.Start)
	at := pointedAt(f.sources.outline(d), offset)
	if len(at.blocks) == 0 || at.blocks[0].Type != "transfer" || len(at.blocks[0].Labels) < 2 {
		return nil
	}
	block := at.blocks[0]
	offset = at.start + block.OpenBraceRange.End.Byte // in the block, and in none of its own
	var actions []codeActionItem
	offer := func(name, value, why string) {
		if value == "" || block.Body.Attributes[name] != nil {
			return
		}
		edits, title := remedied(f.sources, d, offset, name, value)
		for _, item := range appendActionTo(nil, d.uri, diagnostic{}, title+why, edits) {
			item.Kind, item.Diagnostics = kindRewrite, nil
			actions = append(actions, item)
		}
	}
	offer("display_name", f.nameColumn(d, block), "")
	offer("accept_duplicate_of", f.twinsOf(d, offset, block), ", which pays the same again")
	return actions
}

// nameColumns are what columns are called that say who gets the money, the likeliest first.
var nameColumns = []string{"display_name", "name", "full_name", "employee_name", "recipient_name", "payee_name", "beneficiary_name", "recipient", "payee", "beneficiary"}

// stepsOfRows is how many steps data.TYPE.NAME.rows has.
const stepsOfRows = 4

// nameColumn is the column of the rows of a block that says who gets the money; "" where it has none.
func (f rewrites) nameColumn(d *document, block *hclsyntax.Block) string {
	forEach := block.Body.Attributes["for_each"]
	if forEach == nil || block.Body.Attributes["to"] != nil { // a profile has a name of its own
		return ""
	}
	path := syntax.Traversal(forEach.Expr)
	if len(path) != stepsOfRows || path.RootName() != "data" {
		return ""
	}
	kind, isKind := stepName(path[1])
	name, isName := stepName(path[2])
	if !isKind || !isName {
		return ""
	}
	snapshot, _ := f.sources.checks.snapshotOf(d.path)
	if snapshot == nil {
		return ""
	}
	columns := snapshot.data["data."+kind+"."+name].Columns
	for _, name := range nameColumns {
		for _, column := range columns {
			if strings.ToLower(strings.ReplaceAll(column, " ", "_")) == name {
				return mistake.ColumnOf("each.value", column)
			}
		}
	}
	return ""
}

// movementArguments make two transfers look alike, if they are the same in both.
var movementArguments = []string{
	"amount", "asset", "from", "from_profile_id", "from_identity_id", "from_account_id", "to", "to_profile_id", "to_identity_id", "to_account_id",
}

// twinsOf are the ref_ids of the other blocks of the directory that are written to make the same movement, and of which none accepts this
// one; "" where there is none.
func (f rewrites) twinsOf(d *document, offset int, block *hclsyntax.Block) string {
	own, ok := refIDOf(block)
	if !ok {
		return ""
	}
	of := textsIn(f.sources.outline(d).at(offset).tree.text, block)
	var twins []string
	for _, source := range f.sources.of(d.path) {
		for _, c := range source.outline.chunks {
			for _, other := range c.tree.body.Blocks {
				id, ok := refIDOf(other)
				if !ok || id == own || other.Labels[0] != block.Labels[0] || !slices.Equal(textsIn(c.tree.text, other), of) {
					continue
				}
				if a := other.Body.Attributes["accept_duplicate_of"]; a != nil && strings.Contains(c.tree.text[a.SrcRange.Start.Byte:a.SrcRange.End.Byte], quoted(own)) {
					return ""
				}
				twins = append(twins, quoted(id))
			}
		}
	}
	switch len(twins) {
	case 0:
		return ""
	case 1:
		return twins[0]
	}
	return "[" + strings.Join(twins, ", ") + "]"
}

// refIDOf is the ref_id of a block that is one transfer, and false of any other block, or where the ref_id is computed.
func refIDOf(b *hclsyntax.Block) (string, bool) {
	if b.Type != "transfer" || len(b.Labels) < 2 || b.Body == nil || b.Body.Attributes["for_each"] != nil {
		return "", false
	}
	a := b.Body.Attributes["ref_id"]
	if a == nil {
		return b.Labels[1], true
	}
	value, isText := syntax.LiteralText(a.Expr)
	if !isText {
		return "", false
	}
	return value.AsString(), true
}

// textsIn are the movement of a block, as the piece writes it that has the block.
func textsIn(text string, b *hclsyntax.Block) []string {
	texts := make([]string, len(movementArguments))
	for i, name := range movementArguments {
		if a := b.Body.Attributes[name]; a != nil {
			r := a.Expr.Range()
			texts[i] = text[r.Start.Byte:r.End.Byte]
		}
	}
	return texts
}
