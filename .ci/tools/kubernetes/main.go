// Command kubernetes says whether CronJobs, and the budgets of their pods, are what the Kubernetes API of its go.mod
// takes: each field is known, and has its type. Of a directory it builds the Kustomize tree, as kubectl apply -k does, and judges
// each object of that, in a tree of somebody's own on top of it as well. It needs no cluster.
//
//	go run -C .ci/tools/kubernetes . FILE|DIRECTORY…
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func main() {
	for _, name := range os.Args[1:] {
		kinds, err := check(name)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
		fmt.Println(name, "is a", strings.Join(kinds, " and a "), "as it should be")
	}
}

func check(name string) (kinds []string, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return checkTree(name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	kind, err := checkObject(text)
	return []string{kind}, err
}

// checkTree builds the Kustomize tree of a directory and judges its objects: every file of it must be in the tree. A tree on top
// of it that has an image and a schedule of its own must find the places of both.
func checkTree(dir string) (kinds []string, err error) {
	disk := filesys.MakeFsOnDisk()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, dir)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	if built.Size() != len(files)-1 { // one is the tree's own
		return nil, fmt.Errorf("the tree has %d objects, and there are %d files beside its own", built.Size(), len(files)-1)
	}
	for _, object := range built.Resources() {
		text, err := object.AsYAML()
		if err != nil {
			return nil, err
		}
		kind, err := checkObject(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", object.CurId(), err)
		}
		kinds = append(kinds, kind)
	}
	return kinds, checkOverlay(dir)
}

// overlay is a tree as somebody makes it of ours, without a change in our files.
const overlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: treasury
resources: [base]
images:
  - name: registry.example.com/treasury/payments
    newName: registry.example.org/pay
    digest: sha256:1111111111111111111111111111111111111111111111111111111111111111
patches:
  - patch: |-
      apiVersion: batch/v1
      kind: CronJob
      metadata: {name: remit-runners, namespace: payments}
      spec: {schedule: "15 2 * * *"}
