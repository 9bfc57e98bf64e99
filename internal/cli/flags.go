package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/text/english"
	"remit/internal/text/shell"
	"remit/internal/text/terraform"
	"remit/internal/view"
)

// longFlags gives Terraform's single dash its second one: -auto-approve becomes
// --auto-approve where the command has such a flag. In the place of a command, -version is
// the command of that name.
func longFlags(root *cobra.Command, args []string) []string {
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		return append(args[:1:1], longFlags(root, args[1:])...) // a shell asks about the words behind it
	}
	if len(args) > 1 && (args[0] == "-help" || args[0] == "--help" || args[0] == "-h") {
		args = append(slices.Clone(args[1:]), args[0]) // Terraform's -help plan
	}
	command, _, err := root.Find(args)
	if err != nil {
		command = root
	}
	command.InitDefaultHelpFlag() // cobra makes it too late for -help
	long := make([]string, len(args))
	copy(long, args)
	if len(long) > 0 && (long[0] == "-version" || long[0] == "--version" || long[0] == "-v") {
		long[0] = "version"
	}
	for i, arg := range long {
		if arg == "--" {
			break
		}
		if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && lookupFlag(command, flagName(arg)) != nil {
			long[i] = "-" + arg
		}
	}
	return long
}

func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

func lookupFlag(command *cobra.Command, name string) *pflag.Flag {
	if flag := command.Flags().Lookup(name); flag != nil {
		return flag
	}
	return command.InheritedFlags().Lookup(name)
}

// withEnvironmentArgs puts the flags of REMIT_CLI_ARGS right behind the command's name, so
// that the command line has the last word.
func withEnvironmentArgs(root *cobra.Command, args []string, environment string) ([]string, error) {
	extra, err := host.SplitWords(environment)
	if err != nil {
		return nil, fmt.Errorf("read REMIT_CLI_ARGS: %w", err)
	}
	if len(extra) == 0 {
		return args, nil
	}
	command, rest, err := root.Find(args)
	if err != nil || command == root {
		return args, nil
	}
	if err := checkEnvironmentArgs(command, extra); err != nil {
		return nil, err
	}
	path := strings.Fields(command.CommandPath())[1:]
	return append(append(path, extra...), rest...), nil
}

// checkEnvironmentArgs lets whole flags pass, each with its value. A flag without its value
// would take the next word of the command line for it, such as --sandbox, and any other word
// could name a plan to apply.
func checkEnvironmentArgs(command *cobra.Command, extra []string) error {
	for i := 0; i < len(extra); i++ {
		arg := extra[i]
		name := flagName(arg)
		if !strings.HasPrefix(arg, "-") || name == "" {
			return fmt.Errorf("REMIT_CLI_ARGS may carry flags only, not %q", arg)
		}
		if mustBeTyped(name) {
			return fmt.Errorf("REMIT_CLI_ARGS may not carry --%s: say it on the command line", name)
		}
		flag := lookupFlag(command, name)
		if flag == nil {
			return fmt.Errorf("read REMIT_CLI_ARGS for %s: unknown flag: --%s", command.CommandPath(), name)
		}
		if flag.NoOptDefVal != "" || strings.Contains(arg, "=") {
			continue
		}
		if i++; i == len(extra) {
			return fmt.Errorf("read REMIT_CLI_ARGS: --%s needs a value there", name)
		}
	}
	return nil
}

// mustBeTyped reports whether a flag decides about requests, so that only a command line that
// someone reads may carry it.
func mustBeTyped(flag string) bool {
	return flag == "sandbox" || flag == "auto-approve" || flag == "plan-digest" || flag == "policy-dir" ||
		flag == "count" || flag == "total" ||
		strings.HasPrefix(flag, "override-") || strings.HasPrefix(flag, "accept-")
}

// isBlank reports whether nothing of a text shows.
func isBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && view.Visible(string(r)) == string(r)
	})
}

// reasonFlag adds --reason, for the journal.
func reasonFlag(cmd *cobra.Command, reason *string) {
	cmd.Flags().StringVar(reason, "reason", "", "why, for the journal")
}

// checkReason refuses a command without a reason: it writes a person's word into the journal.
func checkReason(cmd *cobra.Command, reason string) error {
	if isBlank(reason) {
		return fmt.Errorf("%s needs --reason: it is journalled under your name", strings.TrimPrefix(cmd.CommandPath(), "remit "))
	}
	return nil
}

