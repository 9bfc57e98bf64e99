package config_test

import (
	"strings"
	"testing"

	"remit/config"
)

// TestAnotherCapOrPolicyIsAnotherControl edits what a reviewer has read, one part at a time.
func TestAnotherCapOrPolicyIsAnotherControl(t *testing.T) {
	const book = "profile \"a\" {\n  profile_id = \"a\"\n  account_id = \"one\"\n}\n"
	for of, all := range map[string]map[string]map[string]string{
		"limit": {
			"":               {"main.hcl": "limit \"l\" {\n  per        = \"day\"\n  asset      = \"USD\"\n  max_amount = \"5\"\n}\n"},
			"a zone":         {"main.hcl": "limit \"l\" {\n  per        = \"day\"\n  asset      = \"USD\"\n  max_amount = \"5\"\n  timezone   = \"Asia/Tokyo\"\n}\n"},
			"an amount":      {"main.hcl": "limit \"l\" {\n  per        = \"day\"\n  asset      = \"USD\"\n  max_amount = \"6\"\n}\n"},
			"an asset":       {"main.hcl": "limit \"l\" {\n  per        = \"day\"\n  asset      = \"EUR\"\n  max_amount = \"5\"\n}\n"},
			"a count":        {"main.hcl": "limit \"l\" {\n  per        = \"day\"\n  asset      = \"USD\"\n  max_amount = \"5\"\n  max_count  = 5\n}\n"},
			"another count":  {"main.hcl": "limit \"l\" {\n  per        = \"day\"\n  asset      = \"USD\"\n  max_amount = \"5\"\n  max_count  = 6\n}\n"},
			"a span":         {"main.hcl": "limit \"l\" {\n  per        = \"destination_day\"\n  asset      = \"USD\"\n  max_amount = \"5\"\n}\n"},
			"another's name": {"main.hcl": "limit \"m\" {\n  per        = \"day\"\n  asset      = \"USD\"\n  max_amount = \"5\"\n}\n"},
		},
		"only_profiles": {
			"":                     {"main.hcl": "policy \"p\" {\n  only_profiles = true\n}\n", "book.hcl": book},
			"an account":           {"main.hcl": "policy \"p\" {\n  only_profiles = true\n}\n", "book.hcl": "profile \"a\" {\n  profile_id = \"a\"\n  account_id = \"two\"\n}\n"},
			"no account":           {"main.hcl": "policy \"p\" {\n  only_profiles = true\n}\n", "book.hcl": "profile \"a\" {\n  profile_id = \"a\"\n}\n"},
			"an identity":          {"main.hcl": "policy \"p\" {\n  only_profiles = true\n}\n", "book.hcl": "profile \"a\" {\n  profile_id  = \"a\"\n  identity_id = \"one\"\n}\n"},
			"a profile more":       {"main.hcl": "policy \"p\" {\n  only_profiles = true\n}\n", "book.hcl": book + "profile \"b\" {\n  profile_id = \"b\"\n}\n"},
			"another profile more": {"main.hcl": "policy \"p\" {\n  only_profiles = true\n}\n", "book.hcl": book + "profile \"b\" {\n  profile_id = \"c\"\n}\n"},
		},
		"policy": {
			"":          {"main.hcl": "locals {\n  most = 5\n}\npolicy \"p\" {\n  condition     = plan.count <= local.most\n  error_message = \"Too many.\"\n  scope         = \"plan\"\n}\n"},
			"a local":   {"main.hcl": "locals {\n  most = 6\n}\npolicy \"p\" {\n  condition     = plan.count <= local.most\n  error_message = \"Too many.\"\n  scope         = \"plan\"\n}\n"},
			"a message": {"main.hcl": "locals {\n  most = 5\n}\npolicy \"p\" {\n  condition     = plan.count <= local.most\n  error_message = \"Far too many.\"\n  scope         = \"plan\"\n}\n"},
			"a sign":    {"main.hcl": "locals {\n  most = 5\n}\npolicy \"p\" {\n  condition     = plan.count < local.most\n  error_message = \"Too many.\"\n  scope         = \"plan\"\n}\n"},
		},
		"approval": {
			"":             approvalFiles("  rule {\n    approvers = 1\n  }\n"),
			"device_bound": approvalFiles("  rule {\n    approvers    = 1\n    device_bound = true\n  }\n"),
		},
		"passkeys": {
			"":               passkeyFiles("", ""),
			"an origin":      passkeyFiles("", "    origins = { localhost = [\"http://localhost:8000\"] }\n"),
			"an origin more": passkeyFiles("", "    origins = { localhost = [\"http://localhost:8000\", \"http://localhost:8001\"] }\n"),
		},
	} {
		seen := make(map[string]string)
		for name, files := range all {
			digest := mustLoad(t, files, config.Options{}).Controls().Digest()
			if other, isTwice := seen[digest]; isTwice {
				t.Errorf("%s: %q has the digest of %q", of, name, other)
			}
			seen[digest] = name
		}
	}
}

