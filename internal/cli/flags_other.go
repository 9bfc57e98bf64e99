package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/internal/text/terraform"
)

// habit answers flags that most programs of a terminal have, and that remit lacks. Has says whether it answers a
// command; nil for all.
type habit struct {
	names []string
	has   func(*cobra.Command) bool
	text  string                      // behind "there is no --NAME: "
	next  func(*cobra.Command) string // the command to type
}

func habits() []habit {
	has := func(names ...string) func(*cobra.Command) bool {
		return func(cmd *cobra.Command) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return lookupFlag(cmd, name) == nil })
		}
	}
	is := func(name string) func(*cobra.Command) bool {
		return func(cmd *cobra.Command) bool { return cmd.Name() == name }
	}
	with := func(rest string) func(*cobra.Command) string {
		return func(cmd *cobra.Command) string { return cmd.CommandPath() + rest }
	}
	only := func(next string) func(*cobra.Command) string { return func(*cobra.Command) string { return next } }
	return []habit{
		{[]string{"month", "period", "date", "year", "week"}, has("target"), "the files say what is paid. Where a variable names the period, set it", with(" --var=period=2026-11")},
		{[]string{"quiet", "q", "silent"}, nil, "the result goes to standard output, which a shell can send to /dev/null, and mistakes go to standard error", with("")},
		{[]string{"v", "verbose", "debug", "d", "trace", "vv", "vvv"}, nil, "REMIT_LOG shows each step", func(cmd *cobra.Command) string { return "REMIT_LOG=debug " + cmd.CommandPath() }},
		{[]string{"watch", "w", "follow", "interval", "poll"}, nil, "a command looks once, and a timer repeats it", only("watch -n 60 remit status")},
		{[]string{"passkey", "webauthn", "browser"}, is("approve"), "a passkey signs in the browser, where review shows the plan", only("remit review PLAN")},
		{[]string{"passkey", "webauthn", "key", "sign"}, is("review"), "the page asks for a passkey, and approve signs with an SSH key", only("remit approve PLAN --key=FILE")},
		{[]string{"recorded", "records", "file", "input", "bank", "statement", "from-file", "f", "csv"}, is("reconcile"), "the export of the service's records is named behind the command", only("remit reconcile FILE")},
		{[]string{"paid", "made", "done", "success", "succeeded", "yes", "ok"}, is("resolve"), "a transfer that was made is settled with the service's record of it", only("remit resolve REF_ID --recorded=FILE --reason=TEXT")},
		{[]string{"failed", "unpaid", "not-paid", "cancel", "abort", "rejected"}, is("resolve"), "a transfer that was not made is settled for good, and its ref_id is never sent again", only("remit resolve REF_ID --not-made --reason=TEXT")},
		{[]string{"all", "a"}, is("resolve"), "each transfer is settled by its ref_id, and --run names those that a run left unverified", only("remit state list")},
		{[]string{"f", "filename", "c", "C", "workdir", "working-dir", "root-dir", "config-file"}, has("chdir"), "remit reads all files of a directory, which --chdir names", with(" --chdir=DIRECTORY")},
		{[]string{"u", "username", "password", "token", "api-key", "client-id", "secret", "client-secret"}, nil, "the credentials of the service are in the environment of an apply, where no list of processes shows them", only("REMIT_CLIENT_ID=ID REMIT_CLIENT_SECRET_FILE=FILE remit apply PLAN")},
	}
}

// otherCommandsOf answer words for commands that no command has, by all words behind the program's name.
var otherCommandsOf = map[string]terraform.Answer{
	"restore":       restoring,
	"state restore": restoring,
	"state delete":  forgetting,
	"state purge":   forgetting,
	"state reset":   {Text: "nothing leaves the record. init makes a new state, for a new environment", Next: "remit init --help"},

	"schedule list": previewed,
	"schedule ls":   previewed,
	"schedule show": previewed,
	"audit list":    readLog,
	"audit ls":      readLog,
	"audit show":    readLog,
	"sandbox list":  {Text: "the sandbox has a record of its own, which every command shows with --sandbox", Next: "remit state list --sandbox"},
	"sandbox ls":    {Text: "the sandbox has a record of its own, which every command shows with --sandbox", Next: "remit state list --sandbox"},
	"sandbox start": servedAlone,
	"sandbox run":   servedAlone,
	"sandbox reset": resetting,
	"sandbox clean": resetting,
	"sandbox stop":  {Text: "the sandbox of apply --sandbox ends with its command, and that of serve with Control-C", Next: "remit sandbox --help"},
}

var (
	previewed   = terraform.Answer{Text: "preview shows the dates of one schedule. Without a name, it says which schedules there are", Next: "remit schedule preview"}
	readLog     = terraform.Answer{Text: "log shows what was written into the journal", Next: "remit audit log"}
	servedAlone = terraform.Answer{Text: "apply --sandbox needs no server of its own. serve runs one for other programs", Next: "remit sandbox serve"}
	resetting   = terraform.Answer{Text: "the sandbox is in the directory .remit/sandbox. Delete it, and the next apply --sandbox makes a new one", Next: "rm -r .remit/sandbox"}
	restoring   = terraform.Answer{Text: "a backup is put in the place of the state by hand, once the timer is stopped, as docs/upkeep.md says. verify tells whether it is whole", Next: "remit state verify"}
	forgetting  = terraform.Answer{Text: "nothing leaves the record. forget settles a ref_id for good, and it is never sent again", Next: "remit state forget REF_ID --reason=TEXT"}
)

// ofHabit is the answer to a flag of a habit; no text for any other.
func ofHabit(cmd *cobra.Command, name string) terraform.Answer {
	for _, h := range habits() {
		if slices.Contains(h.names, name) && (h.has == nil || h.has(cmd)) {
			return terraform.Answer{Text: "there is no " + flagWord(name) + ": " + h.text, Next: h.next(cmd)}
		}
	}
	return terraform.Answer{}
}

// shortFlag says which flags of a command a letter behind one dash may mean.
func shortFlag(cmd *cobra.Command, letter string) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && strings.HasPrefix(f.Name, strings.ToLower(letter)) {
			names = append(names, strconv.Quote("--"+f.Name))
		}
	})
	err := fmt.Errorf("there is no -%s: a flag is a word behind two dashes", letter)
	switch {
	case len(names) == 1:
		return fmt.Errorf("%w. Did you mean %s?", err, names[0])
	case len(names) > 1 && len(names) <= nearFlagsMax:
		return fmt.Errorf("%w. Did you mean %s?", err, choice(names))
	}
	return err
}
