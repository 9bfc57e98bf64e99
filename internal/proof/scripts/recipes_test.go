//go:build unix

package scripts

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"remit/internal/proof/suite"
)

// TestRecipesAreLinted runs actionlint, and through it shellcheck where there is one.
func TestRecipesAreLinted(t *testing.T) {
	suite.Slow(t)
	workflows, err := filepath.Glob(suite.InRoot("docs", "recipes", "remit-*.yml"))
	if err != nil || len(workflows) < 4 {
		t.Fatalf("found %q, %v", workflows, err)
	}
	workflows = slices.DeleteFunc(workflows, func(name string) bool { return strings.HasSuffix(name, "/remit-alerts.yml") }) // of Prometheus
	lint := exec.Command("go", append([]string{"tool", "-modfile=" + suite.InRoot(".ci", "tools", "actionlint", "go.mod"), "actionlint"}, workflows...)...)
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed here (Debian: apt-get install shellcheck)")
	}
	if out, err := exec.Command("shellcheck", suite.InRoot("docs", "recipes", "pay.sh")).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}

// TestRecipesGiveLittle holds what a recipe must not lose: actions by their commit, no right
// and no secret that a job does not need, one apply at a time.
func TestRecipesGiveLittle(t *testing.T) {
	pinned := regexp.MustCompile(`^(actions|finance)/[a-z-]+(/[a-z]+)*@[0-9a-f]{40}$`)
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
			for _, step := range wholeSteps(t, job.Steps) {
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
