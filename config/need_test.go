package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

// TestNeed holds what a narrow need lets pass, and what it never does.
func TestNeed(t *testing.T) {
	const service = `service { base_url = "https://${local.host}" }
locals { host = var.host }
variable "host" { type = string }
variable "month" { type = string }
`
	cases := map[string]struct {
		text    string
		sandbox bool
		want    map[config.Need][]string // summaries of mistakes
	}{
		"a variable of a transfer alone": {
			text: `variable "month" { type = string }
transfer "internal" "a" {
  from_profile_id = "A"
  to_profile_id   = "B"
  amount          = "1"
  asset           = "USD"
  metadata        = { month = var.month }
}`,
			want: map[config.Need][]string{config.NeedAll: {"Variable has no value"}},
		},
		"a variable of the service": {
			text: service,
			want: map[config.Need][]string{
				config.NeedAll:     {"Variable has no value", "Variable has no value"},
				config.NeedService: {"Variable has no value"},
			},
		},
		"a variable of the service that the sandbox replaces": {
			text: service, sandbox: true,
			want: map[config.Need][]string{config.NeedAll: {"Variable has no value"}},
		},
		"a variable of the path of the state": {
			text: `state "sqlite" { path = var.month }
variable "month" { type = string }`,
			want: map[config.Need][]string{
				config.NeedAll: {"Variable has no value"}, config.NeedService: {"Variable has no value"}, config.NeedState: {"Variable has no value"},
			},
		},
		"a mistake in a local that the state uses, and in one that it does not": {
			text: `state "sqlite" { path = local.path }
locals {
  path  = upper(1, 2)
  other = nobody()
}`,
			want: map[config.Need][]string{
				config.NeedAll:     {"Too many function arguments", "Unknown function"},
				config.NeedService: {"Too many function arguments"},
				config.NeedState:   {"Too many function arguments"},
			},
		},
		"a transfer that lacks arguments, and a data file that is not there": {
			text: `transfer "internal" "a" {}
data "csv" "d" {
  file = "none.csv"
  key  = "k"
}`,
			want: map[config.Need][]string{config.NeedAll: {
				"Missing required argument", "Missing required argument", "Missing required argument", "Missing required argument", "Data file cannot be read",
			}},
		},
		"an opening balance that names a profile with a mistake": {
			text: `sandbox {
  opening_balance {
    profile_id = profile.a.profile_id
    asset      = "USD"
    amount     = "1"
  }
}
profile "a" {}`,
			sandbox: true,
			want: map[config.Need][]string{
				config.NeedAll: {"Missing required argument"}, config.NeedService: {"Missing required argument"},
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, need := range []config.Need{config.NeedAll, config.NeedService, config.NeedState} {
				_, diags := load(t, map[string]string{"main.hcl": c.text}, config.Options{Need: need, Sandbox: c.sandbox})
				var got []string
				for _, d := range diags {
					got = append(got, d.Summary)
				}
				if diff := cmp.Diff(c.want[need], got); diff != "" {
					t.Errorf("need %d: -want +got:\n%s", need, diff)
				}
			}
		})
	}
}

// TestNeedWithoutTransfers is a caller's mistake that must not look like an empty declaration.
func TestNeedWithoutTransfers(t *testing.T) {
	c := mustLoad(t, map[string]string{"main.hcl": ""}, config.Options{Need: config.NeedService})
	defer func() {
		if recover() == nil {
			t.Error("transfers were yielded by a configuration that has not read them")
		}
	}()
	_, _ = all(c)
}
