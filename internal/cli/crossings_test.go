package cli_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"remit/internal/approval"
	"remit/internal/cli"
	"remit/internal/proof/suite"
	"remit/internal/sandbox"
)

// environmentsOfTree are the environments between which everything is crossed.
var environmentsOfTree = []string{"production", "staging", "test"}

// crossed is a directory with several environments, each with a service of its own, and all that the commands
// make in them.
type crossed struct {
	*testing.T
	origin   string // the honest directory
	requests atomic.Int64
}

// newCrossed has each environment initialised, with a transfer that was paid, a saved plan of another one that
// its author and bob signed, a sandbox with a transfer, and a file of metrics.
func newCrossed(t *testing.T) *crossed {
	t.Helper()
	c := &crossed{T: t, origin: filepath.Join(t.TempDir(), "origin")}
	if err := os.Mkdir(c.origin, 0o700); err != nil {
		t.Fatal(err)
	}
	c.makeKeys("alice", "bob")
	var text strings.Builder
	for _, name := range environmentsOfTree {
		fmt.Fprintf(&text, "environment %q {\n  service {\n    base_url  = %[2]q\n    token_url = \"%[2]s%[3]s\"\n    lookup_path = \"/v2/transfers\"\n  }\n}\n", name, c.serve(name), sandbox.TokenPath)
	}
	text.WriteString("approval {\n  allowed_signers = \"allowed_signers\"\n  passkeys {\n    file = \"allowed_passkeys\"\n  }\n  rule {\n    above     = { USD = \"85\" }\n    approvers = 1\n  }\n}\n")
	text.WriteString(rent("a", "ann", "80.00", "") + rent("b", "bob", "90.00", ""))
	writeFile(t, filepath.Join(c.origin, "main.hcl"), text.String())
	dora := c.makePasskey("dora@example.com")
	writeFile(t, filepath.Join(c.origin, "records.csv"), "ref_id,group_id\na,6bf44b8d-4b81-8ec0-a21e-95e913884277\n")
	for _, name := range environmentsOfTree {
		first, all := []string{"--environment=" + name, "--target=transfer.internal.a"}, []string{"--environment=" + name}
		for _, words := range [][]string{
			append([]string{"init"}, all...),
			append([]string{"apply", "--auto-approve", "--metrics-file=" + name + ".prom"}, first...),
			append([]string{"apply", "--auto-approve", "--sandbox"}, first...),
			append([]string{"plan", "--out=" + name + ".plan", "--sign=alice"}, all...),
			append([]string{"plan", "--out=" + name + ".sandbox.plan", "--sandbox"}, all...),
			append([]string{"approve", name + ".plan", "--key=bob", "--count=1", "--total=USD:90.00"}, all...),
			append([]string{"state", "backup", "--out=" + name + ".backup.db"}, all...),
			append([]string{"audit", "export", "--run=latest", "--out=" + name + ".pack"}, all...),
		} {
			if code, said := c.remit(c.origin, name, words...); code != 0 {
				t.Fatalf("remit %s: exit code %d\n%s", strings.Join(words, " "), code, said)
			}
		}
		dora.approve(c, name+".plan")
	}
	return c
}

// passkey is a passkey whose holder approves without a page.
type passkey struct {
	person string
	key    *ecdsa.PrivateKey
}

func (p *passkey) id() []byte { return []byte("passkey of " + p.person) }

// makePasskey writes the line of a passkey to the file of those that count.
func (c *crossed) makePasskey(person string) *passkey {
	c.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		c.Fatal(err)
	}
	p := &passkey{person, key}
	writeFile(c.T, filepath.Join(c.origin, "allowed_passkeys"), fmt.Sprintf("%s localhost %s ES256 %s registered=\"20261123090000Z\",backup=\"no\"\n",
		person, base64.RawURLEncoding.EncodeToString(p.id()), base64.StdEncoding.EncodeToString(der)))
	return p
}

