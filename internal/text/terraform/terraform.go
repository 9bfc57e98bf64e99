// Package terraform answers the words of Terraform that remit lacks, each with a sentence that says why and
// the way to do the same: commands and flags, and blocks, arguments and values of the language.
// docs/terraform.md lists them.
//
// Its one invariant: it only answers. Nothing runs in the place of the typed command.
package terraform

import (
	"maps"
	"slices"
	"strings"
)

// Answer is what remit says to a word of Terraform.
type Answer struct {
	Text string // sentences without a full stop at the end, in lower case, as errors are
	Next string // a command to type; "" for none
}

// newEnvironment makes the state of an environment.
const newEnvironment = "remit init --environment=NAME"

// noLogin and withCredentials answer people who look for a place to leave the service's credentials.
const (
	noLogin         = "remit keeps no login: an apply takes the credentials of the service from its environment, and a plan needs none"
	withCredentials = "REMIT_CLIENT_ID=ID REMIT_CLIENT_SECRET_FILE=FILE remit apply PLAN"
)

// commands are those of Terraform and OpenTofu that remit lacks, by their words behind the program's name.
var commands = map[string]Answer{
	"destroy":                {"remit has no destroy: money that moved does not come back. reversal writes the transfers that give it back", "remit reversal REF_ID"},
	"taint":                  {"remit has no taint: a recorded transfer is never made again. To pay once more, declare a transfer with a new ref_id", "remit why REF_ID"},
	"untaint":                {"remit has no untaint: nothing is tainted, because a recorded transfer is never made again", "remit why REF_ID"},
	"output":                 {"remit has no outputs. show writes what the state has, with each group_id, as lines for a program", "remit show --json"},
	"workspace":              {"remit has no workspaces: an environment block declares one, with a state and a lock file of its own, and --environment chooses it", newEnvironment},
	"env":                    {"remit has no workspaces: an environment block declares one, with a state and a lock file of its own, and --environment chooses it", newEnvironment},
	"get":                    {"remit has no modules, so there is nothing to get. init makes the state", "remit init"},
	"modules":                {"remit has no modules: for_each makes many transfers, and graph draws them", "remit graph"},
	"providers":              {"remit has no providers: the service block says where transfers go, and validate checks it", "remit validate"},
	"login":                  {noLogin, withCredentials},
	"logout":                 {"remit keeps no login, so there is nothing to log out of: take the credentials out of the environment", "unset REMIT_CLIENT_ID REMIT_CLIENT_SECRET REMIT_CLIENT_SECRET_FILE"},
	"metadata":               {"remit has no metadata command: docs/language/functions.md lists the functions", ""},
	"query":                  {"remit has no query. state list finds transfers by an expression", "remit state list --where='status == \"in_doubt\"'"},
	"cloud":                  {"remit has no cloud command: the state block says where the state is, and several machines share one in PostgreSQL", ""},
	"remote":                 {"remit has no remote command: the state block says where the state is", ""},
	"policy":                 {"remit has no policy command: policy blocks are part of the files, and plan and validate hold them", "remit validate"},
	"action":                 {"remit has no actions: it starts no program for a transfer. apply has --notify-command", "remit apply --help"},
	"debug":                  {"remit has no debug command: REMIT_LOG=debug shows each step, and console evaluates expressions", "remit console"},
	"plugin":                 {"remit has no plugins: the service block says where transfers go", "remit validate"},
	"internal-plugin":        {"remit has no plugins: the service block says where transfers go", "remit validate"},
	"rpcapi":                 {"remit has no rpcapi: most commands have --json, which writes lines for a program", "remit plan --json"},
	"0.12upgrade":            {"remit has no 0.12upgrade: files of every earlier version are read as they are", "remit validate"},
	"0.13upgrade":            {"remit has no 0.13upgrade: files of every earlier version are read as they are", "remit validate"},
	"stacks":                 {"remit has no stacks: an environment block declares an environment, and --environment chooses it", newEnvironment},
	"state mv":               {"remit has no state mv: a transfer is known by its ref_id. Rename the block as you like, and keep the ref_id", ""},
	"state rm":               {"remit has no state rm: nothing leaves the record. forget settles a ref_id for good, and it is never sent again", "remit state forget REF_ID --reason=TEXT"},
	"state pull":             {"remit has no state pull. backup copies the state to a file, and export writes it as lines", "remit state backup --out=FILE"},
	"state push":             {"remit has no state push: nobody writes a state by hand. docs/upkeep.md says how to restore a backup", ""},
	"state replace-provider": {"remit has no state replace-provider. rebind binds the state to the service that the configuration names", "remit state rebind --reason=TEXT"},
	"state identities":       {"remit has no state identities: the ref_id is the identity", "remit state list"},
}

