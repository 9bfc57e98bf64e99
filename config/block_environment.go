package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/text/english"
)

// environmentNameMax bounds a name, which is a part of the names of files.
const environmentNameMax = 100

// DeclaredEnvironment is an environment block.
type DeclaredEnvironment struct {
	Name        string
	Description string
	Protected   bool // no apply sends there without a plan that somebody saw
	Place       Place
}

func environmentKind() eval.Kind {
	return eval.Kind{
		Name: "environment", Labels: []string{"name"}, Optional: []string{"description", "protected", "variables"},
		Nested: []eval.Kind{stateKind(), serviceKind()},
	}
}

// Environments are the environment blocks of a directory, in declaration order: none where it has
// one environment without a block. Nothing else of the directory is read, so that mistakes
// elsewhere are not reported. Of the options it heeds the unsaved texts and the memory.
func Environments(dir string, opts Options) ([]DeclaredEnvironment, hcl.Diagnostics) {
	c := &Configuration{Dir: dir}
	var diags hcl.Diagnostics
	if c.sources, diags = openSources(dir, false, opts.Unsaved, opts.Memory.known()); diags.HasErrors() {
		return nil, mistake.Gathered(diags)
	}
	defer func() { _ = c.sources.root.Close() }() // only read
	m := meter.New(nil)
	c.scope = eval.NewScope(c.sources.functions(c.sources.root, "", m), m, attributes(), dataTypes())
	l, kind := newLoader(c), environmentKind()
	open := eval.NewOpener(kind, m)
	schema := &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: kind.Name, LabelNames: kind.Labels}}}
	for body := range c.sources.bodies() {
		content, _, diags := body.PartialContent(schema)
		l.report(diags...)
		for _, from := range content.Blocks {
			l.readBlock(kind, open, from, nil, nil, l.readEnvironment)
		}
	}
	return c.Environments, l.diags
}

// readEnvironment takes an environment block in. Its blocks and arguments are evaluated only where
// it is chosen.
func (l *loader) readEnvironment(b *eval.Block) {
	name := b.Label(0)
	if len(b.LabelAt) > 0 {
		if err := checkEnvironmentName(name); err != nil {
			l.report(mistake.New(b.LabelAt[0], "Invalid environment", "environment %s", mistake.Sentence(err)))
		}
	}
	for _, other := range l.config.Environments {
		switch {
		case other.Name == name:
			l.report(mistake.New(b.At, "Declared twice", "environment %q was already declared at %s.", name, other.Place))
		case strings.EqualFold(other.Name, name):
			l.report(mistake.New(b.At, "Environments of one name", "environment %q and environment %q at %s differ in the case of letters only. "+
				"Some file systems take their lock files and states for one file, and so do readers. Give one of them another name.", name, other.Name, other.Place))
		default:
			continue
		}
		return
	}
	for _, kind := range []string{"state", "service"} {
		if nested := b.NestedOf(kind); len(nested) > 1 {
			l.report(mistake.New(nested[1].At, "Declared twice", "environment %q has a %s block already, at %s.", name, kind, mistake.At(nested[0].At)))
		}
	}
	checkLiteralText(l.checker, b, "description")
	declared := DeclaredEnvironment{
		Name: name, Protected: l.protected(b), Place: placeOf(b.At),
	}
	if a, ok := b.Arguments["description"]; ok {
		if text, isText := syntax.LiteralText(a.Expr); isText {
			declared.Description = text.AsString()
		}
	}
	l.config.Environments = append(l.config.Environments, declared)
	l.environments = append(l.environments, b)
}

// protected reads whether an environment is protected. It is written out: a reviewer calculates nothing.
func (l *loader) protected(b *eval.Block) bool {
	if a := b.Arguments["protected"]; a != nil && len(a.Expr.Variables()) == 0 {
		if _, isWritten := a.Expr.(*hclsyntax.LiteralValueExpr); !isWritten {
			l.report(mistake.New(a.Expr.Range(), "Value is computed", "protected is true or false, and written out, so that it is read at once:\n\n  protected = true"))
			return true
		}
	}
	return literalBool(l.checker, b, "protected", false)
}

// isDevice reports whether Windows keeps a name for a device, in whatever directory.
func isDevice(name string) bool {
	name = strings.ToLower(name)
	kind, number := name[:min(3, len(name))], name[min(3, len(name)):]
	if kind == "com" || kind == "lpt" {
		return len(number) == 1 && number >= "0" && number <= "9"
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul"}, name)
}

// checkEnvironmentName says why a text is no name of an environment, which names its lock file, its
// state and the directory of its sandbox as well.
func checkEnvironmentName(name string) error {
	isLetterOrDigit := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }
	switch {
	case strings.EqualFold(name, environmentSandbox):
		return fmt.Errorf("%q is reserved: it is the environment of runs with --sandbox, in which no money moves; choose another name", name)
	case name == "" || !isLetterOrDigit(rune(name[0])) || strings.ContainsFunc(name, func(r rune) bool { return !isLetterOrDigit(r) && r != '_' && r != '-' }):
		return fmt.Errorf("%q cannot be a part of the name of a file everywhere: it needs a letter or a digit first, and then letters without accents, digits, '_' and '-'", name)
	case isDevice(name):
		return fmt.Errorf("%q is the name of a device on Windows, which makes no directory of it; choose another name", name)
	case len(name) > environmentNameMax:
		return fmt.Errorf("%q has %d characters; at most %d are possible", name, len(name), environmentNameMax)
	}
	return nil
}