// approve writes the holder's approval beside a plan.
func (p *passkey) approve(c *crossed, plan string) {
	c.Helper()
	content, err := os.ReadFile(filepath.Join(c.origin, plan))
	if err != nil {
		c.Fatal(err)
	}
	digest := approval.NewDigest()
	_, _ = digest.Write(content) // it never fails
	client := fmt.Appendf(nil, `{"type":"webauthn.get","challenge":%q,"origin":"http://localhost:7468","crossOrigin":false}`, base64.RawURLEncoding.EncodeToString(digest.Challenge()))
	rp, hash := sha256.Sum256([]byte("localhost")), sha256.Sum256(client)
	const presentAndVerified = 5
	device := append(rp[:], presentAndVerified, 0, 0, 0, 1)
	sum := sha256.Sum256(slices.Concat(device, hash[:]))
	signature, err := ecdsa.SignASN1(rand.Reader, p.key, sum[:])
	if err != nil {
		c.Fatal(err)
	}
	made, err := approval.NewAssertion("localhost", p.id(), client, device, signature)
	if err != nil {
		c.Fatal(err)
	}
	writeFile(c.T, filepath.Join(c.origin, plan+"."+p.person+".passkey"), string(made.Text()))
}

// serve begins the service of an environment, which counts its requests.
func (c *crossed) serve(environment string) (url string) {
	c.Helper()
	box, err := sandbox.Open(context.Background(), sandbox.Options{Now: time.Now, ClientID: "client-of-" + environment, ClientSecret: "worth-nothing"})
	if err != nil {
		c.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.requests.Add(1)
		box.ServeHTTP(w, r)
	}))
	c.Cleanup(func() {
		server.Close()
		_ = box.Close()
	})
	return server.URL
}

func (c *crossed) makeKeys(names ...string) {
	c.Helper()
	var signers strings.Builder
	for _, name := range names {
		_, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			c.Fatal(err)
		}
		signer, err := ssh.NewSignerFromKey(private)
		if err != nil {
			c.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, name)
		if err != nil {
			c.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.origin, name), pem.EncodeToMemory(block), 0o600); err != nil {
			c.Fatal(err)
		}
		fmt.Fprintf(&signers, "%s namespaces=\"remit-plan\" %s", name, ssh.MarshalAuthorizedKey(signer.PublicKey()))
	}
	writeFile(c.T, filepath.Join(c.origin, "allowed_signers"), signers.String())
}

// remit runs a command line in a directory with the client of an environment.
func (c *crossed) remit(dir, client string, words ...string) (code int, said string) {
	given := map[string]string{"REMIT_CLIENT_ID": "client-of-" + client, "REMIT_CLIENT_SECRET": "worth-nothing"}
	var out bytes.Buffer
	code = cli.RunAt(context.Background(), time.Now, append(words, "--chdir="+dir), strings.NewReader(""), &out, &out, func(name string) (string, bool) {
		value, isSet := given[name]
		return value, isSet
	})
	return code, out.String()
}

// copied is the honest directory once more.
func (c *crossed) copied() string {
	c.Helper()
	dir := filepath.Join(c.TempDir(), "work")
	if err := os.CopyFS(dir, os.DirFS(c.origin)); err != nil {
		c.Fatal(err)
	}
	for _, key := range []string{"alice", "bob"} {
		if err := os.Chmod(filepath.Join(dir, key), 0o600); err != nil {
			c.Fatal(err)
		}
	}
	return dir
}

// swap replaces a file by another one, and removes what SQLite keeps beside it.
func (c *crossed) swap(dir, to, from string) {
	c.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(filepath.Join(dir, to+suffix))
	}
	content, err := os.ReadFile(filepath.Join(dir, from))
	if err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, to), content, 0o600); err != nil {
		c.Fatal(err)
	}
}

// crossing is an artefact of an environment that gets into another one.
type crossing struct {
	// cross puts what belongs to the environment of into the other one; nil where the commands name it.
	cross func(c *crossed, dir, of, into string)
	// commands take it, in the environment into.
	commands func(of, into string) []string
	// names is the text by which the message names it.
	names func(of, into string) string
	// client is whose credentials are used; those of into where it is nil.
	client func(of, into string) string
	codes  []int
}