// atMostOne refuses two of the flags at once: cobra's MarkFlagsMutuallyExclusive, in our words.
func atMostOne(cmd *cobra.Command, names ...string) {
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		var given []string
		for _, name := range names {
			if cmd.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return exit.WithHint(fmt.Errorf("%s can't have %s at once: leave all of them out but one", cmd.CommandPath(), english.List(given)),
				cmd.CommandPath()+" --help")
		}
		return check(cmd, args)
	}
}

// together refuses a flag without the other: cobra's MarkFlagsRequiredTogether, in our words.
func together(cmd *cobra.Command, one, other string) {
	check := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		for _, pair := range [][2]string{{one, other}, {other, one}} {
			if cmd.Flags().Changed(pair[0]) && !cmd.Flags().Changed(pair[1]) {
				return exit.WithHint(fmt.Errorf("%s needs --%s beside --%s", cmd.CommandPath(), pair[1], pair[0]), cmd.CommandPath()+" --help")
			}
		}
		return check(cmd, args)
	}
}

// saidOnce refuses a second value of a flag that is a person's answer. Else the last would count, and nobody would
// hear that the first was wrong.
func saidOnce(cmd *cobra.Command, name string) {
	flag := cmd.Flags().Lookup(name)
	flag.Value = &onceValue{Value: flag.Value}
}

// onceValue is a value that can be set once, or again to the same.
type onceValue struct {
	pflag.Value
	said  string
	isSet bool
}

var errTwice = errors.New("the flag has another value already")

// Set sets the value. It returns [errTwice] where another was set before.
func (v *onceValue) Set(text string) error {
	if v.isSet && text != v.said {
		return errTwice
	}
	if err := v.Value.Set(text); err != nil {
		return err
	}
	v.said, v.isSet = text, true
	return nil
}

// exactArgs is cobra's, in our words.
func exactArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == len(names) && len(names) > 0 && unfinishedVar(cmd) != "":
			return refuseUnfinishedVar(cmd) // --var NAME VALUE, and the value would be taken for what the command names
		case len(args) == len(names):
			return nil
		case len(names) == 0:
			return takesNone(cmd, args)
		}
		want := "needs " + strings.Join(names, " ")
		return exit.WithHint(fmt.Errorf("%s %s; %s given", cmd.CommandPath(), want, english.Plural(len(args), "argument")), cmd.CommandPath()+" --help")
	}
}

// takesNone refuses arguments of a command that takes none, and says what the first of them may mean.
func takesNone(cmd *cobra.Command, args []string) error {
	word, again := args[0], againIn(cmd, "")
	plainWord := strings.TrimLeft(word, "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212") // signs that look like hyphens
	isCommand := slices.ContainsFunc(cmd.Root().Commands(), func(c *cobra.Command) bool { return c.Name() == word })
	dir, isFile := strings.CutSuffix(strings.TrimSuffix(word, ".json"), ".hcl")
	switch hasDirectory := lookupFlag(cmd, "chdir") != nil; {
	case plainWord != word && lookupFlag(cmd, plainWord) != nil:
		return exit.WithHint(fmt.Errorf("%q begins with a sign that is no hyphen. A flag begins with two hyphens", word), cmd.CommandPath()+" --"+plainWord)
	case word == "help":
		return exit.WithHint(fmt.Errorf("%s takes no arguments. Its flags are shown by", cmd.CommandPath()), cmd.CommandPath()+" --help")
	case isCommand:
		return exit.WithHint(fmt.Errorf("%s takes no arguments, and %s is a command of its own. Type one after the other", cmd.CommandPath(), word), "remit "+word)
	case hasDirectory && strings.HasSuffix(word, ".remittest.hcl") && lookupFlag(cmd, "filter") != nil:
		return exit.WithHint(fmt.Errorf("%s takes no arguments. A file of tests is named by a flag", cmd.CommandPath()), again+" --filter="+shell.Word(word))
	case hasDirectory && isFile:
		return exit.WithHint(fmt.Errorf("%s takes no files: it reads all files of a directory that end in .hcl and .hcl.json", cmd.CommandPath()), againIn(cmd, path.Dir(dir)))
	case assignedVar(cmd, word) != "":
		return exit.WithHint(fmt.Errorf("%s takes no arguments. A variable is given by a flag", cmd.CommandPath()), again+" --var="+assignedVar(cmd, word)+"=VALUE")
	case unfinishedVar(cmd) != "":
		return refuseUnfinishedVar(cmd)
	case hasDirectory && len(args) == 1:
		return misplacedWord(cmd, word, again)
	}
	return exit.WithHint(fmt.Errorf("%s takes no arguments; it was given %d", cmd.CommandPath(), len(args)), cmd.CommandPath()+" --help")
}

