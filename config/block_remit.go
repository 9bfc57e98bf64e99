package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/mod/semver"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/transfer"
)

const (
	environmentDefault = "default"
	// environmentSandbox is the environment of runs against the embedded service.
	environmentSandbox = "sandbox"
)

func remitKind() eval.Kind {
	return eval.Kind{
		Name: "remit", Single: true, Optional: []string{"required_version", "environment", "include"},
	}
}

// evaluateRemit returns an error only where another version of the program is required.
func evaluateRemit(c *checker, b *eval.Block, version string) (environment string, diags hcl.Diagnostics) {
	if b == nil {
		return environmentDefault, nil
	}
	r := c.narrowReader(b, false)
	constraint, a := r.Text("required_version")
	if constraint != "" {
		ok, err := satisfies(version, constraint)
		switch {
		case err != nil:
			r.Refuse(a.Expr.Range(), "Invalid version requirement", "required_version %s", mistake.Sentence(err))
		case !ok:
			return environmentDefault, hcl.Diagnostics{mistake.New(a.Expr.Range(), "Another version of remit is required",
				"This is remit %s; the configuration requires %s.", version, constraint)}
		}
	}
	environment, a = r.Text("environment")
	switch environment {
	case "":
		environment = environmentDefault
	case environmentSandbox:
		r.Refuse(a.Expr.Range(), "Reserved environment",
			"%q is the environment of runs with --sandbox, in which no money moves. Choose another name.", environmentSandbox)
		environment = environmentDefault
	default:
		if err := transfer.CheckRefID(environment); err != nil {
			r.Refuse(a.Expr.Range(), "Invalid environment", "environment %s", mistake.Sentence(err))
			environment = environmentDefault
		}
	}
	c.report(r.Diags...)
	return environment, nil
}

// satisfies reports whether version meets a constraint such as ">= 0.1.0, < 2.0.0" or
// "~> 1.2". Text that is no semantic version meets every one.
func satisfies(version, constraint string) (bool, error) {
	have := "v" + strings.TrimPrefix(version, "v")
	every := true
	for part := range strings.SplitSeq(constraint, ",") {
		part = strings.TrimSpace(part)
		operator := strings.TrimRight(part[:len(part)-len(strings.TrimLeft(part, "<>=!~"))], " ")
		want := "v" + strings.TrimPrefix(strings.TrimSpace(part[len(operator):]), "v")
		if !semver.IsValid(want) {
			return false, fmt.Errorf("%q has no version such as \">= 0.1.0\" in %q", constraint, part)
		}
		ok, err := meets(have, operator, want)
		if err != nil {
			return false, err
		}
		every = every && ok
	}
	return every || !semver.IsValid(have), nil
}

func meets(have, operator, want string) (bool, error) {
	order := semver.Compare(have, want)
	switch operator {
	case "", "=":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case ">":
		return order > 0, nil
	case ">=":
		return order >= 0, nil
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case "~>": // the last number that is written may grow
		fixed := semver.Major(want)
		if strings.Count(strings.SplitN(want, "-", 2)[0], ".") == 2 {
			fixed = semver.MajorMinor(want)
		}
		return order >= 0 && (semver.Major(have) == fixed || semver.MajorMinor(have) == fixed), nil
	}
	return false, fmt.Errorf("has the operator %q; there are =, !=, >, >=, <, <= and ~>", operator)
}
