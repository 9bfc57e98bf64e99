package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"remit/config/eval"
	"remit/config/functions"
	"remit/config/syntax"
)

// The naming of a transfer is how its ref_id is made: the words of the configuration without
// what variables, data files and other files give. A ref_id that changes while its naming does
// not was changed by a new period or a new file; one that changes with its naming is the same
// transfer under another name, or may be.

// NamingWritten is the naming of a ref_id that its block has as it is: its words are the ref_id
// itself.
const NamingWritten = "written"

// namingMax bounds the bytes of [Transfer.Naming]; a longer one ends with the SHA-256 of all
// of it. inlineMax bounds what a local or an attribute contributes to the expressions
// that name it.
const (
	namingMax = 320
	inlineMax = 4096
)

// naming is how the ref_ids of one block are made.
type naming struct {
	words string
	// written says that the elements of for_each are in the configuration, so that their
	// keys are its words as much as a label is.
	written bool
	key     bool     // ref_id names each.key, or all of each.value
	value   bool     // ref_id names all of each.value
	columns []string // attributes of each.value that ref_id names
}

// readNaming finds how the ref_ids of t are made, before any is. It leaves a label, and a
// ref_id that is written as it is, for what they are.
func readNaming(s *eval.Scope, data map[*eval.Node]*dataSource, t *transferBlock) {
	f := t.fields["ref_id"]
	if f == nil || f.broken || t.broken {
		return
	}
	if _, isText := syntax.LiteralText(f.Expr); isText {
		return
	}
	w := newNamingWriter(s, data)
	text := w.text(f.Expr, nil)
	if isPlainText(text) {
		return
	}
	n := &naming{words: "ref_id = " + text, key: f.Refs.Key}
	for _, column := range slices.Compact(slices.Sorted(slices.Values(f.Refs.Columns))) {
		if column == "" {
			n.key, n.value = true, true
		} else {
			n.columns = append(n.columns, column)
		}
	}
	switch forEach := t.block.Arguments["for_each"]; {
	case forEach == nil || !f.Refs.Each:
	case t.data != nil:
		if n.key {
			n.words += ", key = " + quoted(t.data.file.Key)
			w.names[t.data.file.Key] = true
		}
		w.data = append(w.data, t.data)
	case isWrittenOut(forEach.Refs, forEach.Expr):
		n.written = true
	default:
		n.words += ", for_each = " + w.keys(forEach.Expr, len(f.Refs.Columns) > 0)
	}
	n.words = bounded(n.words + w.columns())
	t.naming = n
}

// nameOf is the naming of a transfer of t, and of one element of its for_each where that has a
// naming of its own.
func (t *transferBlock) nameOf(fromLabel bool, of *element) string {
	n := t.naming
	switch {
	case fromLabel:
		return ""
	case n == nil:
		return NamingWritten
	case !n.written || of == nil:
		return n.words
	}
	words := n.words
	if n.key {
		words += ", each.key = " + quoted(of.key)
	}
	if text := elementText(of.value); n.value && text != "" && text != quoted(of.key) {
		words += ", each.value = " + text
	}
	for _, name := range n.columns {
		ty := of.value.Type()
		if !ty.IsObjectType() || !ty.HasAttribute(name) {
			continue // a value without attributes is known by its key
		}
		if text := elementText(of.value.GetAttr(name)); text != "" {
			words += ", each.value." + name + " = " + text
		}
	}
	return bounded(words)
}

// elementText is a value of a written element as a naming has it; "" where a naming may not have
// it, because a part of it is a secret, or is no text that could make a ref_id.
func elementText(value cty.Value) string {
	value, _ = unmoved(value)
	if value.ContainsMarked() {
		return ""
	}
	if syntax.IsText(value) {
		return quoted(value.AsString())
	}
	text, err := ctyjson.Marshal(value, value.Type())
	if err != nil {
		return "" // it is a window or a calendar
	}
	return string(text)
}

