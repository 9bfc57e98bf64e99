//go:build unix

package scripts

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	yaml "github.com/zclconf/go-cty-yaml"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"remit/internal/proof/suite"
)

// workflow is what the tests read of a workflow of GitHub Actions.
type workflow struct {
	Permissions map[string]string `json:"permissions"`
	Concurrency struct {
		Group  string `json:"group"`
		Cancel bool   `json:"cancel-in-progress"`
	} `json:"concurrency"`
	Jobs map[string]struct {
		Permissions map[string]string `json:"permissions"`
		Environment string            `json:"environment"`
		Strategy    struct {
			Parallel int `json:"max-parallel"`
		} `json:"strategy"`
		Steps []workflowStep `json:"steps"`
	} `json:"jobs"`
}

type workflowStep struct {
	Name string            `json:"name"`
	ID   string            `json:"id"`
	If   string            `json:"if"`
	Uses string            `json:"uses"`
	With map[string]any    `json:"with"`
	Env  map[string]string `json:"env"`
	Run  string            `json:"run"`
}

// readYAML reads a file as package json would read the same in JSON.
func readYAML(name string, into any) error {
	text, err := os.ReadFile(suite.InRoot("docs", "recipes", name))
	if err != nil {
		return err
	}
	if err := parseYAML(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func parseYAML(text []byte, into any) error {
	kind, err := yaml.ImpliedType(text)
	if err != nil {
		return err
	}
	value, err := yaml.Unmarshal(text, kind)
	if err != nil {
		return err
	}
	raw, err := ctyjson.Marshal(value, kind)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// action is what the tests read of a composite action of this repository.
type action struct {
	Inputs map[string]struct {
		Default  string `json:"default"`
		Required bool   `json:"required"`
	} `json:"inputs"`
	Runs struct {
		Steps []workflowStep `json:"steps"`
	} `json:"runs"`
}

// ours is an action of this repository, as the recipes name it; the group is its directory.
var ours = regexp.MustCompile(`^finance/remit((?:/[a-z]+)*)@[0-9a-f]{40}$`)

// readAction reads an action of this repository; isOne is false for any other.
func readAction(uses string) (a action, isOne bool, err error) {
	m := ours.FindStringSubmatch(uses)
	if m == nil {
		return a, false, nil
	}
	return a, true, readYAML("../.."+m[1]+"/action.yml", &a)
}

// wholeSteps are the steps of a job, with those of this repository's actions in the place of the steps that use them: their inputs are
// what the job gives.
func wholeSteps(t *testing.T, steps []workflowStep) []workflowStep {
	t.Helper()
	var whole []workflowStep
	for _, step := range steps {
		used, isOurs, err := readAction(step.Uses)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, workflowStep{Name: step.Name, Uses: step.Uses, Env: step.Env, Run: step.Run})
		if !isOurs {
			continue
		}
		for _, inner := range used.Runs.Steps {
			env := map[string]string{}
			for name, value := range inner.Env {
				if input, ok := strings.CutPrefix(value, "${{ inputs."); ok {
					value, _ = step.With[strings.TrimSuffix(input, " }}")].(string)
				}
				env[name] = value
			}
			whole = append(whole, workflowStep{Name: inner.Name, Uses: inner.Uses, Env: env, Run: inner.Run})
		}
	}
	return whole
}

// runWorkflow is the script command
//
//	workflow FILE JOB
//
// which runs the steps of a job in the script's directory, and those of the actions of this repository that it uses. Secrets and
// variables are the script's own; artifacts go by $WORK/artifacts; gh and curl are those of $WORK/bin.
func runWorkflow(ts *testscript.TestScript, neg bool, args []string) {
	var w workflow
	ts.Check(readYAML(args[0], &w))
	steps := w.Jobs[args[1]].Steps
	if len(steps) == 0 {
		ts.Fatalf("%s has no job %s", args[0], args[1])
	}
	failed := runSteps(ts, steps, &scope{outputs: map[string]string{}})
	if (failed != "") != neg {
		ts.Fatalf("workflow %s %s: %q", args[0], args[1], failed)
	}
}

// scope is what the steps of a job, or of an action, know of each other.
type scope struct {
	inputs  map[string]string // of the action; nil in a job
	path    string            // of the action
	outputs map[string]string // of the steps, by their names alone
	outcome map[string]string // of the steps that have an ID
}

// runSteps runs steps in their order, and returns why the first one failed; "" where none did.
func runSteps(ts *testscript.TestScript, steps []workflowStep, in *scope) (failed string) {
	work := ts.Getenv("WORK")
	in.outcome = map[string]string{}
	for _, step := range steps {
		if step.ID != "" {
			in.outcome[step.ID] = "skipped"
		}
	}
	for _, step := range steps {
		if failed != "" && !strings.Contains(step.If, "always()") || !meets(step.If, in) {
			continue
		}
		var err error
		used, isOurs, reading := readAction(step.Uses)
		ts.Check(reading)
		switch {
		case isOurs:
			err = runAction(ts, step, used, in)
		case strings.HasPrefix(step.Uses, "actions/upload-artifact@"):
			err = copyFiles(strings.Fields(step.With["path"].(string)), ts.MkAbs("."), work+"/artifacts")
		case strings.HasPrefix(step.Uses, "actions/download-artifact@"):
			err = copyFiles([]string{"remit.plan", "plan.md"}, work+"/artifacts", ts.MkAbs("."))
		case step.Run != "":
			err = runStep(ts, step, in)
		}
		if step.ID != "" {
			in.outcome[step.ID] = "success"
		}
		if err != nil && failed == "" {
			failed = fmt.Sprintf("step %q: %v", step.Name, err)
			ts.Logf("%s", failed)
		}
	}
	return failed
}

// meets reports whether the condition of a step lets it run, as far as it is about a step that was skipped.
func meets(condition string, in *scope) bool {
	m := regexp.MustCompile(`steps\.([a-z]+)\.outcome != 'skipped'`).FindStringSubmatch(condition)
	return m == nil || in.outcome[m[1]] != "skipped"
}

// runAction runs the steps of an action of this repository, which know nothing of the job but its inputs.
func runAction(ts *testscript.TestScript, step workflowStep, used action, from *scope) error {
	inputs := map[string]string{}
	for name, input := range used.Inputs {
		given, isGiven := step.With[name].(string)
		switch {
		case !isGiven && input.Required:
			ts.Fatalf("%s is not given its %s", step.Uses, name)
		case !isGiven:
			given = input.Default
		}
		if strings.HasPrefix(given, "${{") {
			given = evaluate(ts, given, from)
		}
		inputs[name] = given
	}
	for name := range step.With {
		if _, isOne := used.Inputs[name]; !isOne {
			ts.Fatalf("%s has no input %s", step.Uses, name)
		}
	}
	path := suite.InRoot(ours.FindStringSubmatch(step.Uses)[1])
	if failed := runSteps(ts, used.Runs.Steps, &scope{inputs: inputs, path: path, outputs: map[string]string{}}); failed != "" {
		return errors.New(failed)
	}
	return nil
}

func copyFiles(names []string, from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		// A missing file is no failure: if-no-files-found.
		if out, err := exec.Command("sh", "-c", `[ ! -e "$1" ] || cp -r "$1" "$2"`, "sh", filepath.Join(from, name), to).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return nil
}

// logJob keeps what a step printed in $WORK/log.txt, and shows it.
func logJob(ts *testscript.TestScript, name string, out []byte) {
	ts.Logf("[%s]\n%s", name, out)
	file, err := os.OpenFile(ts.Getenv("WORK")+"/log.txt", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	ts.Check(err)
	_, err = file.Write(out)
	ts.Check(errors.Join(err, file.Close()))
}

// expressions are what a script's workflows know of a request, besides secrets and variables.
var expressions = map[string]string{
	"github.event.pull_request.user.login": "ada", "github.event.pull_request.number": "7",
	"github.repository": "finance/payments", "github.token": "token-of-the-job", "github.sha": "c0ffee",
}

// evaluate is the value of an expression of a workflow or an action.
func evaluate(ts *testscript.TestScript, text string, in *scope) string {
	expression, ok := strings.CutSuffix(strings.TrimPrefix(text, "${{ "), " }}")
	if !ok {
		ts.Fatalf("%s is no expression", text)
	}
	_, variable, isOurs := strings.Cut(expression, ".")
	known, isKnown := expressions[expression]
	switch {
	case isKnown:
		return known
	case expression == "github.workspace":
		return ts.MkAbs(".")
	case strings.HasPrefix(expression, "matrix."), strings.HasPrefix(expression, "needs."):
		return ts.Getenv(strings.ToUpper(expression[strings.LastIndex(expression, ".")+1:])) // of the one job of the matrix
	case strings.HasPrefix(expression, "steps."):
		return in.outputs[expression[strings.LastIndex(expression, ".")+1:]]
	case strings.HasPrefix(expression, "inputs.") && in.inputs != nil:
		value, isOne := in.inputs[variable]
		if !isOne {
			ts.Fatalf("the action has no input %s", variable)
		}
		return value
	case isOurs && in.inputs == nil && (strings.HasPrefix(expression, "secrets.") || strings.HasPrefix(expression, "vars.")):
		return ts.Getenv(variable)
	}
	ts.Fatalf("the test does not know %s", expression)
	return ""
}

func runStep(ts *testscript.TestScript, step workflowStep, in *scope) error {
	work := ts.Getenv("WORK")
	file := func(name string) string { return filepath.Join(work, name) }
	env := []string{
		"RUNNER_TEMP=" + work + "/runner", "GITHUB_OUTPUT=" + file("output"), "GITHUB_PATH=" + file("path"), "GITHUB_STEP_SUMMARY=" + file("summary"),
		"GITHUB_ACTION_PATH=" + in.path,
	}
	ts.Check(os.MkdirAll(work+"/runner", 0o755))
	for name, value := range step.Env {
		env = append(env, name+"="+evaluate(ts, value, in))
	}
	// The job has nothing else of the script's variables but what finds its tools.
	path, _ := os.ReadFile(file("path"))
	dirs := append(strings.Fields(string(path)), work+"/bin", ts.Getenv("PATH"))
	env = append(env, "PATH="+strings.Join(dirs, ":"), "HOME="+work, "WORK="+work, "USER=runner", "REMIT_BINARY="+ts.Getenv("REMIT_BINARY"))
	shell := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
	shell.Dir, shell.Env = ts.MkAbs("."), env
	out, err := shell.CombinedOutput()
	logJob(ts, step.Name, out)
	text, _ := os.ReadFile(file("output"))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		in.outputs[name] = value
	}
	return err
}
