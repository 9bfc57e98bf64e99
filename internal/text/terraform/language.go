package terraform

import "strings"

// moved says why there is no moved block.
const moved = "remit knows a transfer by its ref_id. Rename the block as you like, and write the old ref_id in it, as in:\n\n  ref_id = \"rent-2026-11\""

// blocks are those of Terraform at the top of a file that the language lacks.
var blocks = map[string]string{
	"moved":     moved,
	"terraform": "The remit block has required_version and environment, and a state block says where the state is.",
	"resource":  "A transfer is a block such as transfer \"internal\" \"rent-2026-11\".",
	"provider":  "The service block says where transfers go, and with which credentials.",
	"backend":   "The state block says where the state is.",
	"cloud":     "The state block says where the state is.",
	"module":    "There are no modules: for_each makes many transfers, and data blocks read rows of files.",
	"output":    "There are no outputs: remit show --json writes what the state has.",
	"import":    "remit import FILE takes over what was paid, from the service's own records.",
	"removed":   "Delete the block: what was paid stays recorded, and is not paid again.",
	"check":     "A policy block states what must hold. It stops a plan, and does not warn.",
	"ephemeral": "Nothing is ephemeral: a plan has every value of its requests.",
	"action":    "remit starts no program for a transfer; apply has --notify-command.",

	"provisioner":        "There are no provisioners: remit starts no program for a transfer.",
	"required_providers": "There are no providers: the service block says where transfers go.",
	"language":           "The remit block has required_version: the versions of remit that may read the files.",
	"encryption":         "remit encrypts no state: keep the state where only those who apply can read it.",
	"function":           "There are no functions of your own: locals give names to values.",
	"list":               "There is no list block: remit state list --where=EXPRESSION finds transfers.",

	"run":               inTests,
	"mock_provider":     noMocks,
	"mock_resource":     noMocks,
	"mock_data":         noMocks,
	"override_resource": noMocks,
	"override_module":   noMocks,
	"override_data":     inTests,

	"include":      "The argument include of the remit block names directories that are shared:\n\n  remit {\n    include = [\"../shared\"]\n  }",
	"dependency":   noTerragrunt,
	"dependencies": noTerragrunt,
	"generate":     noTerragrunt,
	"remote_state": "The state block says where the state is.",
	"inputs":       "Values of variables are in remit.hclvars, or in an environment block.",

	"component":        noStacks,
	"deployment":       noStacks,
	"deployment_group": noStacks,
	"orchestrate":      noStacks,
	"store":            noStacks,
	"identity_token":   noStacks,
	"publish_output":   noStacks,
	"upstream_input":   noStacks,
}

const (
	inTests      = "Blocks of tests are in files whose names end in .remittest.hcl, which remit test reads."
	noMocks      = "There is nothing to mock: remit test asks no service. A run in a .remittest.hcl file takes other rows with override_data."
	noTerragrunt = "No directory waits for another: remit plan --recursive plans all directories of a tree."
	noStacks     = "There are no stacks: an environment block declares an environment."
)

// parts are arguments and nested blocks of Terraform that the language lacks.
var parts = map[string]string{
	"count":              "There is no count: its names are positions, and a row that comes or goes would give them to other transfers. Use for_each, with a key that stays, such as an employee's number.",
	"provider":           "There are no providers: one service block says where transfers go.",
	"providers":          "There are no providers: one service block says where transfers go.",
	"lifecycle":          "There is no lifecycle: a transfer is made once, and never changed, replaced or destroyed. A precondition is a block of the transfer itself.",
	"provisioner":        "There are no provisioners: remit starts no program for a transfer.",
	"connection":         "There are no provisioners: remit starts no program for a transfer.",
	"dynamic":            "There are no dynamic blocks: the blocks of a transfer are written out, and for_each makes many transfers.",
	"plan_options":       "A run of a test plans by itself, and has no options. Its variables block sets values.",
	"module":             "There are no modules, so a run of a test plans the directory itself.",
	"postcondition":      "There is no postcondition: remit itself compares each answer with the request.",
	"ephemeral":          "Nothing is ephemeral: a plan has every value of its requests.",
	"required_providers": "There are no providers: the service block says where transfers go.",
	"backend":            "The state block, at the top of a file, says where the state is.",
	"cloud":              "The state block, at the top of a file, says where the state is.",
	"experiments":        "There are no experiments: what a version of remit reads, it reads for ever.",
	"provider_meta":      "There are no providers: the service block says where transfers go.",

	"prevent_destroy":       neverAgain,
	"create_before_destroy": neverAgain,
	"ignore_changes":        neverAgain,
	"replace_triggered_by":  neverAgain,
	"triggers":              neverAgain,
	"triggers_replace":      neverAgain,
	"enabled":               "There is no enabled: leave the block out, or keep elements out of for_each.",
	"source":                "There are no modules, so nothing has a source. A data block reads rows of a file.",
	"alias":                 "There are no providers: one service block says where transfers go.",
	"deprecated":            "There is no deprecated: a variable that nothing uses can go.",
	"const":                 "There is no const: every variable is known when the files are read.",
	"sensitive_content":     "Nothing of a transfer is secret: a plan shows all that it sends.",
}

