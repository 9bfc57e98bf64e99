package config

// EnvironmentVariable names the environment variable that chooses an environment where
// [Options.Environment] says none.
const EnvironmentVariable = "REMIT_ENVIRONMENT"

// environmentPolicyDir names a directory of controls.
const environmentPolicyDir = "REMIT_POLICY_DIR"

// The environment variables that replace arguments that are absent, or whose variable has no value.
const (
	environmentClientID         = "REMIT_CLIENT_ID"
	environmentClientSecret     = "REMIT_CLIENT_SECRET"
	environmentClientSecretFile = "REMIT_CLIENT_SECRET_FILE"
	environmentSignCommand      = "REMIT_SIGN_COMMAND"
)

// otherNames are names that people give to a variable of remit, without the prefix.
var otherNames = map[string][]string{
	environmentPolicyDir: {"POLICY", "POLICIES", "POLICY_DIRECTORY", "POLICY_PATH", "POLICIES_DIR"},
	EnvironmentVariable:  {"ENV"},
	"REMIT_LOG":          {"LOG_LEVEL", "DEBUG"},
	"REMIT_CLI_ARGS":     {"ARGS", "FLAGS"},
}

// environmentOfPipelines is a name that pipelines have for purposes of their own. Where a directory has no environments, nobody means to
// choose one by it.
const environmentOfPipelines = "REMIT_ENV"

// ownPrefix is before the name of each variable of the environment that is remit's own.
const ownPrefix = "REMIT_"

// environmentNames are the variables that remit reads by a name of their own.
var environmentNames = []string{
	environmentPolicyDir, EnvironmentVariable, environmentClientID, environmentClientSecret, environmentClientSecretFile, environmentSignCommand,
	"REMIT_ROOT", "REMIT_CLI_ARGS", "REMIT_LOG",
}

// practice are variables by which people of other tools mean to practise, without the prefix, each with what to type instead: remit reads
// none of them, and would move money.
var practice = map[string]string{
	"SANDBOX": "Type --sandbox", "PRACTICE": "Type --sandbox", "TEST_MODE": "Type --sandbox",
	"DRY_RUN": "Type remit plan, which sends nothing,", "DRYRUN": "Type remit plan, which sends nothing,", "CHECK_MODE": "Type remit plan, which sends nothing,",
}

// refusals are what people write for no in a variable of the environment.
var refusals = []string{"", "0", "f", "false", "n", "no", "off"}
