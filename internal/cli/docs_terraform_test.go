package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"remit/internal/text/terraform"
)

// TestDocsTerraform holds that terraform.md has each command and flag of Terraform that remit answers.
func TestDocsTerraform(t *testing.T) {
	text := readDocument(t, "terraform.md").text
	for _, words := range terraform.Commands() {
		if !strings.Contains(text, "`"+words+"`") {
			t.Errorf("terraform.md does not have the command %q", words)
		}
	}
	for _, name := range terraform.Flags() {
		if !regexp.MustCompile("`-" + regexp.QuoteMeta(name) + "[=`]").MatchString(text) {
			t.Errorf("terraform.md does not have the flag -%s", name)
		}
	}
}
