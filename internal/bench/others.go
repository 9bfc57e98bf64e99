//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"remit/internal/bench/figures"
	"remit/internal/bench/load"
)

// found returns an error where PATH does not find a program, and notes its version
// otherwise.
func (s *session) found(program string, version ...string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s is not on this machine", program)
	}
	out, err := exec.Command(program, version...).Output()
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	s.note(line)
	return nil
}

func (s *session) note(other string) {
	for _, known := range s.about.Others {
		if known == other {
			return
		}
	}
	s.about.Others = append(s.about.Others, other)
}

func needsPython(s *session) error { return s.found("python3", "--version") }

// needsTerraform also writes Terraform's own configuration, so that it reaches no network.
func needsTerraform(s *session) error {
	if err := s.found("terraform", "version"); err != nil {
		return err
	}
	return s.writeTerraformRC()
}

func needsRestAPI(s *session) error {
	if err := needsTerraform(s); err != nil {
		return err
	}
	if s.restapi == "" {
		path, err := exec.LookPath("terraform-provider-restapi")
		if err != nil {
			return errors.New("terraform-provider-restapi is not on this machine; -restapi names where it is")
		}
		s.restapi = path
	}
	absolute, err := filepath.Abs(s.restapi)
	if err != nil {
		return err
	}
	s.restapi = absolute
	if _, err := os.Stat(s.restapi); err != nil {
		return err
	}
	s.note(filepath.Base(s.restapi))
	return s.writeTerraformRC()
}

func (s *session) writeTerraformRC() error {
	text := "disable_checkpoint = true\n"
	if s.restapi != "" {
		text += fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"Mastercard/restapi\" = %q\n  }\n}\n", filepath.Dir(s.restapi))
	}
	return os.WriteFile(filepath.Join(s.work, "terraform.rc"), []byte(text), 0o644)
}

// pay runs the script once.
func (s *session) pay(ctx context.Context, url string, size int, database string) (figures.Sample, error) {
	script := filepath.Join(s.work, "script.py")
	if err := load.WriteScript(script); err != nil {
		return figures.Sample{}, err
	}
	rows := filepath.Join(s.dir("declared", size), "rows.csv")
	return s.exec(ctx, s.work, []string{"python3", script, url, rows, database})
}

func scriptPays(latency time.Duration) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, size int) (figures.Sample, error) {
		return s.metered(ctx, serving{latency: latency}, size, func(url string) (figures.Sample, error) {
			database := filepath.Join(s.work, fmt.Sprintf("script-%d.db", s.number()))
			defer func() { _ = os.Remove(database) }()
			return s.pay(ctx, url, size, database)
		})
	}
}

// prepareScript lets the script pay everything, so that it has nothing to do.
func prepareScript(ctx context.Context, s *session, size int) error {
	if err := prepareDeclared(ctx, s, size); err != nil {
		return err
	}
	dir := s.dir("script", size)
	return s.once(dir, func() error {
		running, err := s.serve(ctx, serving{})
		if err != nil {
			return err
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		_, err = s.pay(ctx, running.url, size, filepath.Join(dir, "paid.db"))
		return err
	})
}

func scriptAgain(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.metered(ctx, serving{}, 0, func(url string) (figures.Sample, error) {
		return s.pay(ctx, url, size, filepath.Join(s.dir("script", size), "paid.db"))
	})
}

// prepareTerraform makes a directory of a form that Terraform is initialised in.
func prepareTerraform(ctx context.Context, s *session, kind string, form load.Form, size int) error {
	dir := s.dir(kind, size)
	return s.once(dir, func() error {
		if err := load.WriteConfiguration(dir, form, size, ""); err != nil {
			return err
		}
		_, err := s.terraform(ctx, dir, "init", 0)
		return err
	})
}

func (s *session) terraform(ctx context.Context, dir, verb string, exit int, flags ...string) (figures.Sample, error) {
	args := append([]string{"terraform", verb, "-input=false", "-no-color"}, flags...)
	return s.exec(ctx, dir, args, exit)
}

func prepareTerraformRows(ctx context.Context, s *session, size int) error {
	return prepareTerraform(ctx, s, "terraform-rows", load.TerraformRows, size)
}

func prepareTerraformBlocks(ctx context.Context, s *session, size int) error {
	return prepareTerraform(ctx, s, "terraform-blocks", load.TerraformBlocks, size)
}

// prepareTerraformApplied makes a directory whose resources are all made.
func prepareTerraformApplied(ctx context.Context, s *session, size int) error {
	const kind = "terraform-applied"
	if err := prepareTerraform(ctx, s, kind, load.TerraformRows, size); err != nil {
		return err
	}
	dir := s.dir(kind, size)
	return s.once(filepath.Join(dir, "terraform.tfstate"), func() error {
		_, err := s.terraform(ctx, dir, "apply", 0, "-auto-approve", "-parallelism=256")
		return err
	})
}

// terraformFirst plans resources of which none is made.
func terraformFirst(kind string) func(context.Context, *session, int) (figures.Sample, error) {
	return func(ctx context.Context, s *session, size int) (figures.Sample, error) {
		return s.terraform(ctx, s.dir(kind, size), "plan", exitChanges, "-detailed-exitcode", "-out=first.tfplan")
	}
}

func terraformNothing(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.terraform(ctx, s.dir("terraform-applied", size), "plan", 0, "-detailed-exitcode")
}

// terraformApply makes resources that stand for transfers. Nothing is sent: terraform_data
// lives in the state alone.
func terraformApply(ctx context.Context, s *session, size int) (figures.Sample, error) {
	dir := s.dir("terraform-rows", size)
	sample, err := s.terraform(ctx, dir, "apply", 0, "-auto-approve", "-parallelism=256")
	return sample, errors.Join(err, os.Remove(filepath.Join(dir, "terraform.tfstate")))
}

// restAPIApply makes transfers at the service, with as many requests in flight as remit.
func restAPIApply(ctx context.Context, s *session, size int) (figures.Sample, error) {
	return s.metered(ctx, serving{latency: 20 * time.Millisecond, keep: true}, size, func(url string) (figures.Sample, error) {
		dir := s.dir("restapi-"+strconv.Itoa(s.number()), size)
		defer func() { _ = os.RemoveAll(dir) }()
		if err := load.WriteConfiguration(dir, load.TerraformRestAPI, size, url); err != nil {
			return figures.Sample{}, err
		}
		return s.terraform(ctx, dir, "apply", 0, "-auto-approve", "-parallelism=256")
	})
}