`

func checkOverlay(dir string) error {
	memory := filesys.MakeFsInMemory()
	if err := memory.WriteFile("/own/kustomization.yaml", []byte(overlay)); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := memory.WriteFile("/own/base/"+filepath.Base(file), text); err != nil {
			return err
		}
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/own")
	if err != nil {
		return fmt.Errorf("a tree on top of it: %w", err)
	}
	text, err := built.AsYaml()
	if err != nil {
		return err
	}
	for want, n := range map[string]int{
		"namespace: treasury\n": built.Size(), "schedule: 15 2 * * *\n": 1, "image: registry.example.org/pay@sha256:1111": 1, "namespace: payments": 0,
	} {
		if got := strings.Count(string(text), want); got != n {
			return fmt.Errorf("a tree on top of it has %q %d times, and not %d times:\n%s", want, got, n, text)
		}
	}
	return nil
}

// checkObject judges one object.
func checkObject(text []byte) (kind string, err error) {
	var is metav1.TypeMeta
	if err := yaml.Unmarshal(text, &is); err != nil {
		return "", err
	}
	var list map[string]bool
	if is.Kind == "PodDisruptionBudget" {
		var budget policyv1.PodDisruptionBudget
		if err := yaml.UnmarshalStrict(text, &budget); err != nil {
			return "", err
		}
		list = claimsOfBudget(&budget)
	} else {
		var job batchv1.CronJob
		if err := yaml.UnmarshalStrict(text, &job); err != nil {
			return "", err
		}
		list = claims(&job)
		if mode := job.Spec.JobTemplate.Spec.CompletionMode; mode != nil && *mode == batchv1.IndexedCompletion {
			maps.Copy(list, claimsOfRunners(&job))
		}
	}
	for what, holds := range list {
		if !holds {
			return "", fmt.Errorf("it is not so that %s", what)
		}
	}
	return is.Kind, nil
}

// runner is the label of the pods that carry a run out together.
const runner = "app.kubernetes.io/component"

// claimsOfBudget are what docs/nights.md says of the budget.
func claimsOfBudget(b *policyv1.PodDisruptionBudget) map[string]bool {
	return map[string]bool{
		"it is of policy/v1":                 b.APIVersion == "policy/v1",
		"a drain takes one runner at a time": b.Spec.MaxUnavailable != nil && b.Spec.MaxUnavailable.IntValue() == 1,
		"it is about the runners":            b.Spec.Selector != nil && b.Spec.Selector.MatchLabels[runner] == "runner",
		"it is where the runners are":        b.Namespace == "payments",
	}
}

// claimsOfRunners are what it says of pods that carry a run out together.
func claimsOfRunners(job *batchv1.CronJob) map[string]bool {
	spec := job.Spec.JobTemplate.Spec
	ignored := false
	if spec.PodFailurePolicy != nil {
		for _, r := range spec.PodFailurePolicy.Rules {
			ignored = ignored || r.Action == batchv1.PodFailurePolicyActionIgnore && len(r.OnPodConditions) == 1 && r.OnPodConditions[0].Type == corev1.DisruptionTarget
		}
	}
	return map[string]bool{
		"several pods run at once":        spec.Parallelism != nil && spec.Completions != nil && *spec.Parallelism > 1 && *spec.Completions == *spec.Parallelism,
		"each of them joins, or begins":   slices.Contains(spec.Template.Spec.Containers[0].Args, "--join") && slices.Contains(spec.Template.Spec.Containers[0].Args, "--auto-approve"),
		"the budget finds them":           spec.Template.Labels[runner] == "runner",
		"a drained node counts as no try": ignored,
		"no probe ends a pod that waits":  spec.Template.Spec.Containers[0].LivenessProbe == nil,
	}
}

// claims are what docs/nights.md says of the manifest, in the API's own words.
func claims(job *batchv1.CronJob) map[string]bool {
	spec := job.Spec.JobTemplate.Spec
	pod := spec.Template.Spec
	c := pod.Containers[0]
	of := func(b *bool) bool { return b != nil && *b }
	isMore := func(n *int32) bool { return n != nil && *n > 0 }
	is := func(b *bool, want bool) bool { return b != nil && *b == want }
	secretsInEnvironment := false
	for _, e := range c.Env {
		secretsInEnvironment = secretsInEnvironment || e.ValueFrom != nil
	}
	rules := 0
	if spec.PodFailurePolicy != nil {
		for _, r := range spec.PodFailurePolicy.Rules {
			if r.Action == batchv1.PodFailurePolicyActionFailJob && r.OnExitCodes != nil && *r.OnExitCodes.ContainerName == c.Name &&
				r.OnExitCodes.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn && fmt.Sprint(r.OnExitCodes.Values) == "[3 5]" {
				rules++
			}
		}
	}
	return map[string]bool{
		"it is a CronJob of batch/v1":                 job.APIVersion == "batch/v1" && job.Kind == "CronJob",
		"two jobs never overlap":                      job.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent,
		"a missed night is made up for":               job.Spec.StartingDeadlineSeconds != nil && *job.Spec.StartingDeadlineSeconds > 3600,
		"3 and 5 are not tried again":                 rules == 1,
		"the rest is":                                 (isMore(spec.BackoffLimit) || isMore(spec.BackoffLimitPerIndex)) && pod.RestartPolicy == corev1.RestartPolicyNever,
		"a run has an end":                            spec.ActiveDeadlineSeconds != nil,
		"it runs as another user than root":           pod.SecurityContext != nil && of(pod.SecurityContext.RunAsNonRoot) && pod.SecurityContext.RunAsUser != nil && *pod.SecurityContext.RunAsUser != 0,
		"it has the runtime's system call filter":     pod.SecurityContext.SeccompProfile != nil && pod.SecurityContext.SeccompProfile.Type == corev1.SeccompProfileTypeRuntimeDefault,
		"it gains no privileges":                      c.SecurityContext != nil && is(c.SecurityContext.AllowPrivilegeEscalation, false),
		"it has no capability":                        len(c.SecurityContext.Capabilities.Drop) == 1 && c.SecurityContext.Capabilities.Drop[0] == "ALL" && len(c.SecurityContext.Capabilities.Add) == 0,
		"its root file system is read-only":           of(c.SecurityContext.ReadOnlyRootFilesystem),
		"it has no token of the cluster":              is(pod.AutomountServiceAccountToken, false),
		"no secret is in its environment":             !secretsInEnvironment && len(c.EnvFrom) == 0,
		"only its own group may read its secrets":     pod.Volumes[0].Secret != nil && *pod.Volumes[0].Secret.DefaultMode == 0o440,
		"its memory is bounded":                       c.Resources.Limits.Memory().Cmp(resource.MustParse("64Mi")) > 0,
		"its image is named by its digest":            len(c.Image) > 64 && c.Image[len(c.Image)-72:][:8] == "@sha256:",
		"it has time to drain when it is told to end": *pod.TerminationGracePeriodSeconds >= 45,
	}
}