// onState are commands that read or write the state.
func onState(_, into string) []string {
	return []string{
		"plan", "status", "why a", "apply --auto-approve", "apply " + into + ".plan", "apply --rehearse", "refresh", "reconcile", "report --from=2020-01-01 --until=2029-12-31",
		"resolve a --not-made --reason=x", "state list", "state show a", "state verify", "state backup --out=backup.db", "state export",
		"state migrate --to=moved.db", "state forget gone --reason=x", "state rebind --reason=x", "state clock --reason=x", "state erase-names --reason=x",
		"audit log", "audit verify", "audit export --run=latest --out=evidence", "export --format=csv", "show --run=latest", "reversal a",
		"force-unlock --reason=x", "init", "import records.csv", "graph", "status --recursive", "plan --recursive", "approve " + into + ".plan --key=bob --count=1 --total=USD:90.00",
	}
}

func crossings() map[string]crossing {
	quoted := func(of, _ string) string { return fmt.Sprintf("%q", of) }
	return map[string]crossing{
		"a plan": {
			commands: func(of, into string) []string {
				return []string{
					"apply " + of + ".plan", "apply --declared " + of + ".plan", "apply --rehearse " + of + ".plan", "show " + of + ".plan", "show --markdown " + of + ".plan",
					"approve " + of + ".plan --key=bob --count=1 --total=USD:90.00", "plan --against=" + of + ".plan", "graph " + of + ".plan",
					"show " + into + ".plan --against=" + of + ".plan", "review " + of + ".plan", "review " + into + ".plan --against=" + of + ".plan", "audit export --run=latest --out=evidence --plan=" + of + ".plan",
				}
			},
			names: quoted,
		},
		"a signature": {
			cross: func(c *crossed, dir, of, into string) {
				c.swap(dir, into+".plan.bob.sig", of+".plan.bob.sig")
				if err := os.Remove(filepath.Join(dir, into+".plan.dora@example.com.passkey")); err != nil {
					c.Fatal(err)
				}
			},
			commands: func(_, into string) []string { return []string{"apply " + into + ".plan"} },
			names:    func(_, into string) string { return into + ".plan.bob.sig" },
			codes:    []int{5},
		},
		"a passkey's signature": {
			cross: func(c *crossed, dir, of, into string) {
				c.swap(dir, into+".plan.dora@example.com.passkey", of+".plan.dora@example.com.passkey")
				if err := os.Remove(filepath.Join(dir, into+".plan.bob.sig")); err != nil {
					c.Fatal(err)
				}
			},
			commands: func(_, into string) []string { return []string{"apply " + into + ".plan"} },
			names:    func(_, into string) string { return into + ".plan.dora@example.com.passkey" },
			codes:    []int{5},
		},
		"a state": {
			cross:    func(c *crossed, dir, of, into string) { c.swap(dir, "remit."+into+".db", "remit."+of+".db") },
			commands: onState,
			names:    quoted,
		},
		"a backup of a state": {
			cross:    func(c *crossed, dir, of, into string) { c.swap(dir, "remit."+into+".db", of+".backup.db") },
			commands: onState,
			names:    quoted,
		},
		"an evidence pack": {
			commands: func(of, _ string) []string { return []string{"audit verify " + of + ".pack"} },
			names:    quoted,
		},
		"a lock file": {
			cross: func(c *crossed, dir, of, into string) {
				c.swap(dir, ".remit."+into+".lock.hcl", ".remit."+of+".lock.hcl")
			},
			commands: onState,
			names:    quoted,
		},
		"a lock file and a state": {
			cross: func(c *crossed, dir, of, into string) {
				c.swap(dir, ".remit."+into+".lock.hcl", ".remit."+of+".lock.hcl")
				c.swap(dir, "remit."+into+".db", "remit."+of+".db")
			},
			commands: onState,
			names:    quoted,
		},
		"a client": {
			commands: func(_, into string) []string {
				return []string{"apply " + into + ".plan", "reconcile"}
			},
			names:  func(of, _ string) string { return "client-of-" + of },
			client: func(of, _ string) string { return of },
		},
		"a sandbox's ledger": {
			cross: func(c *crossed, dir, of, into string) {
				c.swap(dir, ".remit/sandbox/"+into+"/ledger.db", ".remit/sandbox/"+of+"/ledger.db")
			},
			commands: func(string, string) []string { return []string{"apply --sandbox --auto-approve", "sandbox export"} },
			names:    quoted,
		},
		"a sandbox's state": {
			cross: func(c *crossed, dir, of, into string) {
				c.swap(dir, ".remit/sandbox/"+into+"/remit.db", ".remit/sandbox/"+of+"/remit.db")
			},
			commands: func(string, string) []string {
				return []string{"apply --sandbox --auto-approve", "plan --sandbox", "state list --sandbox", "report --from=2020-01-01 --until=2029-12-31 --sandbox", "audit verify --sandbox"}
			},
			names: func(of, _ string) string { return "sandbox/" + of },
		},
		"a sandbox's plan": {
			commands: func(of, _ string) []string {
				return []string{"apply --sandbox " + of + ".sandbox.plan", "show --sandbox " + of + ".sandbox.plan", "apply " + of + ".sandbox.plan"}
			},
			names: func(of, _ string) string { return "sandbox/" + of },
		},
		"a file of metrics": {
			commands: func(of, into string) []string {
				return []string{"apply --metrics-file=" + of + ".prom " + into + ".plan", "apply --auto-approve --sandbox --metrics-file=" + of + ".prom"}
			},
			names: quoted,
		},
	}
}