// bounded cuts a text that is too long and adds the digest of all of it.
func bounded(text string) string {
	if len(text) <= namingMax {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	end := namingMax - len(namingCut) - 2*len(sum)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + namingCut + hex.EncodeToString(sum[:])
}

// namingCut stands before the digest of a naming that was cut.
const namingCut = " … sha256:"

// IsCutNaming reports whether a [Transfer.Naming] lacks a part of the words.
func IsCutNaming(naming string) bool {
	at := len(naming) - len(namingCut) - 2*sha256.Size
	return at > 0 && strings.HasPrefix(naming[at:], namingCut)
}

// quoted is text as a literal of the language.
func quoted(text string) string { return `"` + literal(text) + `"` }

// literal is text between quotation marks, with nothing invisible in it.
func literal(text string) string {
	text = strconv.Quote(text)
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(text[1 : len(text)-1])
}

// namingWriter writes expressions in one form, whatever their layout, comments, parentheses and
// syntax are, with each local replaced by what it says: a value that is moved to a local, or
// called otherwise there, changes nothing. So it is with the attributes of profiles, batches and
// schedules.
type namingWriter struct {
	scope   *eval.Scope
	sources map[*eval.Node]*dataSource
	inlined map[inlining]string
	names   map[string]bool // attributes that were named anywhere
	data    []*dataSource   // that were named
	// taken says that the elements of the expression become those of for_each: which of them
	// there are names none of them.
	taken bool
}

// inlining is an expression that was written in the place of its name.
type inlining struct {
	expr  hclsyntax.Expression
	taken bool
}

func newNamingWriter(s *eval.Scope, sources map[*eval.Node]*dataSource) *namingWriter {
	return &namingWriter{scope: s, sources: sources, inlined: make(map[inlining]string), names: make(map[string]bool)}
}

// elements is the text of an expression whose elements become those of for_each, and single that
// of one that is looked into.
func (w *namingWriter) elements(expr hclsyntax.Expression, b bound) string {
	return w.as(true, expr, b)
}

func (w *namingWriter) single(expr hclsyntax.Expression, b bound) string { return w.as(false, expr, b) }

func (w *namingWriter) as(taken bool, expr hclsyntax.Expression, b bound) string {
	before := w.taken
	w.taken = taken
	text := w.text(expr, b)
	w.taken = before
	return text
}

// bound are the names that for expressions around an expression give their elements, the
// innermost last. Their own names are nobody's words.
type bound []string

func (b bound) find(name string) (string, bool) {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] == name {
			return "$" + strconv.Itoa(i), true
		}
	}
	return "", false
}

// text is an expression in its one form.
func (w *namingWriter) text(expr hclsyntax.Expression, b bound) string {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.LiteralValueExpr:
		return w.value(e.Val)
	case *hclsyntax.TemplateExpr:
		if len(e.Parts) == 1 {
			return w.text(e.Parts[0], b)
		}
		return `"` + w.template(e.Parts, b) + `"`
	case *hclsyntax.TemplateJoinExpr:
		return "join(" + w.text(e.Tuple, b) + ")"
	case *hclsyntax.ScopeTraversalExpr:
		return w.traversal(e.Traversal, b)
	case *hclsyntax.RelativeTraversalExpr:
		if text, ok := w.picked(e, b); ok {
			return text
		}
		return w.text(e.Source, b) + w.steps(e.Traversal)
	case *hclsyntax.FunctionCallExpr:
		end := ")"
		if e.ExpandFinal {
			end = "...)"
		}
		return e.Name + "(" + w.list(e.Args, b) + end
	case *hclsyntax.ConditionalExpr:
		return "(" + w.text(e.Condition, b) + " ? " + w.text(e.TrueResult, b) + " : " + w.text(e.FalseResult, b) + ")"
	case *hclsyntax.BinaryOpExpr:
		return "(" + w.text(e.LHS, b) + " " + operators()[e.Op] + " " + w.text(e.RHS, b) + ")"
	case *hclsyntax.UnaryOpExpr:
		return operators()[e.Op] + w.text(e.Val, b)
	case *hclsyntax.IndexExpr:
		return w.single(e.Collection, b) + "[" + w.single(e.Key, b) + "]"
	case *hclsyntax.SplatExpr:
		return w.text(e.Source, b) + "[*]" + strings.TrimPrefix(w.text(e.Each, b), splatItem)
	case *hclsyntax.AnonSymbolExpr:
		return splatItem
	case *hclsyntax.TupleConsExpr:
		return "[" + w.list(e.Exprs, b) + "]"
	case *hclsyntax.ObjectConsExpr:
		return "{" + strings.Join(w.items(e, b), ", ") + "}"
	case *hclsyntax.ObjectConsKeyExpr:
		if name, ok := syntax.LiteralKey(e); ok {
			return quoted(name)
		}
		return "(" + w.text(e.Wrapped, b) + ")"
	case *hclsyntax.ForExpr:
		return w.forExpr(e, b)
	}
	panic(fmt.Sprintf("an expression of type %T was read", expr))
}

