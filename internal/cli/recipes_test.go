package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	yaml "github.com/zclconf/go-cty-yaml"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"remit/internal/proof/suite"
)

const recipes = "../../docs/recipes"

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

// gitlabJob is what the tests read of a job of GitLab CI.
type gitlabJob struct {
	Extends       string            `json:"extends"`
	Stage         string            `json:"stage"`
	ResourceGroup string            `json:"resource_group"`
	Variables     map[string]string `json:"variables"`
	Script        []string          `json:"script"`
	AfterScript   []string          `json:"after_script"`
}

// readGitLab reads a job of a recipe, with what it extends.
func readGitLab(file, name string) (gitlabJob, error) {
	var jobs map[string]json.RawMessage
	if err := readYAML(file, &jobs); err != nil {
		return gitlabJob{}, err
	}
	var job gitlabJob
	if err := json.Unmarshal(jobs[name], &job); err != nil {
		return job, fmt.Errorf("%s has no job %s: %w", file, name, err)
	}
	var whole gitlabJob
	if job.Extends != "" {
		var err error
		if whole, err = readGitLab(file, job.Extends); err != nil {
			return job, err
		}
	} else if text := jobs["variables"]; text != nil { // of all jobs
		if err := json.Unmarshal(text, &whole.Variables); err != nil {
			return job, err
		}
	}
	return whole, json.Unmarshal(jobs[name], &whole)
}

