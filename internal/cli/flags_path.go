package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/internal/cli/exit"
	"remit/internal/text/shell"
)

// outFiles are the flags that name a file to write, by their commands, each with a name that such a file may have. The
// entry "" is for every other command.
var outFiles = map[string]map[string]string{
	"out":             {"plan": "november.plan", "report": "november.html", "export": "november.csv", "backup": "remit.backup", "": "export.jsonl"},
	"json-into":       {"": "remit.jsonl"},
	"metrics-file":    {"": "remit.prom"},
	"ledger":          {"": "ledger.db"},
	"generate-config": {"": "undeclared.hcl"},
}

// writtenFlags are the flags that name a file to write, those that a person reads first. Each file has one of them.
var writtenFlags = []string{"out", "html", "markdown", "json-into", "junit-xml", "metrics-file", "generate-config"}

// inFiles are the flags that name a file to read, with what it is.
var inFiles = map[string]string{
	"against": "a saved plan", "var-file": "values of variables", "key": "a key", "sign": "a key", "recorded": "the service's record", "plan": "a saved plan", "changed": "names of files",
}

// refusesEmpty are the flags whose commands would take no value for none being given.
var refusesEmpty = map[string]string{
	"chdir": "names no directory", "root": "names no directory", "override-limit": "names no limit", "accept-duplicate": "names no transfer", "accept-shortfall": "names no profile",
	"target": "names no block", "timezone": "names no time zone", "out": "names no file", "plan": "names no file", "ledger": "names no file", "listen": "names no address",
}

// checkFlags refuses, before a command begins, an empty value, a directory where a file is wanted, and a file where a
// directory is wanted.
func (p *process) checkFlags(cmd *cobra.Command) error {
	dir := "."
	if chdir := lookupFlag(cmd, "chdir"); chdir != nil {
		dir = chdir.Value.String()
	}
	found := checkApart(cmd, dir)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if found == nil {
			found = p.checkFlag(cmd, f, dir)
		}
	})
	return found
}

// checkApart refuses two flags by which one file would be written twice: the first text would be lost.
func checkApart(cmd *cobra.Command, dir string) error {
	var before []string
	at := make(map[string]string)
	for _, name := range writtenFlags {
		flag := lookupFlag(cmd, name)
		if flag == nil || !flag.Changed || !namesPath(flag) || flag.Value.String() == "" {
			continue
		}
		at[name] = flag.Value.String()
		if !filepath.IsAbs(at[name]) {
			at[name] = filepath.Join(dir, at[name])
		}
		for _, other := range before {
			if samePath(at[name], at[other]) {
				return fmt.Errorf("--%s and --%s name one file; name another for one of them", other, name)
			}
		}
		before = append(before, name)
	}
	return nil
}

func (p *process) checkFlag(cmd *cobra.Command, f *pflag.Flag, dir string) error {
	values := []string{f.Value.String()}
	if list, isList := f.Value.(pflag.SliceValue); isList {
		values = list.GetSlice()
	}
	if slices.Contains(values, "") && refusesEmpty[f.Name] != "" && !hasOwnWords(cmd, f.Name) {
		return exit.WithHint(fmt.Errorf("--%s is empty, which %s. Is a variable of the shell not set?", f.Name, refusesEmpty[f.Name]), cmd.CommandPath()+" --help")
	}
	for _, value := range values {
		if err := p.checkPath(cmd, f.Name, value, dir); err != nil {
			return err
		}
	}
	return nil
}

// namesPath reports whether the value of a flag is the name of a file or of a directory, as its usage says.
func namesPath(flag *pflag.Flag) bool {
	value, _ := pflag.UnquoteUsage(flag)
	return value == "file" || value == "directory"
}

// hasOwnWords reports whether a command itself says what an empty value means to it.
func hasOwnWords(cmd *cobra.Command, flag string) bool {
	return flag == "out" && cmd.Name() != "report" || flag == "target" && cmd.Name() == "migrate"
}

// checkPath holds a flag's value to what lies there. What is missing or can't be looked at is left to the command.
func (p *process) checkPath(cmd *cobra.Command, flag, value, dir string) error {
	at := value
	if !filepath.IsAbs(at) && flag != "chdir" && flag != "ledger" {
		at = filepath.Join(dir, at)
	}
	info, err := os.Stat(at)
	if value == "" || value == "-" {
		return nil
	}
	if recursive := lookupFlag(cmd, "recursive"); flag == "out" && recursive != nil && recursive.Changed {
		return nil // the directory for the plans of all
	}
	isEvidence := flag == "out" && cmd.CommandPath() == "remit audit export"
	if err != nil {
		if (flag == "out" || flag == "json-into") && !isEvidence && cmd.Name() != "reversal" {
			return noPlaceFor("--"+flag+"="+value, at)
		}
		return nil
	}
	switch names, isOut := outFiles[flag]; {
	case flag == "chdir" || flag == "root" || flag == "policy-dir" || isEvidence:
		if info.IsDir() {
			return nil
		}
		err, mended := fmt.Errorf("--%s=%s is a file, and the flag takes a directory", flag, value), filepath.Dir(value)
		if isEvidence {
			mended = value + "-evidence"
		}
		if flag == "policy-dir" && mended == "." { // the directory of the configuration is no place for them
			return exit.WithHint(fmt.Errorf("%w. Put the file into one of its own", err), "mkdir controls && mv "+shell.File(value)+" controls")
		}
		return exit.WithHint(err, p.retyped(flag, mended))
	case !info.IsDir():
		return nil
	case isOut && (cmd.Name() == "reversal" || flag == "generate-config"): // a file of the configuration, in its directory
		return nil
	case isOut:
		name := names[cmd.Name()]
		if name == "" {
			name = names[""]
		}
		return exit.WithHint(fmt.Errorf("--%s=%s is a directory, and the flag takes a file. Name one in it", flag, value), p.retyped(flag, filepath.Join(value, name)))
	case inFiles[flag] != "":
		return fmt.Errorf("--%s=%s is a directory, and the flag takes a file that has %s. Name one in it", flag, value, inFiles[flag])
	}
	return nil
}

// noEarlierPlan is about --against with the name of no file, which may be meant for a commit.
func noEarlierPlan(name string) error {
	return errors.New("--against=" + name + ": there is no such file. The flag takes a plan that plan --out saved, and no branch or commit of git. To compare with a commit, save its plan in a checkout of it")
}