// splatItem stands for the element in the part after [*].
const splatItem = "@"

func (w *namingWriter) value(v cty.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.Type() == cty.String:
		return quoted(v.AsString())
	case v.Type() == cty.Number:
		return v.AsBigFloat().Text('g', -1)
	case v.Type() == cty.Bool:
		return strconv.FormatBool(v.True())
	}
	return fmt.Sprintf("%#v", v)
}

// template is the text between the quotation marks: an interpolated text is part of it.
func (w *namingWriter) template(parts []hclsyntax.Expression, b bound) string {
	var all strings.Builder
	for _, part := range parts {
		text := w.text(part, b)
		if syntax.IsOneTemplate(text) {
			all.WriteString(text[1 : len(text)-1])
		} else {
			all.WriteString("${" + text + "}")
		}
	}
	return all.String()
}

// isPlainText reports whether a text in its one form is a literal.
func isPlainText(text string) bool {
	return syntax.IsOneTemplate(text) && !strings.Contains(strings.ReplaceAll(text, "$${", ""), "${")
}

func (w *namingWriter) list(exprs []hclsyntax.Expression, b bound) string {
	texts := make([]string, len(exprs))
	for i, e := range exprs {
		texts[i] = w.text(e, b)
	}
	return strings.Join(texts, ", ")
}

// items are those of an object, in the order of their texts: the order in which they are
// written means nothing.
func (w *namingWriter) items(e *hclsyntax.ObjectConsExpr, b bound) []string {
	texts := make([]string, len(e.Items))
	for i, item := range e.Items {
		texts[i] = w.text(item.KeyExpr, b) + " = " + w.text(item.ValueExpr, b)
	}
	slices.Sort(texts)
	return texts
}

func (w *namingWriter) forExpr(e *hclsyntax.ForExpr, b bound) string {
	inner := append(slices.Clip(b), e.KeyVar, e.ValVar)
	text := "for " + w.text(e.CollExpr, b) + " : "
	open, end := "[", "]"
	if e.KeyExpr != nil {
		open, end = "{", "}"
		text += w.single(e.KeyExpr, inner) + " => "
	}
	text += w.single(e.ValExpr, inner)
	if e.Group {
		text += "..."
	}
	if e.CondExpr != nil {
		text += " if " + w.single(e.CondExpr, inner)
	}
	return open + text + end
}