// someArgs is cobra's MinimumNArgs(1), in our words.
func someArgs(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return exit.WithHint(fmt.Errorf("%s needs one %s or more", cmd.CommandPath(), name), cmd.CommandPath()+" --help")
	}
}

// oneArgAtMost is cobra's MaximumNArgs(1), in our words.
func oneArgAtMost(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= 1 {
			return nil
		}
		return exit.WithHint(fmt.Errorf("%s takes one %s at most; it was given %d", cmd.CommandPath(), name, len(args)), cmd.CommandPath()+" --help")
	}
}

func (p *process) unknownCommand(cmd *cobra.Command, name string) error {
	words := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "remit") + " " + name)
	if answer, known := otherCommandsOf[words]; known {
		return exit.WithHint(errors.New(answer.Text), cmp.Or(p.keptFlags(cmd.Root(), answer.Next), cmd.CommandPath()+" --help"))
	}
	if answer, known := terraform.Command(words); known {
		return exit.WithHint(errors.New(answer.Text), cmp.Or(p.keptFlags(cmd.Root(), answer.Next), cmd.CommandPath()+" --help"))
	}
	if slices.Contains([]string{"terraform", "tofu", "remit"}, strings.ToLower(name)) && cmd == cmd.Root() {
		return exit.WithHint(fmt.Errorf("there is no command %q: the command comes right behind remit, as in remit plan", name), "remit --help")
	}
	if slices.Contains(credentials, strings.ToLower(name)) && cmd == cmd.Root() {
		answer, _ := terraform.Command("login")
		return exit.WithHint(errors.New(answer.Text), answer.Next)
	}
	if meant := otherCommands[strings.ToLower(name)]; meant != "" && cmd == cmd.Root() {
		return exit.WithHint(fmt.Errorf("there is no command %q. Did you mean %q?", name, meant), "remit "+meant+" --help")
	}
	if strings.ContainsAny(name, "0123456789") { // no command has a digit, and most ref_ids do
		return exit.WithHint(fmt.Errorf("there is no command %q. Where it is a ref_id, state show has what is known of it", name),
			"remit state show "+shell.Word(name))
	}
	isOfRoot := func(c *cobra.Command) bool { return c.Name() == name && c.IsAvailableCommand() }
	if cmd != cmd.Root() && slices.ContainsFunc(cmd.Root().Commands(), isOfRoot) {
		whole := "remit " + name
		if cmd.Name() == "sandbox" {
			whole += " --sandbox"
		}
		return exit.WithHint(fmt.Errorf("%s has no command %q, and remit itself has one", cmd.CommandPath(), name), whole)
	}
	if isDirectory(name) && cmd == cmd.Root() {
		return exit.WithHint(fmt.Errorf("there is no command %q, and there is a directory of that name. Name it behind a command", name), "remit plan --chdir="+shell.Word(name))
	}
	message := fmt.Sprintf("there is no command %q", name)
	cmd.SuggestionsMinimumDistance = 2 // the library hands it down to nobody
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		// A word that was not typed to its end comes before one that was mistyped.
		begun := slices.IndexFunc(near, func(command string) bool { return strings.HasPrefix(command, name) })
		message += fmt.Sprintf(". Did you mean %q?", near[max(begun, 0)])
	} else if below := commandBelow(cmd.Root(), name); below != nil {
		message += fmt.Sprintf(". Did you mean %q?", below.CommandPath())
	}
	return exit.WithHint(errors.New(message), cmd.CommandPath()+" --help")
}

