package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/config/mistake"
	"remit/internal/text/shell"
)

// oneWord is the value of a flag that takes one of a few words. Any other word is refused while the command line is
// read, before anything is done.
type oneWord struct {
	value *string
	words []string
}

// wordFlag adds a flag that takes one of a few words. Usage is its text in the help.
func wordFlag(flags *pflag.FlagSet, value *string, name, usage string, words ...string) {
	flags.Var(&oneWord{value, words}, name, usage)
}

var errOtherWord = errors.New("the flag takes other words")

// Set sets the value. It returns [errOtherWord] for a word that is none of the flag's.
func (o *oneWord) Set(text string) error {
	if !slices.Contains(o.words, text) {
		return errOtherWord
	}
	*o.value = text
	return nil
}

// String is the value, which help shows as the default one.
func (o *oneWord) String() string {
	if o.value == nil {
		return ""
	}
	return *o.value
}

// Type is what help calls the value where its text has no other name.
func (o *oneWord) Type() string { return "string" }

// otherValues are words of other programs, and other ways to say it, for words that flags take.
var otherValues = map[string]string{
	"halt": "stop", "abort": "stop", "exit": "stop", "fail": "stop", "break": "stop", "ignore": "continue", "skip": "continue", "go-on": "continue", "proceed": "continue",
	"excel": "csv", "xlsx": "csv", "xls": "csv", "spreadsheet": "csv", "json": "jsonl", "ndjson": "jsonl", "jsonlines": "jsonl", "pain.002": "pain002", "bean": "beancount",
	"graphviz": "dot", "gv": "dot", "md": "mermaid", "png": "svg", "pdf": "svg", "image": "svg", "html": "svg",
	"everything": "all", "full": "all", "yes": "all", "true": "all", "1": "all", "*": "all",
}

// ofBanks are forms of files that a bank takes or writes.
var ofBanks = []string{"sepa", "pain001", "pain.001", "mt940", "mt942", "camt", "camt.053", "camt053", "camt.054", "dtaus", "nacha", "ach", "bacs", "iso20022", "swift"}

// meant is the word of the flag that another one may mean; "" for none.
func (o *oneWord) meant(text string) string {
	plain := strings.ToLower(strings.TrimSpace(text))
	if other := otherValues[plain]; slices.Contains(o.words, other) {
		return other
	}
	if plain == "" || slices.Contains(ofBanks, plain) {
		return ""
	}
	for _, word := range o.words {
		if strings.HasPrefix(word, plain) || mistake.DidYouMean(plain, []string{word}) != "" || word == plain {
			return word
		}
	}
	return ""
}

// refuse says which words the flag takes, and which of them is meant.
func (o *oneWord) refuse(name, text string) error {
	if len(o.words) == 1 {
		return fmt.Errorf("--%s=%s is not known; write --%s=%s, or leave it out", name, text, name, o.words[0])
	}
	takes := choice(o.words)
	switch meant := o.meant(text); {
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("--%s is empty; it takes %s. Is a variable of the shell not set?", name, takes)
	case slices.Contains(ofBanks, strings.ToLower(text)) && slices.Contains(o.words, "pain002"):
		return fmt.Errorf("--%s=%s is no form here: an apply sends transfers by itself, and no bank has to be given a file. It takes %s", name, text, takes)
	case meant != "":
		return fmt.Errorf("--%s=%s is not known; it takes %s. Did you mean %q?", name, text, takes, meant)
	}
	return fmt.Errorf("--%s=%s is not known; it takes %s", name, text, takes)
}

// mendedLine is the command line as it was typed, but with the word that is meant where a flag takes others; "" where
// none is.
func (p *process) mendedLine(err error) string {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return ""
	}
	word, isWord := invalid.GetFlag().Value.(*oneWord)
	if !isWord || word.meant(invalid.GetValue()) == "" {
		return ""
	}
	return p.retyped(invalid.GetFlag().Name, word.meant(invalid.GetValue()))
}

// retyped is the command line as it was typed, but with another value of a flag; "" where the flag does not stand
// there, and where a word of the line may be a secret.
func (p *process) retyped(name, value string) string {
	line, found := []string{"remit"}, false
	for i := 0; i < len(p.typed); i++ {
		word := p.typed[i]
		isFlag := strings.HasPrefix(word, "-") && len(word) > 2
		switch {
		case isFlag && (flagName(word) == "var" || flagName(word) == "client-secret"):
			return ""
		case isFlag && flagName(word) == name:
			found = true
			if !strings.Contains(word, "=") {
				i++ // its value is the next word
			}
			line = append(line, "--"+name+"="+shell.Word(value))
		default:
			line = append(line, shell.Typed(word))
		}
	}
	if !found {
		return ""
	}
	return strings.Join(line, " ")
}

// withoutYes is the typed line without -y, and with --auto-approve where an apply could have asked: a saved plan, a digest and a
// rehearsal ask nothing. It is "" where the line has what may be a secret.
func (p *process) withoutYes() string {
	line, mayAsk := []string{"remit"}, true
	for i, word := range p.typed {
		isFlag := strings.HasPrefix(word, "-")
		switch name := flagName(word); {
		case isFlag && (name == "var" || name == "client-secret"):
			return ""
		case isFlag && name == "y":
			continue
		case i > 0 && !isFlag, name == "plan-digest", name == "rehearse", name == "auto-approve":
			mayAsk = false
		}
		line = append(line, shell.Typed(word))
	}
	if mayAsk {
		line = append(line, "--auto-approve")
	}
	return strings.Join(line, " ")
}

// nearFlagsMax is how many flags an unknown one is answered with.
const nearFlagsMax = 3

// nearFlags are the flags of a command that an unknown one may mean, for a question: one for which other programs have
// that word, one with a few other letters, or those of which it is a part, such as --digest of --plan-digest.
func nearFlags(cmd *cobra.Command, name string) string {
	var names, parts []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		names = append(names, f.Name)
		if len(name) > 2 && (strings.HasPrefix(f.Name, name) || strings.HasSuffix(f.Name, "-"+name) || strings.Contains(f.Name, "-"+name+"-")) {
			parts = append(parts, strconv.Quote("--"+f.Name))
		}
	})
	hint := mistake.DidYouMean(name, names)
	switch meant := otherFlags[name]; {
	case slices.Contains(names, meant):
		return strconv.Quote("--" + meant)
	case len(parts) > nearFlagsMax:
		return choice(parts[:nearFlagsMax])
	case len(parts) > 1:
		return choice(parts)
	case len(parts) == 1:
		return parts[0]
	case hint != "":
		return strings.Replace(strings.TrimSuffix(strings.TrimPrefix(hint, " Did you mean "), "?"), `"`, `"--`, 1)
	}
	return ""
}

// formFlags are the flags of a command that choose the form of its result.
func formFlags(cmd *cobra.Command) []string {
	var forms []string
	for _, name := range slices.Sorted(slices.Values(append(faceFlags(), "json"))) {
		if cmd.Flags().Lookup(name) != nil {
			forms = append(forms, "--"+name)
		}
	}
	return forms
}
