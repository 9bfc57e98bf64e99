package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// guide is what the help of a command ends with.
type guide struct {
	examples [2]string
	page     string // below docs/commands
}

// guides are those of every command that does something, by its words behind "remit".
var guides = map[string]guide{
	"init":              {[2]string{"remit init", "remit init --chdir=payroll"}, "init.md"},
	"validate":          {[2]string{"remit validate", "remit validate --var-file=november.hclvars"}, "validate.md"},
	"fmt":               {[2]string{"remit fmt", "remit fmt --check --recursive"}, "validate.md"},
	"plan":              {[2]string{"remit plan --out=november.plan", "remit plan --against=november.plan"}, "plan.md"},
	"apply":             {[2]string{"remit apply november.plan", "remit apply --sandbox"}, "apply.md"},
	"show":              {[2]string{"remit show november.plan", "remit show --run=latest --html > run.html"}, "show.md"},
	"approve":           {[2]string{"remit approve november.plan", "remit approve --key=alice.pub november.plan"}, "approve.md"},
	"review":            {[2]string{"remit review november.plan", "remit review november.plan --against=october.plan"}, "approve.md"},
	"resolve":           {[2]string{"remit resolve rent-2026-11", `remit resolve rent-2026-11 --not-made --reason="the bank says so"`}, "resolve.md"},
	"refresh":           {[2]string{"remit refresh", "remit refresh --wait=10m --target=batch.payroll"}, "refresh.md"},
	"state backup":      {[2]string{"remit state backup --out=remit-2026-11-30.db", "remit state backup --out=copy.db --sandbox"}, "state.md"},
	"state clock":       {[2]string{`remit state clock --reason="the clock was set right"`, `remit state clock --reason="practice" --sandbox`}, "state.md"},
	"state erase-names": {[2]string{`remit state erase-names --reason="they left"`, `remit state erase-names --reason="practice" --sandbox`}, "state.md"},
	"state export":      {[2]string{"remit state export > state.jsonl", "remit state export --sandbox | gzip > state.jsonl.gz"}, "state.md"},
	"state forget":      {[2]string{`remit state forget rent-2026-11 --reason="cancelled"`, `remit state forget rent-2026-11 --reason="practice" --sandbox`}, "state.md"},
	"state list":        {[2]string{`remit state list --where='status == "in_doubt" || record_status == "FAILED"'`, `remit state list --where='decimal_cmp(amount, "10000") > 0'`}, "state.md"},
	"state migrate":     {[2]string{"remit state migrate --to=postgres://remit@db.example.com/finance", "remit state migrate --to=remit.db"}, "state.md"},
	"state rebind":      {[2]string{`remit state rebind --reason="the service has a new address"`, `remit state rebind --reason="practice" --sandbox`}, "state.md"},
	"state show":        {[2]string{"remit state show rent-2026-11", "remit state show rent-2026-11 --json"}, "state.md"},
	"state verify":      {[2]string{"remit state verify", "remit state verify --json"}, "state.md"},
	"status":            {[2]string{"remit status", "remit status --json"}, "status.md"},
	"why":               {[2]string{"remit why rent-2026-11", "remit why payroll-2026-11-E-017 --json"}, "status.md"},
	"reconcile":         {[2]string{"remit reconcile export.jsonl", "remit reconcile --from=2026-11-01 --until=2026-11-30 export.csv"}, "reconcile.md"},
	"report":            {[2]string{"remit report --month=2026-11 --out=november.html", "remit report --month=2026-11 --timezone=Europe/Berlin > november.html"}, "report.md"},
	"import":            {[2]string{"remit import export.jsonl --generate-config=undeclared.hcl", "remit import --generate-config=undeclared.hcl"}, "import.md"},
	"export":            {[2]string{"remit export --format=csv --out=paid.csv", "remit export --format=hledger --from=2026-11-01 --until=2026-11-30"}, "export.md"},
	"audit export":      {[2]string{"remit audit export --run=latest --out=evidence", "remit audit export --run=latest --plan=november.plan --out=evidence"}, "audit.md"},
	"audit log":         {[2]string{"remit audit log", "remit audit log rent-2026-11"}, "audit.md"},
	"audit verify":      {[2]string{"remit audit verify", "remit audit verify evidence --allowed-signers=allowed_signers"}, "audit.md"},
	"reversal":          {[2]string{"remit reversal rent-2026-11", "remit reversal rent-2026-11 rent-2026-12 --out=reversals.hcl"}, "reversal.md"},
	"schedule preview":  {[2]string{"remit schedule preview month_end", "remit schedule preview month_end --until=2027-12-31"}, "status.md"},
	"graph":             {[2]string{"remit graph --format=svg > november.svg", "remit graph november.plan | dot -Tpdf > november.pdf"}, "show.md"},
	"sandbox export":    {[2]string{"remit sandbox export > export.jsonl", "remit sandbox export --ledger=ledger.json > export.jsonl"}, "sandbox.md"},
	"sandbox serve":     {[2]string{"remit sandbox serve --ledger=ledger.json", "remit sandbox serve --fault=lost-answer=2% --fault=latency=20ms"}, "sandbox.md"},
	"certify":           {[2]string{"remit certify --sandbox --from=desk --to=shop --amount=1.05 --asset=USD", "remit certify --resume --from=desk --to=shop --amount=1.05 --asset=USD"}, "certify.md"},
	"test":              {[2]string{"remit test", "remit test --filter=tests/rent.remittest.hcl --verbose"}, "test.md"},
	"console":           {[2]string{`echo 'allocate("100.00", ["1", "1", "1"], 2)' | remit console`, "remit console --var-file=november.hclvars < expressions.txt"}, "validate.md"},
	"lsp":               {[2]string{"remit lsp", "remit lsp --chdir=payments"}, "lsp.md"},
	"force-unlock":      {[2]string{`remit force-unlock --reason="the runner hangs"`, `remit force-unlock --reason="practice" --sandbox`}, "state.md"},
	"version":           {[2]string{"remit version", "remit version --json"}, "version.md"},
	"completion":        {[2]string{"source <(remit completion bash)", "remit completion fish > ~/.config/fish/completions/remit.fish"}, "version.md"},
}

// groupPages are the pages of the commands that only have others below them, by their words.
var groupPages = map[string]string{
	"": "README.md", "state": "state.md", "audit": "audit.md", "schedule": "status.md", "sandbox": "sandbox.md",
}

// pageAnnotation is the key under which a command has its page.
const pageAnnotation = "remit_page"

// addGuides gives cmd, and all below it, their examples and their pages.
func addGuides(cmd *cobra.Command) {
	path := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
	page := groupPages[path]
	if g, ok := guides[path]; ok {
		page = g.page
		cmd.Example = "  " + strings.Join(g.examples[:], "\n  ")
	}
	if page != "" {
		cmd.Annotations = map[string]string{pageAnnotation: "docs/commands/" + page}
	}
	for _, sub := range cmd.Commands() {
		addGuides(sub)
	}
}