// choose finds the environment that is meant, and has its state and service blocks take the place of those of
// the top level. It returns an error only where none can be found.
func (l *loader) choose() hcl.Diagnostics {
	c := l.config
	if len(l.environments) == 0 {
		return nil
	}
	asked, by := c.options.askedEnvironment()
	names := namesOf(c.Environments)
	at := slices.IndexFunc(c.Environments, func(e DeclaredEnvironment) bool { return e.Name == asked })
	switch {
	case at >= 0:
	case asked != "":
		return hcl.Diagnostics{mistake.Placeless("Unknown environment", "%s%s: no environment block has that name.%s There %s %s.",
			by, asked, meantEnvironment(asked, names), isOrAre(len(names)), english.List(names))}
	case len(names) > 1:
		lines := ""
		for _, name := range names {
			lines += "\n  --environment=" + name
		}
		return hcl.Diagnostics{mistake.Placeless("No environment is chosen", "This directory has %s. Choose one with --environment or %s:\n%s",
			english.Plural(len(names), "environment"), EnvironmentVariable, lines)}
	default:
		at = 0
	}
	c.Environment, c.Protected, l.chosen = c.Environments[at].Name, c.Environments[at].Protected, l.environments[at]
	for kind, block := range map[string]**eval.Block{"state": &l.state, "service": &l.service} {
		if own := l.chosen.NestedOf(kind); len(own) > 0 {
			if *block != nil {
				l.passedOver = append(l.passedOver, *block)
			}
			*block = own[0]
		}
		for i, e := range l.environments {
			if i != at {
				l.passedOver = append(l.passedOver, e.NestedOf(kind)...)
			}
		}
	}
	return nil
}

// useLaterElsewhere notes the variables of state and service blocks that the chosen environment does not use: they need no
// value there, so that a job has the places and clients of one environment alone.
func (l *loader) useLaterElsewhere() {
	for _, b := range l.passedOver {
		for _, a := range b.All() {
			refs, _ := l.scope.Resolve(a.Expr, eval.NarrowReach()) // reported where the environment is chosen
			for _, n := range refs.Nodes {
				l.use(n, true)
			}
		}
	}
}

// meantEnvironment is the environment that a name may mean: one that it begins, or a similar one.
func meantEnvironment(asked string, names []string) string {
	begun := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, asked) })
	if len(begun) == 1 {
		return fmt.Sprintf(" Did you mean %q?", begun[0])
	}
	return mistake.DidYouMean(asked, names)
}

// isOrAre is the verb of a list.
func isOrAre(count int) string {
	if count == 1 {
		return "is"
	}
	return "are"
}

// namesOf are the names of environments, in their order.
func namesOf(environments []DeclaredEnvironment) []string {
	names := make([]string, len(environments))
	for i, e := range environments {
		names[i] = e.Name
	}
	return names
}

// askedEnvironment is the environment that a person asked for, and how; "" where nobody asked for one.
func (o Options) askedEnvironment() (name, by string) {
	if o.Environment != "" {
		return o.Environment, "--environment="
	}
	return o.Getenv(EnvironmentVariable), EnvironmentVariable + "="
}

// checkAsked refuses another environment than that of a directory without environment blocks.
func (l *loader) checkAsked() {
	c := l.config
	asked, by := c.options.askedEnvironment()
	if len(l.environments) > 0 || asked == "" || asked == c.Environment {
		return
	}
	l.report(mistake.Placeless("Another environment", "%s%s: this directory has the environment %q alone, and no environment block. "+
		"Leave it out, or declare the other one:\n\n  environment %q {\n  }", by, asked, c.Environment, asked))
}

// refuseInRemit reports an environment in the remit block beside environment blocks.
func (l *loader) refuseInRemit() {
	if l.remit == nil || len(l.environments) == 0 {
		return
	}
	if a := l.remit.Arguments["environment"]; a != nil {
		l.report(mistake.New(a.NameAt, "Environment is said twice", "There are environment blocks (%s), so the remit block names no environment. Remove this line. "+
			"To keep the state of this environment, declare it by the same name.", l.config.Environments[0].Place))
	}
}

// blockName is the name of the chosen environment block; "" where there is none.
func (l *loader) blockName() string {
	if l.chosen == nil {
		return ""
	}
	return l.config.Environment
}
