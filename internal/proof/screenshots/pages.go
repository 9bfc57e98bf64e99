package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed november
var november embed.FS

// maker makes pages with a remit of its own, in the sandbox of a directory that ends with it.
type maker struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one call of makePages
	remit string
	out   string
}

// makePages writes the pages into a directory, and returns their names without their ends.
func makePages(ctx context.Context, out string) ([]string, error) {
	temp, err := os.MkdirTemp("", "remit-screenshots-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	m := &maker{ctx: ctx, remit: filepath.Join(temp, "remit"), out: out}
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", m.remit, "remit").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build remit: %w\n%s", err, output)
	}
	payroll := filepath.Join(temp, "payroll")
	if err := os.CopyFS(payroll, os.DirFS(filepath.Join("examples", "payroll"))); err != nil {
		return nil, fmt.Errorf("copy the example (run this in the root of the repository): %w", err)
	}
	if err := os.RemoveAll(filepath.Join(payroll, ".remit")); err != nil { // of somebody who tried the example
		return nil, err
	}
	if err := m.payroll(payroll); err != nil {
		return nil, err
	}
	if err := m.november(temp); err != nil {
		return nil, err
	}
	if err := m.tree(temp); err != nil {
		return nil, err
	}
	if err := m.asking(payroll); err != nil {
		return nil, err
	}
	return []string{"plan", "plan-blocked", "run", "report", "reconciliation", "tree", "review", "register"}, nil
}

// payroll is a plan of 118 salaries, of which nothing is to be said but the salaries.
func (m *maker) payroll(dir string) error {
	if _, err := m.run(dir, "plan", "--sandbox", "--author=Ada Moreno", "--out=payroll.plan"); err != nil {
		return err
	}
	return m.page(dir, "plan", "show", "--sandbox", "--html", "payroll.plan")
}

// november is a month in which something is to be said of everything.
func (m *maker) november(temp string) error {
	dir := filepath.Join(temp, "files", "november")
	if err := os.CopyFS(filepath.Join(temp, "files"), november); err != nil {
		return err
	}
	blocked := filepath.Join(temp, "blocked")
	if err := os.CopyFS(blocked, os.DirFS(dir)); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(blocked, "blocked.hcl.txt"), filepath.Join(blocked, "blocked.hcl")); err != nil {
		return err
	}
	if _, err := m.run(blocked, "plan", "--sandbox", "--author=Ada Moreno", "--out=november.plan"); err != nil {
		return err
	}
	if err := m.page(blocked, "plan-blocked", "show", "--sandbox", "--html", "november.plan"); err != nil {
		return err
	}
	if _, err := m.run(dir, "apply", "--sandbox", "--auto-approve", "--fault=refuse=ref:agency-0391", "--fault=wrong-amount=ref:courier-7734"); err != nil {
		return err
	}
	if err := m.page(dir, "run", "show", "--sandbox", "--run=latest", "--html"); err != nil {
		return err
	}
	return m.month(filepath.Join(temp, "month"))
}

// month is the report of a month, and its reconciliation with an export that was changed.
func (m *maker) month(dir string) error {
	export := exported()
	tampered := bytes.Replace(export, []byte(`"amount":"3100.00"`), []byte(`"amount":"3199.00"`), 1)
	tampered = bytes.Replace(tampered, []byte("payment-0061"), []byte("manual-0061"), 2)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"main.hcl": nil, "november.jsonl": export, "tampered.jsonl": tampered} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	if _, err := m.run(dir, "import", "--sandbox", "--auto-approve", "november.jsonl"); err != nil {
		return err
	}
	if err := m.page(dir, "report", "report", "--sandbox", "--month=2026-11", "--reconcile=tampered.jsonl"); err != nil {
		return err
	}
	return m.page(dir, "reconciliation", "reconcile", "--sandbox", "--html", "tampered.jsonl")
}

// tree plans four configurations of two entities side by side: one is paid, one has transfers to send, one is blocked, and
// one has a mistake.
func (m *maker) tree(temp string) error {
	finance := filepath.Join(temp, "finance")
	for to, from := range map[string]string{
		"acme/payroll": filepath.Join(temp, "payroll"), "acme/suppliers": filepath.Join(temp, "blocked"),
		"globex/treasury": filepath.Join("examples", "treasury-sweep"), "globex/payroll": filepath.Join("examples", "payroll"),
	} {
		if err := os.CopyFS(filepath.Join(finance, to), os.DirFS(from)); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(finance, "globex", "payroll", "wrong.hcl"), []byte("transfer \"internal\" \"bonus\" {\n  colour = \"red\"\n}\n"), 0o600); err != nil {
		return err
	}
	_, err := m.run(finance, "plan", "--recursive", "--sandbox", "--html="+filepath.Join(m.out, "tree.html"))
	return err
}

