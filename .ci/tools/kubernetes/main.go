// Command kubernetes says whether CronJobs are what the Kubernetes API of its go.mod takes: each
// field is known, and has its type. It needs no cluster.
//
//	go run -C .ci/tools/kubernetes . FILE…
package main

import (
	"fmt"
	"os"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

func main() {
	for _, name := range os.Args[1:] {
		if err := check(name); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
		fmt.Println(name, "is a CronJob as it should be")
	}
}

func check(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var job batchv1.CronJob
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		return err
	}
	for what, holds := range claims(&job) {
		if !holds {
			return fmt.Errorf("it is not so that %s", what)
		}
	}
	return nil
}

// claims are what docs/nights.md says of the manifest, in the API's own words.
func claims(job *batchv1.CronJob) map[string]bool {
	spec := job.Spec.JobTemplate.Spec
	pod := spec.Template.Spec
	c := pod.Containers[0]
	of := func(b *bool) bool { return b != nil && *b }
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
		"the rest is":                                 spec.BackoffLimit != nil && *spec.BackoffLimit > 0 && pod.RestartPolicy == corev1.RestartPolicyNever,
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
