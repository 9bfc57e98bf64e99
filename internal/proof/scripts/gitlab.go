//go:build unix

package scripts

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"remit/internal/proof/suite"
)

// gitlabJob is what the tests read of a job of GitLab CI.
type gitlabJob struct {
	Extends       string            `json:"extends"`
	Stage         string            `json:"stage"`
	ResourceGroup string            `json:"resource_group"`
	Variables     map[string]string `json:"variables"`
	Script        []string          `json:"script"`
	AfterScript   []string          `json:"after_script"`
}

// component is a component of this repository for GitLab, as the recipes name it; the group is its name.
var component = regexp.MustCompile(`^\$CI_SERVER_FQDN/finance/remit/([a-z]+)@[0-9a-f]{40}$`)

// readGitLabJobs reads the jobs of a recipe, and those of the components that it includes, with the inputs that it gives.
func readGitLabJobs(file string) (map[string]json.RawMessage, error) {
	var recipe struct {
		Include []struct {
			Component string            `json:"component"`
			Inputs    map[string]string `json:"inputs"`
		} `json:"include"`
	}
	var jobs map[string]json.RawMessage
	if err := errors.Join(readYAML(file, &recipe), readYAML(file, &jobs)); err != nil {
		return nil, err
	}
	for _, one := range recipe.Include {
		m := component.FindStringSubmatch(one.Component)
		if m == nil {
			return nil, fmt.Errorf("%s: %s is no component of this repository, named by its commit", file, one.Component)
		}
		text, err := os.ReadFile(suite.InRoot("templates", m[1], "template.yml"))
		if err != nil {
			return nil, err
		}
		head, body, _ := strings.Cut(string(text), "\n---\n")
		var declared struct {
			Spec struct {
				Inputs map[string]struct {
					Default string `json:"default"`
					Regex   string `json:"regex"`
				} `json:"inputs"`
			} `json:"spec"`
		}
		if err := parseYAML([]byte(head), &declared); err != nil {
			return nil, fmt.Errorf("%s: %w", m[1], err)
		}
		for name, input := range declared.Spec.Inputs {
			value, isGiven := one.Inputs[name]
			if !isGiven {
				value = input.Default
			}
			if !regexp.MustCompile(strings.Trim(input.Regex, "/")).MatchString(value) || value == "" {
				return nil, fmt.Errorf("%s: the input %s of %s is %q", file, name, m[1], value)
			}
			body = strings.ReplaceAll(body, "$[[ inputs."+name+" ]]", value)
		}
		if strings.Contains(body, "$[[") {
			return nil, fmt.Errorf("%s uses an input that it does not declare", m[1])
		}
		var more map[string]json.RawMessage
		if err := parseYAML([]byte(body), &more); err != nil {
			return nil, fmt.Errorf("%s: %w", m[1], err)
		}
		maps.Copy(jobs, more)
	}
	return jobs, nil
}

// readGitLab reads a job of a recipe, with what it extends.
func readGitLab(file, name string) (gitlabJob, error) {
	jobs, err := readGitLabJobs(file)
	if err != nil {
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

// runGitLab is the script command
//
//	gitlab JOB         of gitlab-ci.yml
//	gitlab FILE JOB
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