// readYAML reads a file as package json would read the same in JSON.
func readYAML(name string, into any) error {
	text, err := os.ReadFile(filepath.Join(recipes, name))
	if err != nil {
		return err
	}
	kind, err := yaml.ImpliedType(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	value, err := yaml.Unmarshal(text, kind)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	raw, err := ctyjson.Marshal(value, kind)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// TestRecipesAreLinted runs actionlint, and through it shellcheck where there is one.
func TestRecipesAreLinted(t *testing.T) {
	suite.Slow(t)
	workflows, err := filepath.Glob(recipes + "/remit-*.yml")
	if err != nil || len(workflows) < 4 {
		t.Fatalf("found %q, %v", workflows, err)
	}
	workflows = slices.DeleteFunc(workflows, func(name string) bool { return strings.HasSuffix(name, "/remit-alerts.yml") }) // of Prometheus
	lint := exec.Command("go", append([]string{"tool", "-modfile=../../.ci/tools/actionlint/go.mod", "actionlint"}, workflows...)...)
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed here (Debian: apt-get install shellcheck)")
	}
	if out, err := exec.Command("shellcheck", recipes+"/pay.sh").CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}

// TestRecipesGiveLittle holds what a recipe must not lose: actions by their commit, no right
// and no secret that a job does not need, one apply at a time.
func TestRecipesGiveLittle(t *testing.T) {
	pinned := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40}$`)
	secrets := map[string][]string{} // by step
	for _, name := range []string{"remit-plan.yml", "remit-apply.yml", "remit-tree-plan.yml", "remit-tree-apply.yml"} {
		var w workflow
		if err := readYAML(name, &w); err != nil {
			t.Fatal(err)
		}
		if w.Permissions == nil || len(w.Permissions) > 0 {
			t.Errorf("%s: the workflow itself has rights: %v", name, w.Permissions)
		}
		for id, job := range w.Jobs {
			writes := 0
			for right, level := range job.Permissions {
				if level == "write" && right != "pull-requests" {
					t.Errorf("%s, %s: may write %s", name, id, right)
				}
				if level == "write" {
					writes++
				}
			}
			if writes > 0 && (id != "comment" || len(job.Permissions) != 1) {
				t.Errorf("%s, %s: has rights %v", name, id, job.Permissions)
			}
			for _, step := range job.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned by a commit", name, step.Uses)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s, %q: what others write stands in a script: give it by env", name, step.Name)
				}
				for _, value := range step.Env {
					if secret, ok := strings.CutPrefix(value, "${{ secrets."); ok {
						secrets[name+" "+step.Name] = append(secrets[name+" "+step.Name], strings.TrimSuffix(secret, " }}"))
					}
				}
			}
		}
		if name == "remit-apply.yml" && (w.Concurrency.Group != "remit-apply" || w.Concurrency.Cancel || w.Jobs["apply"].Environment != "payments") {
			t.Errorf("%s: two applies could overlap, or anyone could start one", name)
		}
		if name == "remit-tree-apply.yml" && (w.Concurrency.Group != "remit-tree-apply" || w.Concurrency.Cancel || w.Jobs["apply"].Environment != "payments-${{ matrix.plan.environment }}" || w.Jobs["apply"].Strategy.Parallel != 1) {
			t.Errorf("%s: two applies could overlap, or anyone could start one", name)
		}
	}
	for step, names := range secrets {
		for _, secret := range names {
			switch secret {
			case "STATE_READ_URL", "STATE_READ_URL_STAGING", "STATE_READ_URL_PRODUCTION":
			case "STATE_URL", "STATE_URL_STAGING", "STATE_URL_PRODUCTION":
				if !strings.HasPrefix(step, "remit-apply.yml") && !strings.HasPrefix(step, "remit-tree-apply.yml") {
					t.Errorf("%s has %s", step, secret)
				}
			case "REMIT_CLIENT_ID", "REMIT_CLIENT_SECRET":
				if step != "remit-apply.yml apply" && step != "remit-tree-apply.yml apply" {
					t.Errorf("%s has %s", step, secret)
				}
			default:
				t.Errorf("%s has %s", step, secret)
			}
		}
	}
	if len(secrets["remit-apply.yml apply"]) != 3 || len(secrets["remit-tree-apply.yml apply"]) != 4 {
		t.Errorf("a step that applies lacks its secrets: %v", secrets)
	}
	for _, of := range [][2]string{{"gitlab-ci.yml", "apply"}, {"gitlab-tree-ci.yml", "apply staging"}, {"gitlab-tree-ci.yml", "apply production"}} {
		if apply, err := readGitLab(of[0], of[1]); err != nil || apply.ResourceGroup != "remit-apply" {
			t.Errorf("%s: two applies could overlap: %v", of, err)
		}
	}
}

// runWorkflow is the script command
//
//	workflow FILE JOB
//
// which runs the steps of a job in the script's directory. Secrets and variables are the
// script's own; artifacts go by $WORK/artifacts; gh and curl are those of $WORK/bin.
func runWorkflow(ts *testscript.TestScript, neg bool, args []string) {
	var w workflow
	ts.Check(readYAML(args[0], &w))
	steps := w.Jobs[args[1]].Steps
	if len(steps) == 0 {
		ts.Fatalf("%s has no job %s", args[0], args[1])
	}
	work := ts.Getenv("WORK")
	outputs := map[string]string{}
	failed := ""
	for _, step := range steps {
		if failed != "" && !strings.Contains(step.If, "always()") {
			continue
		}
		var err error
		switch {
		case strings.HasPrefix(step.Uses, "actions/upload-artifact@"):
			err = copyFiles(strings.Fields(step.With["path"].(string)), ts.MkAbs("."), work+"/artifacts")
		case strings.HasPrefix(step.Uses, "actions/download-artifact@"):
			err = copyFiles([]string{"remit.plan", "plan.md"}, work+"/artifacts", ts.MkAbs("."))
		case step.Run != "":
			err = runStep(ts, step, outputs)
		}
		if err != nil && failed == "" {
			failed = fmt.Sprintf("step %q: %v", step.Name, err)
			ts.Logf("%s", failed)
		}
	}
	if (failed != "") != neg {
		ts.Fatalf("workflow %s %s: %q", args[0], args[1], failed)
	}
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

func runStep(ts *testscript.TestScript, step workflowStep, outputs map[string]string) error {
	work := ts.Getenv("WORK")
	file := func(name string) string { return filepath.Join(work, name) }
	env := []string{
		"RUNNER_TEMP=" + work + "/runner", "GITHUB_OUTPUT=" + file("output"), "GITHUB_PATH=" + file("path"), "GITHUB_STEP_SUMMARY=" + file("summary"),
	}
	ts.Check(os.MkdirAll(work+"/runner", 0o755))
	for name, value := range step.Env {
		expression, ok := strings.CutSuffix(strings.TrimPrefix(value, "${{ "), " }}")
		if !ok {
			ts.Fatalf("step %q: env %s=%s is no expression", step.Name, name, value)
		}
		_, variable, isOurs := strings.Cut(expression, ".")
		switch known, isKnown := expressions[expression]; {
		case isKnown:
			value = known
		case expression == "github.workspace":
			value = ts.MkAbs(".")
		case strings.HasPrefix(expression, "matrix."), strings.HasPrefix(expression, "needs."):
			value = ts.Getenv(strings.ToUpper(expression[strings.LastIndex(expression, ".")+1:])) // of the one job of the matrix
		case strings.HasPrefix(expression, "steps."):
			value = outputs[expression[strings.LastIndex(expression, ".")+1:]]
		case isOurs && (strings.HasPrefix(expression, "secrets.") || strings.HasPrefix(expression, "vars.")):
			value = ts.Getenv(variable)
		default:
			ts.Fatalf("step %q: the test does not know %s", step.Name, expression)
		}
		env = append(env, name+"="+value)
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
		outputs[name] = value
	}
	return err
}

// runGitLab is the script command
//
//	gitlab [FILE] JOB
//
// which runs a job of the recipe for GitLab CI as its runner does, with the script's variables and those of the job.
func runGitLab(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 1 {
		args = []string{"gitlab-ci.yml", args[0]}
	}
	job, err := readGitLab(args[0], args[1])
	ts.Check(err)
	work := ts.Getenv("WORK")
	run := func(lines []string) error {
		shell := exec.Command("bash", "--noprofile", "--norc", "-e", "-c", strings.Join(slices.Insert(slices.Clone(lines), 0, "set -o pipefail"), "\n"))
		shell.Dir = ts.MkAbs(".")
		shell.Env = append(os.Environ(), "HOME="+work, "WORK="+work, "USER=runner", "PATH="+work+"/bin:"+ts.Getenv("PATH"))
		for _, name := range []string{
			"STATE_READ_URL", "STATE_URL", "NOTE_TOKEN", "READ_TOKEN", "REMIT_CLIENT_ID", "REMIT_CLIENT_SECRET",
			"CI_API_V4_URL", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID", "CI_COMMIT_SHA", "CI_MERGE_REQUEST_DIFF_BASE_SHA", "GITLAB_USER_LOGIN",
		} {
			shell.Env = append(shell.Env, name+"="+ts.Getenv(name))
		}
		shell.Env = append(shell.Env, "CI_PROJECT_DIR="+shell.Dir)
		for name, value := range job.Variables {
			shell.Env = append(shell.Env, name+"="+os.Expand(value, func(name string) string {
				if name == "CI_PROJECT_DIR" {
					return shell.Dir
				}
				return ts.Getenv(name)
			}))
		}
		out, err := shell.CombinedOutput()
		logJob(ts, args[1], out)
		return err
	}
	err = run(job.Script)
	if len(job.AfterScript) > 0 {
		_ = run(job.AfterScript) // its failure is no failure of the job
	}
	if (err != nil) != neg {
		ts.Fatalf("gitlab %s: %v", args, err)
	}
}