// TestEveryCrossingOfEnvironmentsIsRefused puts each artefact of each environment into each other one: every
// command that takes it refuses it by name, and no service hears of it.
func TestEveryCrossingOfEnvironmentsIsRefused(t *testing.T) {
	t.Parallel()
	c := newCrossed(t)
	ways := suite.Dose(1, 1, len(environmentsOfTree)-1) // from each, and into each, before both directions of each pair
	froms := suite.Dose(1, 2, len(environmentsOfTree))
	all := crossings()
	for k, kind := range slices.Sorted(maps.Keys(all)) {
		of := all[kind]
		for n := range froms {
			i := (k + n) % len(environmentsOfTree)
			from := environmentsOfTree[i]
			for way := range ways {
				into := environmentsOfTree[(i+1+way)%len(environmentsOfTree)]
				t.Run(strings.ReplaceAll(kind+" of "+from+" in "+into, " ", "-"), func(t *testing.T) { c.check(t, of, from, into) })
			}
		}
	}
	t.Run("the honest way", func(t *testing.T) {
		for _, name := range environmentsOfTree {
			dir, before := c.copied(), c.requests.Load()
			if err := os.Remove(filepath.Join(dir, name+".plan.bob.sig")); err != nil { // the passkey alone is enough
				t.Fatal(err)
			}
			if code, said := c.remit(dir, name, "apply", name+".plan", "--environment="+name, "--metrics-file="+name+".prom"); code != 0 {
				t.Errorf("apply %s.plan: exit code %d\n%s", name, code, said)
			}
			if c.requests.Load() == before {
				t.Errorf("apply %s.plan sent nothing", name)
			}
		}
	})
}

// check tries one crossing with each command that takes it.
func (c *crossed) check(t *testing.T, of crossing, from, into string) {
	codes := of.codes
	if codes == nil {
		codes = []int{1}
	}
	client := into
	if of.client != nil {
		client = of.client(from, into)
	}
	for _, line := range of.commands(from, into) {
		dir := c.copied()
		if of.cross != nil {
			of.cross(c, dir, from, into)
		}
		before := c.requests.Load()
		code, said := c.remit(dir, client, append(strings.Fields(line), "--environment="+into)...)
		if !slices.Contains(codes, code) {
			t.Errorf("remit %s: exit code %d, want one of %v\n%s", line, code, codes, said)
		}
		if flat := strings.Join(strings.Fields(said), " "); !strings.Contains(flat, of.names(from, into)) {
			t.Errorf("remit %s: does not name %s:\n%s", line, of.names(from, into), said)
		}
		if sent := c.requests.Load() - before; sent != 0 {
			t.Errorf("remit %s: %d requests reached a service", line, sent)
		}
	}
}