// TestAByteOfAPolicyDirectoryIsAnotherControl changes a file of a policy directory, once by what it says and once by a comment, and its name.
func TestAByteOfAPolicyDirectoryIsAnotherControl(t *testing.T) {
	const limit = "limit \"l\" {\n  per       = \"plan\"\n  max_count = 5\n}\n"
	seen := make(map[string]string)
	for name, file := range map[string][2]string{
		"":                {"limits.hcl", limit},
		"another count":   {"limits.hcl", strings.Replace(limit, "5", "6", 1)},
		"a comment":       {"limits.hcl", limit + "# as the board says\n"},
		"another comment": {"limits.hcl", limit + "# as the bank says\n"},
		"another name":    {"caps.hcl", limit},
	} {
		c := mustLoad(t, map[string]string{"main.hcl": "", "rules/" + file[0]: file[1]}, config.Options{PolicyDirs: []string{"rules"}})
		digest := c.Controls().Digest()
		if other, isTwice := seen[digest]; isTwice {
			t.Errorf("%q has the digest of %q", name, other)
		}
		seen[digest] = name
	}
}

// TestAHashTotalOfNothingIsAControl tells a batch that is to have no transfer from one of which the hash total is not known.
func TestAHashTotalOfNothingIsAControl(t *testing.T) {
	for argument, want := range map[string]string{`hash_total = "0"`: "0", `hash_total = "0.00"`: "0", `hash_total = "7.50"`: "7.5", "count = 0": ""} {
		c := mustLoad(t, map[string]string{"main.hcl": "batch \"b\" {\n  control {\n    " + argument + "\n  }\n}\n"}, config.Options{})
		got := ""
		if hash := c.Batches[0].Control.HashTotal; hash != nil {
			got = hash.String()
		}
		if got != want {
			t.Errorf("%s: the hash total is %q, want %q", argument, got, want)
		}
	}
}

// TestLineEndsAloneAreNoOtherText reads files of a policy directory as several systems check them out.
func TestLineEndsAloneAreNoOtherText(t *testing.T) {
	const unix = "limit \"l\" {\n  per       = \"plan\"\n  max_count = 5\n}\n"
	windows := strings.ReplaceAll(unix, "\n", "\r\n")
	read := func(text string) (config.Controls, string) {
		controls := mustLoad(t, map[string]string{"main.hcl": "", "rules/limits.hcl": text}, config.Options{PolicyDirs: []string{"rules"}}).Controls()
		return controls, controls.Files[0].SHA256
	}
	for name, c := range map[string]struct {
		then, now string
		want      bool
	}{
		"a plan of Linux on Windows":       {unix, windows, true},
		"a plan of Windows on Linux":       {windows, unix, true},
		"a file with line ends of both":    {unix, strings.Replace(windows, "\r", "", 1), true},
		"the same bytes":                   {unix, unix, false},
		"another count, and other ends":    {strings.Replace(unix, "5", "6", 1), windows, false},
		"no line end behind the last line": {strings.TrimSuffix(unix, "\n"), windows, false},
	} {
		_, then := read(c.then)
		controls, now := read(c.now)
		if got := controls.DifferInEnds(then, now); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
