package cli_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"golang.org/x/crypto/ssh"

	"remit/internal/approval"
	"remit/internal/cli"
	"remit/internal/proof/suite"
	"remit/internal/sandbox"
	"remit/planner/plannertest"
)

// forgeryKind is a directory in which an honest plan of one kind is made.
type forgeryKind struct {
	before string   // declarations that are applied first; "" for none
	now    string   // declarations of the plan
	flags  []string // of plan
	// records are imported before the plan is made.
	records string
	// fault is of the service while the first plan is applied.
	fault string
	// interrupted says that the honest plan was applied until its first transfer was made: an apply goes on with it.
	interrupted bool
	// sandbox has all of it happen in the sandbox.
	sandbox bool
	// keygen has ssh-keygen make the signatures.
	keygen bool
	// state is the state block; "" for a file.
	state string
}

// rent declares a transfer.
func rent(name, to, amount, more string) string {
	return fmt.Sprintf("transfer \"internal\" %q {\n  from_profile_id = \"treasury\"\n  to_profile_id = %q\n  amount = %q\n  asset = \"USD\"\n  %s\n}\n", name, to, amount, more)
}

func forgeryKinds() map[string]forgeryKind {
	batch := "batch \"pay\" {\n  control {\n    count = 2\n    totals = { USD = \"120.00\" }\n  }\n}\n"
	dated := `
schedule "monthly" {
  rrule    = "FREQ=MONTHLY;BYMONTHDAY=1"
  start    = "2026-01-01"
  until    = "2026-03-31"
  timezone = "UTC"
  time     = "09:00"
}

transfer "internal" "dated" {
  for_each        = schedule.monthly.occurrences
  ref_id          = "dated-${each.key}"
  not_before      = each.value.due_at
  from_profile_id = "treasury"
  to_profile_id   = "landlord"
  amount          = "70.00"
  asset           = "USD"
  occurrence      = each.value
}
`
	return map[string]forgeryKind{
		"two payments":                    {now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", `metadata = { note = "x" }`)},
		"a batch with a control block":    {before: rent("a", "ann", "80.00", ""), now: batch + rent("a", "ann", "80.00", "batch = batch.pay") + rent("b", "bob", "40.00", "batch = batch.pay")},
		"a look-alike that was accepted":  {before: rent("a", "ann", "80.00", ""), now: rent("a", "ann", "80.00", "") + rent("b", "ann", "80.00", "") + rent("c", "ann", "8000.00", ""), flags: []string{"--accept-duplicate=b"}},
		"a rename that was accepted":      {before: rent("a", "ann", "80.00", ""), now: rent("b", "ann", "80.00", ""), flags: []string{"--accept-duplicate=b"}},
		"dependencies":                    {now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", "depends_on = [transfer.internal.a]") + rent("c", "joe", "9.00", `not_before = "2099-01-01T00:00:00Z"`)},
		"a reversal":                      {before: rent("a", "ann", "80.00", ""), now: rent("a", "ann", "80.00", "") + strings.NewReplacer(`"treasury"`, `"ann"`, `"ann"`, `"treasury"`).Replace(rent("back", "ann", "30.00", `reverses = "a"`))},
		"late dates of a schedule":        {now: strings.Replace(dated, "  occurrence      = each.value\n", "", 1), flags: []string{"--accept-late=3"}},
		"a limit that was overridden":     {now: "limit \"desk\" {\n  per = \"plan\"\n  asset = \"USD\"\n  max_amount = \"100\"\n}\n" + rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", ""), flags: []string{"--override-limit=desk"}},
		"what was imported and a payment": {now: rent("a", "ann", "80.00", "") + rent("b", "ann", "90.00", ""), records: `{"id":"r-1","customer_id":"c0ffee00-0000-4000-8000-000000000001","profile_id":"treasury","amount":"80.00","total":"80.00","fee":"0","asset":"USD","direction":"DEBIT","type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","created_at":"2026-11-01T09:00:00Z","updated_at":"2026-11-01T09:00:00Z","ref_id":"a","group_id":"g-1"}`},
		"a doubt and a payment":           {before: rent("a", "ann", "80.00", ""), fault: "lost-answer", now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", "")},
		"a doubt that others depend on":   {before: rent("a", "ann", "80.00", ""), fault: "lost-answer", now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", "depends_on = [transfer.internal.a]")},
		"an interrupted plan":             {now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", "") + rent("c", "cat", "70.00", `metadata = { note = "x" }`), interrupted: true},
		"an interrupted batch":            {now: batch + rent("a", "ann", "80.00", "batch = batch.pay") + rent("b", "bob", "40.00", "batch = batch.pay"), interrupted: true},
		"the sandbox":                     {before: rent("a", "ann", "80.00", ""), now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", ""), sandbox: true},
		"a sandbox without a state":       {now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", ""), sandbox: true},
		"signatures by ssh-keygen":        {now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", ""), keygen: true},
		"targets":                         {now: rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", ""), flags: []string{"--target=transfer.internal.b"}},
	}
}

const forgeryService = `
service {
  base_url      = var.base_url
  token_url     = "${var.base_url}/oauth2/token"
  client_id     = "finance"
  client_secret = var.client_secret
  timeout       = "1h"
}

variable "base_url" { type = string }

variable "client_secret" {
  type      = string
  sensitive = true
}

approval {
  allowed_signers = "allowed_signers"
  rule {
    approvers = 2
  }
}
`

var forgedShare = flag.Int("forged.share", 0, "one edit of a plan of so many is tried; 0 for as many as the dose says")

// TestForgedPlansAreNotSent has an author edit honest plans of each kind, sign them, and find two who approve without
// looking. The requests that apply then sends, and the page that show shows, are those of the honest plan, or
// docs/security.md lists the difference as its author's word. The ledger of the service is the judge.
func TestForgedPlansAreNotSent(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	listed, err := plannertest.Words(string(page), plannertest.HeadingWords)
	if err != nil {
		t.Fatal(err)
	}
	share := *forgedShare
	if share == 0 {
		share = suite.Dose(120, 80, 3)
	}
	draw := rand.New(rand.NewPCG(19, uint64(os.Getpid())))
	for _, name := range slices.Sorted(maps.Keys(forgeryKinds())) {
		t.Run(name, func(t *testing.T) {
			kind := forgeryKinds()[name]
			if _, err := exec.LookPath("ssh-keygen"); kind.keygen && err != nil {
				t.Skip("ssh-keygen is not installed here (Debian: apt-get install openssh-client)")
			}
			f := newForger(t, kind)
			wanted, shown := f.attempt(f.honest)
			if len(wanted.posts) == 0 || wanted.code != 0 && wanted.code != 4 {
				t.Fatalf("the honest plan is not sent: %s", wanted.text)
			}
			f.sum(wanted.posts)
			tried := 0
			edits := slices.Collect(plannertest.Edits(f.honest))
			step := max(1, min(share, len(edits)/3)) // three of them at least
			for i := draw.IntN(step); i < len(edits); i += step {
				edit := edits[i]
				for _, forged := range plannertest.Forgeries(edit.Raw) {
					tried++
					got, face := f.attempt(forged)
					switch isSame := slices.Equal(got.posts, wanted.posts); {
					case len(got.posts) == 0 && got.code != 0 && isWord(listed, edit.Field): // a doubt is held by the author's word
					case len(got.posts) == 0 && got.code != 0: // refused before anything was sent
						if text := f.approve(); text != "" {
							t.Errorf("%s is refused by apply, and approved:\n%s", edit.What, text)
						}
					case !isWord(listed, edit.Field) && (!isSame || face != shown):
						t.Errorf("%s is sent, exit code %d (-honest +forged):\n%s%s", edit.What, got.code, cmp.Diff(wanted.posts, got.posts), cmp.Diff(shown, face))
					}
				}
			}
			if tried < 3 {
				t.Errorf("only %d forgeries were tried", tried)
			}
		})
	}
}

// isWord reports whether a field is listed as the author's word. All of the origin is one.
func isWord(listed map[string]bool, field string) bool {
	return listed[field] || strings.HasPrefix(field, "header.origin.") && listed["header.origin"]
}

// forger forges plans of one directory.
type forger struct {
	*testing.T
	kind    forgeryKind
	service *ledgerService
	ledger  []byte // of the service, as it is before an apply
	origin  string // the directory as it is then
	honest  []byte
	count   int // of what it sends
	total   string
	keys    map[string]ssh.Signer
}

// createdIs is when a plan says that it was made.
var createdIs = regexp.MustCompile(`"created":"([^"]+)"`)

// whileAhead is for an apply of a plan, which waits for the time at which the plan says that it was made: up to five minutes, of
// which the test spends some seconds. Nothing is sent before.
func (f *forger) whileAhead(plan []byte) (context.Context, context.CancelFunc) {
	const patience = 3 * time.Second
	if found := createdIs.FindSubmatch(plan); found != nil {
		if created, err := time.Parse(time.RFC3339Nano, string(found[1])); err == nil && time.Until(created) > 2*patience {
			return context.WithTimeout(f.Context(), patience)
		}
	}
	return context.WithCancel(f.Context())
}

// outcome is the result of an apply.
type outcome struct {
	code  int
	posts []string
	text  string
}

func newForger(t *testing.T, kind forgeryKind) *forger {
	t.Helper()
	top := t.TempDir()
	f := &forger{T: t, kind: kind, origin: filepath.Join(top, "origin"), keys: make(map[string]ssh.Signer), service: newLedgerService(t, filepath.Join(top, "ledger.db"))}
	if err := os.Mkdir(f.origin, 0o700); err != nil {
		t.Fatal(err)
	}
	var signers strings.Builder
	for _, name := range []string{"alice", "bob", "carol"} {
		_, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.keys[name], err = ssh.NewSignerFromKey(private); err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, name)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(f.origin, name), string(pem.EncodeToMemory(block)))
		if err := os.Chmod(filepath.Join(f.origin, name), 0o600); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&signers, "%s namespaces=\"remit-plan\" %s", name, ssh.MarshalAuthorizedKey(f.keys[name].PublicKey()))
	}
	writeFile(t, filepath.Join(f.origin, "allowed_signers"), signers.String())
	writeFile(t, filepath.Join(f.origin, "service.hcl"), forgeryService+kind.state)
	if !kind.sandbox {
		f.must(f.origin, "init")
	}
	if kind.before != "" {
		f.applyBefore()
	}
	writeFile(t, filepath.Join(f.origin, "main.hcl"), kind.now)
	if kind.records != "" {
		writeFile(t, filepath.Join(f.origin, "records.json"), `{"items":[`+kind.records+`]}`)
		if code, stdout, stderr := f.remit(f.origin, "import", "records.json", "--auto-approve"); code != 4 { // a person should look
			t.Fatalf("import: %d\n%s\n%s", code, stdout, stderr)
		}
	}
	path := filepath.Join(f.origin, "november.plan")
	f.must(f.origin, f.there(append([]string{"plan", "--out=november.plan", "--sign=alice"}, kind.flags...))...)
	err := os.Remove(path + ".author.sig") // signAll makes one of each plan
	if err != nil {
		t.Fatal(err)
	}
	if f.honest, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if kind.interrupted {
		f.signAll(path)
		f.interrupt()
	}
	f.ledger = f.service.keep(t)
	f.service.begin(t, f.ledger)
	return f
}

// applyBefore makes the transfers before the honest plan.
func (f *forger) applyBefore() {
	f.Helper()
	writeFile(f.T, filepath.Join(f.origin, "main.hcl"), f.kind.before)
	f.must(f.origin, f.there([]string{"plan", "--out=first.plan", "--sign=alice"})...)
	f.signAll(filepath.Join(f.origin, "first.plan"))
	apply := f.there([]string{"apply", "first.plan"})
	if f.kind.fault == "" {
		f.must(f.origin, apply...)
		return
	}
	faults, err := sandbox.ParseFaults(f.kind.fault)
	if err != nil {
		f.Fatal(err)
	}
	f.service.box.SetFaults(faults)
	if code, stdout, stderr := f.remit(f.origin, apply...); code != 4 {
		f.Fatalf("remit %q with %s: %d\n%s\n%s", apply, f.kind.fault, code, stdout, stderr)
	}
	f.service.box.SetFaults(nil)
}

// interrupt applies the honest plan until the service has answered its first transfer. For that time the configuration
// lets no second request go, so that none can be quicker than the interrupt.
func (f *forger) interrupt() {
	f.Helper()
	file := filepath.Join(f.origin, "service.hcl")
	kept, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	writeFile(f.T, file, strings.Replace(string(kept), "service {\n", "service {\n  rate_limit {\n    internal = \"1/1h\"\n    platform = \"1/1h\"\n  }\n", 1))
	defer writeFile(f.T, file, string(kept))
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	f.service.when(nil, cancel)
	code, stdout, stderr := f.remitIn(ctx, f.origin, "apply", "--parallelism=1", "november.plan")
	f.service.when(nil, nil)
	if posts := f.service.sent(); len(posts) != 1 || !strings.Contains(stdout, "was interrupted") {
		f.Fatalf("the interrupted apply: %d after %d requests\n%s\n%s", code, len(posts), stdout, stderr)
	}
}

// there has a command be about the sandbox, where that is what the kind is about.
func (f *forger) there(args []string) []string {
	if f.kind.sandbox {
		return append(args, "--sandbox")
	}
	return args
}

// remit runs a command.
func (f *forger) remit(dir string, args ...string) (int, string, string) {
	f.Helper()
	return f.remitIn(f.Context(), dir, args...)
}

func (f *forger) remitIn(ctx context.Context, dir string, args ...string) (int, string, string) {
	f.Helper()
	env := map[string]string{"REMIT_VAR_base_url": f.service.server.URL, "REMIT_VAR_client_secret": "worth-nothing", "CI": "1"}
	var stdout, stderr bytes.Buffer
	code := cli.Run(ctx, append(args, "--chdir="+dir), strings.NewReader(""), &stdout, &stderr, func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
	return code, stdout.String(), stderr.String()
}

func (f *forger) must(dir string, args ...string) {
	f.Helper()
	if code, stdout, stderr := f.remit(dir, args...); code != 0 {
		f.Fatalf("remit %q: %d\n%s\n%s", args, code, stdout, stderr)
	}
}

// signAll signs a plan as its author and two approvers do.
func (f *forger) signAll(path string) {
	f.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	for name, key := range f.keys {
		if f.kind.keygen {
			f.signByProgram(path, name)
			continue
		}
		digest := approval.NewDigest()
		_, _ = digest.Write(content)
		text, err := approval.Sign(digest, key)
		if err != nil {
			f.Fatal(err)
		}
		writeFile(f.T, path+"."+name+".sig", string(text))
	}
}

// signByProgram signs as a person does who has nothing but OpenSSH.
func (f *forger) signByProgram(path, name string) {
	f.Helper()
	sign := exec.CommandContext(f.Context(), "ssh-keygen", "-q", "-Y", "sign", "-n", approval.Namespace, "-f", filepath.Join(f.origin, name))
	content, err := os.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	defer content.Close()
	sign.Stdin = content
	text, err := sign.Output()
	if err != nil {
		f.Fatal(err)
	}
	writeFile(f.T, path+"."+name+".sig", string(text))
}

// sum adds up what the honest plan sends. Of a ledger, whose records have both sides, those that are debits.
func (f *forger) sum(posts []string) {
	f.Helper()
	total := decimal.Zero
	posts = slices.DeleteFunc(slices.Clone(posts), func(post string) bool { return strings.Contains(post, `"direction":"CREDIT"`) })
	for _, post := range posts {
		_, text, _ := strings.Cut(post, `"amount":"`)
		text, _, _ = strings.Cut(text, `"`)
		amount, err := decimal.NewFromString(text)
		if err != nil {
			f.Fatal(err)
		}
		total = total.Add(amount)
	}
	f.count, f.total = len(posts), total.String()
}

// attempt applies a plan, signed by all, in the directory as it was, and says which requests were sent
// and what was shown.
func (f *forger) attempt(plan []byte) (outcome, string) {
	f.Helper()
	dir := filepath.Join(filepath.Dir(f.origin), "work")
	if err := os.RemoveAll(dir); err != nil {
		f.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(f.origin)); err != nil {
		f.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(dir, "november.plan")
	if err := os.WriteFile(path, plan, 0o600); err != nil {
		f.Fatal(err)
	}
	f.service.begin(f.T, f.ledger)
	f.signAll(path)
	_, face, _ := f.remit(dir, f.there([]string{"show", "--show=all", "november.plan"})...)
	ctx, stop := f.whileAhead(plan)
	defer stop()
	code, stdout, stderr := f.remitIn(ctx, dir, f.there([]string{"apply", "november.plan"})...)
	posts := f.service.sent()
	if f.kind.sandbox {
		before := f.made(f.origin)
		posts = slices.DeleteFunc(f.made(dir), func(one string) bool { return slices.Contains(before, one) })
	}
	return outcome{code, posts, stdout + stderr}, face
}

// made is what the ledger of a directory's sandbox has, without the fields that only the sandbox
// decides.
func (f *forger) made(dir string) []string {
	f.Helper()
	path := filepath.Join(dir, ".remit", "sandbox", "ledger.db")
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	box, err := sandbox.Open(f.Context(), sandbox.Options{Now: time.Now, Path: path})
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = box.Close() }() // it was only read
	var all []string
	for record, err := range box.Ledger(f.Context()) {
		if err != nil {
			f.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(record.Raw, &fields); err != nil {
			f.Fatal(err)
		}
		for _, own := range []string{"id", "group_id", "customer_id", "created_at", "updated_at"} {
			delete(fields, own)
		}
		text, err := json.Marshal(fields)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, string(text))
	}
	slices.Sort(all)
	return all
}

// approve has somebody approve the plan that was applied last, who knows what the honest one moves. It
// returns what approve says where it signs.
func (f *forger) approve() string {
	f.Helper()
	dir := filepath.Join(filepath.Dir(f.origin), "work")
	if err := os.Remove(filepath.Join(dir, "november.plan.bob.sig")); err != nil {
		f.Fatal(err)
	}
	args := []string{"approve", "november.plan", "--key=" + filepath.Join(dir, "bob"), fmt.Sprintf("--count=%d", f.count), "--total=USD:" + f.total}
	if code, stdout, stderr := f.remit(dir, f.there(args)...); code == 0 {
		return stdout + stderr
	}
	return ""
}

// ledgerService is the service, at one address, with a ledger that can be put back.
type ledgerService struct {
	server *httptest.Server
	path   string // of the ledger
	mu     sync.Mutex
	box    *sandbox.Sandbox
	posts  []string

	arrived  func() // called before each request to create is served; nil does nothing
	answered func() // and after it
}

func newLedgerService(t *testing.T, path string) *ledgerService {
	t.Helper()
	s := &ledgerService{path: path}
	s.begin(t, nil)
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.server.Close()
		_ = s.box.Close()
	})
	return s
}

// keep is the ledger as it is.
func (s *ledgerService) keep(t *testing.T) []byte {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.box.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// begin serves with the ledger that was kept; nil for an empty one.
func (s *ledgerService) begin(t *testing.T, kept []byte) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.box != nil {
		_ = s.box.Close()
	}
	for _, name := range []string{s.path, s.path + "-wal", s.path + "-shm"} {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	if kept != nil {
		writeFile(t, s.path, string(kept))
	}
	box, err := sandbox.Open(context.Background(), sandbox.Options{Now: time.Now, Path: s.path, ClientID: "finance", ClientSecret: "worth-nothing", CustomerID: "c0ffee00-0000-4000-8000-000000000001"})
	if err != nil {
		t.Fatal(err)
	}
	s.box, s.posts = box, nil
}

// sent are the requests to create, in an order of their own.
func (s *ledgerService) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(slices.Values(s.posts))
}

func (s *ledgerService) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	box := s.box
	if r.Method == http.MethodPost && r.URL.Path != sandbox.TokenPath {
		body, _ := io.ReadAll(r.Body)
		s.posts = append(s.posts, r.URL.Path+" "+string(body))
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	arrived, answered := s.arrived, s.answered
	s.mu.Unlock()
	isCreation := r.Method == http.MethodPost && r.URL.Path != sandbox.TokenPath
	if isCreation && arrived != nil {
		arrived()
	}
	box.ServeHTTP(w, r)
	if isCreation && answered != nil {
		answered()
	}
}

// when sets functions to call around each request to create.
func (s *ledgerService) when(arrived, answered func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.arrived, s.answered = arrived, answered
}