// keys is the part of a for_each that makes its keys, and with values the part that makes its
// elements: the choice of elements names none of them.
func (w *namingWriter) keys(expr hclsyntax.Expression, values bool) string {
	switch e := syntax.Unwrap(expr).(type) {
	case *hclsyntax.ForExpr:
		if e.KeyExpr == nil {
			break
		}
		inner := bound{e.KeyVar, e.ValVar}
		text := "for " + w.elements(e.CollExpr, nil) + " : " + w.text(e.KeyExpr, inner)
		if values {
			text += " => " + w.text(e.ValExpr, inner)
		}
		return "{" + text + "}"
	case *hclsyntax.FunctionCallExpr:
		if e.Name != "merge" {
			break
		}
		var texts []string
		for _, arg := range e.Args {
			texts = append(texts, w.keys(arg, values))
		}
		return "merge(" + strings.Join(texts, ", ") + ")"
	case *hclsyntax.ScopeTraversalExpr:
		if len(e.Traversal) != 2 || e.Traversal.RootName() != "local" {
			break
		}
		name, _ := eval.StepName(e.Traversal[1], true)
		if n := w.scope.Nodes["local"][name]; n != nil {
			return w.keys(n.Arguments[0].Expr, values)
		}
	}
	return w.elements(expr, nil)
}

// steps writes .name and ["name"], which mean the same, alike.
func (w *namingWriter) steps(path hcl.Traversal) string {
	var all strings.Builder
	for _, step := range path {
		name, ok := eval.StepName(step, true)
		switch index, isIndex := step.(hcl.TraverseIndex); {
		case ok && hclsyntax.ValidIdentifier(name):
			w.names[name] = true
			all.WriteString("." + name)
		case ok:
			w.names[name] = true
			all.WriteString("[" + quoted(name) + "]")
		case isIndex:
			all.WriteString("[" + w.value(index.Key) + "]")
		default:
			all.WriteString("[*]")
		}
	}
	return all.String()
}

// columns says what the files call the columns that were named, where that is something else:
// who reads another column under the old name has changed the name of every row.
func (w *namingWriter) columns() string {
	var texts []string
	for _, d := range w.data {
		for _, p := range d.file.Columns {
			if p.Name != p.Header && w.names[p.Name] {
				texts = append(texts, ", columns."+p.Name+" = "+quoted(p.Header))
			}
		}
		for name, format := range d.file.Formats {
			if w.names[name] {
				texts = append(texts, ", number_format."+name+" = "+quoted(format.Example))
			}
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, "")
}

// isWrittenOut reports whether all of an expression's value is in the configuration: nothing in
// it comes from a variable, a data source, a schedule or a file.
func isWrittenOut(refs *eval.References, expr hclsyntax.Expression) bool {
	seen := make(map[*eval.Node]bool)
	var all func(refs *eval.References, expr hclsyntax.Expression) bool
	all = func(refs *eval.References, expr hclsyntax.Expression) bool {
		for _, n := range refs.Nodes {
			if seen[n] {
				continue
			}
			seen[n] = true
			switch n.Root {
			case "profile", "batch":
			case "local":
				if a := n.Arguments[0]; a.Refs == nil || !all(a.Refs, a.Expr) {
					return false
				}
			default:
				return false
			}
		}
		return !hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
			if call, ok := node.(*hclsyntax.FunctionCallExpr); ok && functions.ReadsFiles(call.Name) {
				return hcl.Diagnostics{&hcl.Diagnostic{Severity: hcl.DiagError}}
			}
			return nil
		}).HasErrors()
	}
	return all(refs, expr)
}

// operators are those of the language, as they are written.
func operators() map[*hclsyntax.Operation]string {
	return map[*hclsyntax.Operation]string{
		hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpLogicalNot: "!",
		hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=",
		hclsyntax.OpGreaterThan: ">", hclsyntax.OpGreaterThanOrEqual: ">=",
		hclsyntax.OpLessThan: "<", hclsyntax.OpLessThanOrEqual: "<=",
		hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpNegate: "-",
		hclsyntax.OpMultiply: "*", hclsyntax.OpDivide: "/", hclsyntax.OpModulo: "%",
	}
}