// otherCommands are words of other programs for commands.
var otherCommands = map[string]string{
	"pay": "apply", "run": "apply", "send": "apply", "submit": "apply", "execute": "apply", "push": "apply", "deploy": "apply", "up": "apply", "retry": "apply", "sync": "apply",
	"check": "validate", "lint": "validate", "diff": "plan", "preview": "plan", "dry-run": "plan", "simulate": "plan",
	"list": "state list", "ls": "state list", "transfers": "state list", "history": "audit log", "log": "audit log",
	"rollback": "reversal", "undo": "reversal", "cancel": "reversal", "revert": "reversal", "refund": "reversal", "delete": "reversal", "reverse": "reversal", "down": "reversal",
	"evidence": "audit export", "proof": "audit export", "verify": "audit verify", "journal": "audit log", "fix": "resolve", "settle": "resolve", "sign": "approve", "format": "fmt", "match": "reconcile", "unlock": "force-unlock",
}

// credentials are the words for commands of people who look for a place to leave the service's credentials.
var credentials = []string{
	"credentials", "credential", "auth", "authenticate", "signin", "sign-in", "connect", "configure", "config", "token", "secret", "secrets", "password",
	"keys", "apikey", "api-key", "whoami", "account",
}

// otherFlags are words of other programs for flags.
var otherFlags = map[string]string{
	"yes": "auto-approve", "approve": "auto-approve", "output": "out", "output-file": "out", "file": "out", "dir": "chdir", "directory": "chdir", "cwd": "chdir",
	"test": "sandbox", "simulate": "sandbox", "autoapprove": "auto-approve", "vars": "var", "varfile": "var-file", "concurrency": "parallelism",
}

// wrongValue says what a flag takes instead of the value that it was given.
func wrongValue(err error) error {
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		name := invalid.GetFlag().Name
		if once, isOnce := invalid.GetFlag().Value.(*onceValue); isOnce && errors.Is(err, errTwice) {
			return fmt.Errorf("--%s is there twice, as %s and as %s. Write it once", name, once.said, invalid.GetValue())
		}
		if word, isWord := invalid.GetFlag().Value.(*oneWord); isWord {
			return word.refuse(name, invalid.GetValue())
		}
		if name == "var-file" && errors.Is(err, errEmpty) {
			return errors.New("--var-file is empty, which names no file. Is a variable of the shell not set?")
		}
		if name == "environment" {
			return errors.New("--environment is empty, which names no environment. Is a variable of the shell not set?")
		}
		switch invalid.GetFlag().Value.Type() {
		case "bool":
			if name == "input" {
				return fmt.Errorf("--%s=%s is not known; it takes true or false", name, invalid.GetValue())
			}
			return fmt.Errorf("--%s=%s is not known; write --%s alone, or leave it out", name, invalid.GetValue(), name)
		case "int", "int64", "uint":
			return fmt.Errorf("--%s=%s is no whole number", name, invalid.GetValue())
		case "duration":
			if days, ok := strings.CutSuffix(invalid.GetValue(), "d"); ok {
				if n, err := strconv.Atoi(days); err == nil && n > 0 {
					return fmt.Errorf("--%s=%s is no length of time here; write days in hours: --%s=%dh", name, invalid.GetValue(), name, n*24)
				}
			}
			return fmt.Errorf("--%s=%s is no length of time; write hours, minutes or seconds, such as 72h, 5m or 30s", name, invalid.GetValue())
		}
		return err
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		value, _ := pflag.UnquoteUsage(missing.GetFlag())
		return fmt.Errorf("--%s needs a value: write --%s=%s", missing.GetSpecifiedName(), missing.GetSpecifiedName(), cmp.Or(strings.ToUpper(value), "VALUE"))
	}
	return err
}