// flags are those of Terraform and OpenTofu that remit lacks, by their names.
var flags = map[string]Answer{
	"destroy":                  {"there is no --destroy: money that moved does not come back. reversal writes the transfers that give it back", "remit reversal REF_ID"},
	"replace":                  {"there is no --replace: a recorded transfer is never made again. To pay once more, declare a transfer with a new ref_id", ""},
	"refresh-only":             {"there is no --refresh-only. The command refresh asks the service what became of pending transfers", "remit refresh"},
	"refresh":                  {"there is no --refresh here: only plan --refresh asks the service first, and no command does so by itself", "remit plan --refresh"},
	"lock":                     {"there is no --lock: without its lock, two runs could pay twice. --lock-timeout waits for the other run", ""},
	"state":                    {"there is no --state: the state block of the configuration says where the state is", ""},
	"state-out":                {"there is no --state-out: the state block of the configuration says where the state is", ""},
	"backup":                   {"there is no --backup. The command state backup copies the state", "remit state backup --out=FILE"},
	"exclude":                  {"there is no --exclude: --target names what is planned", ""},
	"generate-config-out":      {"there is no --generate-config-out: import --generate-config writes blocks for transfers that the state has and no file declares", "remit import --generate-config=undeclared.hcl"},
	"target-file":              {"there is no --target-file: --target names a transfer, a block or a batch, and can be repeated", ""},
	"exclude-file":             {"there is no --exclude-file: --target names what is planned", ""},
	"id":                       {"there is no --id: --where filters what state list lists", "remit state list --where='group_id == \"GROUP_ID\"'"},
	"no-tests":                 {"there is no --no-tests: only test reads files of tests", "remit validate"},
	"test-directory":           {"there is no --test-directory: test reads *.remittest.hcl of the directory and of tests below it", "remit test"},
	"cloud-run":                {"there is no --cloud-run: test runs here, and sends nothing", "remit test"},
	"plan":                     {"there is no --plan: name the plan's file behind the command", "remit graph PLAN"},
	"module-depth":             {"there is no --module-depth: there are no modules", ""},
	"show-sensitive":           {"there is no --show-sensitive: a plan has no secret, and no output shows one", ""},
	"ignore-remote-version":    {"there is no --ignore-remote-version: a state of a newer remit is refused, and one of an older is taken over", ""},
	"invoke":                   {"there is no --invoke: remit starts no program for a transfer", ""},
	"deprecation":              {"there is no --deprecation: warnings stay, and a data block acknowledges those that you know", "remit validate"},
	"allow-deferral":           {"there is no --allow-deferral: nothing in a plan is unknown", ""},
	"suppress-forget-errors":   {"there is no --suppress-forget-errors: nothing is ever destroyed", ""},
	"allow-missing-config":     {"there is no --allow-missing-config: import reads the service's export of transfer records, and asks for no block", "remit import FILE"},
	"json":                     {"there is no --json here: this command has no lines for programs", ""},
	"uninstall-autocomplete":   {"there is no --uninstall-autocomplete: remove the script that completion wrote for your shell", ""},
	"compact-warnings":         {"there is no --compact-warnings: similar warnings are one already. Leave it out", ""},
	"concise":                  {"there is no --concise: a large plan is short already, and --show=all lists all of it. Leave it out", ""},
	"upgrade":                  {"there is no --upgrade: init fetches nothing, because there are no providers and no modules", "remit init"},
	"reconfigure":              {"there is no --reconfigure: init again binds a state from which nothing was sent", "remit init"},
	"backend":                  {"there is no --backend: the state block of the configuration says where the state is. To check files without a state, init is not needed", "remit validate"},
	"backend-config":           {"there is no --backend-config: the state block says where the state is, and it may refer to variables", ""},
	"plugin-dir":               {"there is no --plugin-dir: there are no providers", ""},
	"from-module":              {"there is no --from-module: there are no modules", ""},
	"lockfile":                 {"there is no --lockfile: .remit.lock.hcl binds the directory to its state, and only init writes it", ""},
	"get":                      {"there is no --get: there are no modules", ""},
	"migrate-state":            {"there is no --migrate-state. The command state migrate moves the state", "remit state migrate --to=PLACE"},
	"force-copy":               {"there is no --force-copy. The command state migrate moves the state", "remit state migrate --to=PLACE"},
	"force":                    {"there is no --force: the command asks nothing, and wants a --reason for the journal", ""},
	"input":                    {"there is no --input here: this command asks nothing. Leave it out", ""},
	"auto-approve":             {"there is no --auto-approve here: this command asks for no approval. Leave it out", ""},
	"parallelism":              {"there is no --parallelism here: only apply sends requests. Leave it out", ""},
	"detailed-exitcode":        {"there is no --detailed-exitcode here: it is a flag of plan. The exit code of apply says what became of the money", ""},
	"out":                      {"there is no --out here: plan saves a plan", "remit plan --out=FILE"},
	"write":                    {"there is no --write: fmt --check writes nothing", "remit fmt --check"},
	"list":                     {"there is no --list: fmt always names the files that it changes", ""},
	"type":                     {"there is no --type: graph draws a saved plan, or what an apply would do now", "remit graph"},
	"draw-cycles":              {"there is no --draw-cycles: a cycle is a mistake, which validate names", "remit validate"},
	"config":                   {"there is no --config: --chdir names the directory", ""},
	"raw":                      {"there is no --raw: --json writes lines for a program", ""},
	"var":                      {"there is no --var here: this command reads no variables. Leave it out", ""},
	"var-file":                 {"there is no --var-file here: this command reads no variables. Leave it out", ""},
	"target":                   {"there is no --target here: this command takes all that there is. A plan takes a part of it", "remit plan --target=ADDRESS"},
	"lock-timeout":             {"there is no --lock-timeout here: this command waits for no lock. Leave it out", ""},
	"version":                  {"there is no --version here: version is a command", "remit version"},
	"light":                    {"there is no --light: a plan asks no service, so it is as light already", "remit plan"},
	"module":                   {"there is no --module: there are no modules", ""},
	"provider":                 {"there is no --provider: there are no providers", ""},
	"query":                    {"there is no --query: there are no queries. state list finds transfers by an expression", "remit state list --where='status == \"in_doubt\"'"},
	"policies":                 {"there is no --policies: policy blocks are part of the files, or of a directory that --policy-dir names", "remit plan --policy-dir=DIRECTORY"},
	"check-variables":          {"there is no --check-variables: a variable without a value is always a mistake", ""},
	"json-into":                {"there is no --json-into here: this command has no lines for programs", ""},
	"consolidate-warnings":     {"there is no --consolidate-warnings: similar warnings are one already. Leave it out", ""},
	"consolidate-errors":       {"there is no --consolidate-errors: similar mistakes stand together already. Leave it out", ""},
	"verify-plugins":           {"there is no --verify-plugins: there are no providers", ""},
	"get-plugins":              {"there is no --get-plugins: there are no providers", ""},
	"operation-parallelism":    {"there is no --operation-parallelism: test sends nothing, and only apply has --parallelism", ""},
	"create-default-workspace": {"there is no --create-default-workspace: an environment block declares an environment", "remit init --environment=NAME"},
	"install-autocomplete": {
		"there is no --install-autocomplete. completion writes the script for your shell", "remit completion bash",
	},
}

// File answers the name of a file that Terraform keeps and remit does not, where somebody wants to see it.
func File(name string) (Answer, bool) {
	if !strings.Contains(name, ".tfstate") {
		return Answer{}, false
	}
	return Answer{"remit keeps no " + name + ". show without a file writes what the state has", "remit show"}, true
}

// Command answers a command of Terraform, given by its words behind the program's name, such as "state mv".
func Command(words string) (Answer, bool) {
	a, ok := commands[words]
	return a, ok
}

// Flag answers a flag of Terraform, given by its name without dashes, for a command that has none so called.
func Flag(name string) (Answer, bool) {
	a, ok := flags[name]
	return a, ok
}

// Commands are the words that [Command] answers, sorted.
func Commands() []string { return slices.Sorted(maps.Keys(commands)) }

// Flags are the names that [Flag] answers, sorted.
func Flags() []string { return slices.Sorted(maps.Keys(flags)) }