// allowedPasskeys and approvalOf are files with which the plan of payroll may be approved on a page.
const (
	allowedPasskeys = "ada@example.com localhost rwS0xAiKJMkjY1xYC1Ze31XEBco ES256 " +
		"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEktcnDSsSohwUASLe+/AwT5gVjXYaG0kcWaS4jcJL7B/93Cu2t2hRFAAcTCzumX9bdPJ0P5zX3zrPhO3f2KvauA==\n"
	approvalOf = "approval {\n  passkeys {\n    file = \"allowed_passkeys\"\n    port = %d\n  }\n  rule {\n    approvers = 1\n  }\n}\n"
)

// asking is the page on which somebody approves the plan of payroll, and the one on which somebody makes a passkey.
func (m *maker) asking(payroll string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	for name, text := range map[string]string{"allowed_passkeys": allowedPasskeys, "approval.hcl": fmt.Sprintf(approvalOf, port)} {
		if err := os.WriteFile(filepath.Join(payroll, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	if _, err := m.run(payroll, "plan", "--sandbox", "--practice-approvals", "--author=Ada Moreno", "--out=payroll.plan"); err != nil {
		return err
	}
	if err := m.served(payroll, "review", "review", "payroll.plan", "--sandbox", "--practice-approvals", "--no-browser"); err != nil {
		return err
	}
	return m.served(payroll, "register", "approve", "--register", "--person=ada@example.com", "--no-browser", fmt.Sprintf("--port=%d", port))
}

// served writes a page that a command serves, and its parts beside it.
func (m *maker) served(dir, name string, args ...string) error {
	command := m.command(dir, args...)
	said, err := command.StderrPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	defer func() {
		_ = command.Process.Signal(os.Interrupt) // it serves until then
		_ = command.Wait()                       // it says that it was interrupted
	}()
	address := ""
	for lines := bufio.NewScanner(said); address == "" && lines.Scan(); {
		address = regexp.MustCompile(`http://localhost\S+/`).FindString(lines.Text())
	}
	if address == "" {
		return fmt.Errorf("remit %s serves no page", strings.Join(args, " "))
	}
	for part, file := range map[string]string{"": name + ".html", "page.css": "page.css", "ask.css": "ask.css", "page.js": "page.js", "ask.js": "ask.js"} {
		if err := m.fetch(address+part, filepath.Join(m.out, file)); err != nil {
			return err
		}
	}
	return nil
}

// fetch writes what a server of this machine has at an address.
func (m *maker) fetch(address, into string) error {
	request, err := http.NewRequestWithContext(m.ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // read whole
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(into, content, 0o600)
}

// page writes what a command says as a page.
func (m *maker) page(dir, name string, args ...string) error {
	text, err := m.run(dir, args...)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.out, name+".html"), text, 0o600)
}

// run runs remit in a directory, with nothing of the user's environment. An exit code that tells a finding is
// no failure.
func (m *maker) run(dir string, args ...string) ([]byte, error) {
	command := m.command(dir, args...)
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	err := command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 1 {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("remit %s: %w\n%s", strings.Join(args, " "), err, said.Bytes())
	}
	return out.Bytes(), nil
}

func (m *maker) command(dir string, args ...string) *exec.Cmd {
	command := exec.CommandContext(m.ctx, m.remit, args...)
	command.Dir = dir
	command.Env = []string{"HOME=" + m.out, "LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
	return command
}

// exported is the service's export of a month: both sides of 160 payments on its working days.
func exported() []byte {
	var b bytes.Buffer
	for n := range 160 {
		day, cents := 2+n%4+7*((n%20)/5), n*n*31%900000+14000
		to, asset := fmt.Sprintf("supplier-%d", n%23), "USD"
		if n < 60 {
			day, cents, to = 27, 310000+n*9700%290000, fmt.Sprintf("employee-%d", n)
		} else if n%4 == 3 {
			asset = "EUR"
		}
		amount := fmt.Sprintf("%d.%02d", cents/100, cents%100)
		for side, direction := range []string{"DEBIT", "CREDIT"} {
			profile := []string{"treasury", to}[side]
			fmt.Fprintf(&b, `{"id":"%d-%d","customer_id":"acme","profile_id":%q,"amount":%q,"total":%q,"fee":"0.00","asset":%q,"direction":%q,"type":"INTERNAL_TRANSFER_%s","status":"COMPLETED",`+
				`"created_at":"2026-11-%02dT10:00:00Z","updated_at":"2026-11-%02dT10:00:00Z","ref_id":"payment-%04d","group_id":"group-%04d"}`+"\n",
				n, side, profile, amount, amount, asset, direction, direction, day, day, n, n)
		}
	}
	return b.Bytes()
}