// unknownFlag says that a command has no such flag: to a flag of Terraform, it names the way to do
// the same.
func (p *process) unknownFlag(cmd *cobra.Command, err error) error {
	help := cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return exit.WithHint(wrongValue(err), cmp.Or(p.mendedLine(err), help))
	}
	name := flagName(cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()))
	if name == "recursive" && cmd.Name() == "apply" {
		return p.notRecursive(cmd.Root())
	}
	if cmd == cmd.Root() && slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return lookupFlag(c, name) != nil }) {
		return exit.WithHint(fmt.Errorf("a command comes first, and its flags behind it: there is no %s of remit itself", flagWord(name)), "remit plan "+flagWord(name))
	}
	if name == "y" && cmd.Name() == "apply" {
		return exit.WithHint(errors.New("there is no -y: a saved plan is sent without a question, and --auto-approve approves a plan that nobody saw"), cmp.Or(p.withoutYes(), help))
	}
	if answer := otherWay(cmd, name); answer.Text != "" {
		return exit.WithHint(errors.New(answer.Text), cmp.Or(p.keptFlags(cmd.Root(), answer.Next), help))
	}
	if answer := p.ofPeriod(cmd, name); answer.Text != "" {
		return exit.WithHint(errors.New(answer.Text), answer.Next)
	}
	if answer, known := terraform.Flag(name); known {
		return exit.WithHint(errors.New(answer.Text), cmp.Or(p.keptFlags(cmd.Root(), answer.Next), help))
	}
	if lookupFlag(cmd, "out") != nil && name == "o" {
		return exit.WithHint(errors.New("there is no -o: --out names the file to write"), cmp.Or(p.keptFlags(cmd.Root(), cmd.CommandPath()+" --out=FILE"), help))
	}
	if forms := formFlags(cmd); len(forms) > 1 && (name == "format" || name == "output" || name == "o") {
		return exit.WithHint(fmt.Errorf("%s has no %s, and a flag for each form: %s", cmd.CommandPath(), flagWord(name), choice(forms)), help)
	}
	if answer := ofHabit(cmd, name); answer.Text != "" {
		return exit.WithHint(errors.New(answer.Text), cmp.Or(p.keptFlags(cmd.Root(), answer.Next), help))
	}
	if elsewhere := commandsWith(cmd.Root(), name); len(elsewhere) > 0 {
		first, next := elsewhere[0], help
		if len(elsewhere) == 1 || first.Name() == "plan" {
			next = cmp.Or(p.keptFlags(cmd.Root(), first.CommandPath()+flagAsTyped(first, name)), help)
		}
		return exit.WithHint(fmt.Errorf("%s has no --%s; %s", cmd.CommandPath(), name, haveIt(elsewhere)), next)
	}
	if len(name) > 1 { // Terraform's single dash
		err = fmt.Errorf("unknown flag: --%s", name)
		if near := nearFlags(cmd, name); near != "" {
			err = fmt.Errorf("%w. Did you mean %s?", err, near)
		}
		return exit.WithHint(err, help)
	}
	if len(name) == 1 {
		err = shortFlag(cmd, name)
	}
	return exit.WithHint(err, help)
}

// commandsWith are the commands that have a flag of a name, in the order of the help; none where more than four
// have it, of which none is meant more than another.
func commandsWith(root *cobra.Command, name string) []*cobra.Command {
	var with []*cobra.Command
	for _, command := range root.Commands() {
		for _, c := range append([]*cobra.Command{command}, command.Commands()...) {
			if f := c.Flags().Lookup(name); f != nil && !f.Hidden && c.IsAvailableCommand() {
				with = append(with, c)
			}
		}
	}
	if len(with) > 4 {
		return nil
	}
	return with
}

// haveIt says which commands have a flag.
func haveIt(commands []*cobra.Command) string {
	var names []string
	for _, c := range commands {
		names = append(names, strings.TrimPrefix(c.CommandPath(), "remit "))
	}
	verb := " have it"
	if len(names) == 1 {
		verb = " has it"
	}
	return english.List(names) + verb
}

// flagAsTyped is a flag of a command with a word for its value, as somebody types it.
func flagAsTyped(command *cobra.Command, name string) string {
	f := command.Flags().Lookup(name)
	value, _ := pflag.UnquoteUsage(f)
	if f.NoOptDefVal != "" || value == "" {
		return " --" + name
	}
	return " --" + name + "=" + strings.ToUpper(value)
}

// commandBelow is the first command below the groups of the root that has the name; nil for none.
func commandBelow(root *cobra.Command, name string) *cobra.Command {
	for _, group := range root.Commands() {
		for _, command := range group.Commands() {
			if command.Name() == name || slices.Contains(command.SuggestFor, name) {
				return command
			}
		}
	}
	return nil
}

// notRecursive answers apply --recursive.
func (p *process) notRecursive(root *cobra.Command) error {
	return exit.WithHint(errors.New("apply sends the plan of one configuration, so that somebody agrees to each by itself. "+
		"plan --recursive shows all of them, and for each the command that applies it"), cmp.Or(p.keptFlags(root, "remit plan --recursive"), "remit plan --help"))
}