// neverAgain answers what directs how Terraform changes and replaces.
const neverAgain = "A transfer is made once, and never changed, replaced or destroyed. To pay once more, declare a transfer with a new ref_id."

// nested are blocks of Terraform within another, where an argument of that name is another mistake.
var nested = map[string]string{
	"timeouts": "There are no timeouts in a transfer. The service block has timeout, for each request.",
}

// roots are values of Terraform that the language lacks, by their first words.
var roots = map[string]string{
	"path":      "There is no path: name a file relative to the directory, as in file = \"payroll.csv\" or file(\"payroll.csv\").",
	"terraform": "There is no terraform.workspace: no expression reads which environment is chosen. What differs is a variable, which each environment block sets.",
	"tofu":      "There is no tofu.workspace: no expression reads which environment is chosen. What differs is a variable, which each environment block sets.",
	"module":    "There are no modules.",
	"resource":  "There are no resources: a transfer is not a value.",
	"ephemeral": "Nothing is ephemeral: a plan has every value of its requests.",
	"output":    "There are no outputs. Name a value with a local: local.NAME.",
	"provider":  "There are no providers.",
	"count":     "There is no count: its names are positions, and a row that comes or goes would give them to other transfers. Use for_each, and each.key.",
}

// functions are those of Terraform that the language lacks on purpose. The table of functions itself
// refuses those that read a clock, chance or the environment.
var functions = map[string]string{
	"abspath":         "Name a file relative to the directory, as in file(\"payroll.csv\").",
	"pathexpand":      "Name a file relative to the directory, as in file(\"payroll.csv\").",
	"nonsensitive":    "What comes from a sensitive variable stays hidden: leave sensitive out of the variable where it is no secret.",
	"ephemeralasnull": "Nothing is ephemeral: a plan has every value of its requests.",
	"map":             "Write a map between braces: { london = \"240000.50\" }.",
	"list":            "Write a list between brackets: [\"london\", \"tokyo\"].",
	"convert":         "tostring, tonumber, tobool, tolist, toset and tomap convert.",
	"rsadecrypt":      "No function reads a secret: the service block has arguments and environment variables for them.",
	"base64gzip":      "Nothing is packed: a transfer carries plain text.",
	"base64gunzip":    "Nothing is packed: a data block reads files that are not packed.",
	"type":            "The argument type of a variable says of what type its value is.",
	"cidrhost":        noAddresses,
	"cidrnetmask":     noAddresses,
	"cidrsubnet":      noAddresses,
	"cidrsubnets":     noAddresses,
}

const noAddresses = "No function computes network addresses: a transfer has none."

// Function says what to do in the place of a function of Terraform, in sentences. A name may have the
// namespaces of Terraform before it, as in core::lower and provider::NAME::FUNCTION.
func Function(name string) (string, bool) {
	if plain, isCore := strings.CutPrefix(name, "core::"); isCore {
		return "Write its name alone: " + plain + ".", true
	}
	if strings.HasPrefix(name, "provider::") {
		return "There are no providers, and no functions of theirs.", true
	}
	why, ok := functions[name]
	return why, ok
}

// Block names the replacement of a block of Terraform at the top of a file, in sentences.
func Block(kind string) (string, bool) {
	why, ok := blocks[kind]
	return why, ok
}

// Part names the replacement of an argument of Terraform, in sentences.
func Part(name string) (string, bool) {
	why, ok := parts[name]
	return why, ok
}

// Nested names the replacement of a block of Terraform within another, in sentences.
func Nested(kind string) (string, bool) {
	if why, ok := nested[kind]; ok {
		return why, true
	}
	return Part(kind)
}

// Root names the replacement of a value of Terraform such as path.module, given by its first word, in
// sentences.
func Root(name string) (string, bool) {
	why, ok := roots[name]
	return why, ok
}
