package terraform

import "iter"

// Way is remit's way to do the work of a variable of Terraform's environment.
type Way struct {
	Text    string // a sentence
	Instead string // the variable that remit reads; "" for none
	Default string // a value that changes nothing; "" for none
}

// environment are variables of Terraform's environment that would change what a command does, in the order in
// which they are told. One that remit honours in part, and one that only says where files are kept, is not here.
var environment = []struct {
	name string
	way  Way
}{
	{"TF_WORKSPACE", Way{"Set REMIT_ENVIRONMENT.", "REMIT_ENVIRONMENT", "default"}},
	{"TF_CLI_ARGS", Way{"Set REMIT_CLI_ARGS.", "REMIT_CLI_ARGS", ""}},
	{"TF_CLI_ARGS_init", Way{"Set REMIT_CLI_ARGS.", "REMIT_CLI_ARGS", ""}},
	{"TF_CLI_ARGS_validate", Way{"Set REMIT_CLI_ARGS.", "REMIT_CLI_ARGS", ""}},
	{"TF_CLI_ARGS_plan", Way{"Set REMIT_CLI_ARGS.", "REMIT_CLI_ARGS", ""}},
	{"TF_CLI_ARGS_apply", Way{"Set REMIT_CLI_ARGS.", "REMIT_CLI_ARGS", ""}},
	{"TF_CLI_ARGS_test", Way{"Set REMIT_CLI_ARGS.", "REMIT_CLI_ARGS", ""}},
	{"TF_LOG", Way{"Set REMIT_LOG.", "REMIT_LOG", "OFF"}},
	{"TF_LOG_CORE", Way{"Set REMIT_LOG.", "REMIT_LOG", "OFF"}},
	{"TF_LOG_PROVIDER", Way{"Set REMIT_LOG.", "REMIT_LOG", "OFF"}},
	{"TF_LOG_PATH", Way{"The log goes to standard error.", "REMIT_LOG", ""}},
	{"TF_INPUT", Way{"Say --input=false, or set CI.", "CI", "1"}},
	{"TF_DATA_DIR", Way{inStateBlock, "", ".terraform"}},
	{"TF_CLOUD_ORGANIZATION", Way{inStateBlock, "", ""}},
	{"TF_CLOUD_HOSTNAME", Way{inStateBlock, "", ""}},
	{"TF_CLOUD_PROJECT", Way{inStateBlock, "", ""}},
	{"TF_ENCRYPTION", Way{"remit encrypts no state: keep it where only those who apply can read it.", "", ""}},
}

const inStateBlock = "The state block says where the state is."

// Environment yields the variables of Terraform's environment that remit does not read, each with the way to do
// the same.
func Environment() iter.Seq2[string, Way] {
	return func(yield func(string, Way) bool) {
		for _, v := range environment {
			if !yield(v.name, v.way) {
				return
			}
		}
	}
}
