package approval_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hiddeco/sshsig"
	"github.com/shopspring/decimal"
	"golang.org/x/crypto/ssh"
	"pgregory.net/rapid"

	"remit/internal/approval"
	"remit/internal/transfer"
)

const planText = "{\"format\":\"remit-plan/1\"}\nthe bytes of a plan\n"

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// signer returns a key that is always the same for a name.
func signer(t testing.TB, name string) ssh.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed[:]))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// keyLine is a key as files have it.
func keyLine(s ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}

func digest(text string) *approval.Digest {
	d := approval.NewDigest()
	_, _ = d.Write([]byte(text)) // never fails
	return d
}

func sign(t testing.TB, text string, s ssh.Signer) []byte {
	t.Helper()
	sig, err := approval.Sign(digest(text), s)
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func signers(t testing.TB, lines ...string) *approval.Signers {
	t.Helper()
	s, mistakes := approval.ParseSigners([]byte(strings.Join(lines, "\n")), time.UTC)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	return s
}

func TestSignersMistakes(t *testing.T) {
	key := keyLine(signer(t, "alice"))
	kind, blob, _ := strings.Cut(key, " ")
	for name, c := range map[string]struct{ line, want string }{
		"no key":                     {"alice", "it has no key"},
		"a type alone":               {"alice ssh-ed25519", "it has no key"},
		"a key of another type":      {"alice ssh-rsa " + blob, "its key is of the type ssh-ed25519"},
		"a key cut off":              {"alice " + key[:len(key)-8], "its key cannot be read"},
		"bits behind the key":        {"alice " + kind + " " + blob + "AAAA", "its key cannot be read"},
		"a wildcard":                 {"*@example.com " + key, "is a pattern, which names no person"},
		"a negation":                 {"!alice,bob " + key, "is a pattern"},
		"an empty principal":         {"alice,,bob " + key, "a principal is empty"},
		"an open quotation":          {"\"alice " + key, "a quotation mark is not closed"},
		"an authority":               {"alice cert-authority " + key, "cert-authority is not supported"},
		"an unknown option":          {"alice no-touch-required=\"yes\" " + key, "\"no-touch-required\" is not known"},
		"an option twice":            {"alice namespaces=\"a\",namespaces=\"b\" " + key, "stands twice"},
		"a date that is none":        {"alice valid-before=\"20261332\" " + key, "is not a time"},
		"a date of another shape":    {"alice valid-after=\"2026-11-27\" " + key, "is not a time"},
		"never valid":                {"alice valid-after=\"20270101\",valid-before=\"20260101\" " + key, "valid-before is not after valid-after"},
		"a value without quotation":  {"alice namespaces=remit-plan " + key, "must stand in quotation marks"},
		"nothing allowed":            {"alice namespaces=\"\" " + key, "allows nothing"},
		"a comma at the end":         {"alice namespaces=\"a\", " + key, "a comma ends the options"},
		"a space behind a name":      {"\"alice \" " + key, "has a space at an end"},
		"a space before a name":      {"\"bob, alice\" " + key, "has a space at an end"},
		"a letter of another script": {"\u0430lice " + key, "could be taken for another name"},
		"text that does not show":    {"ali\u202ece " + key, "U+202E"},
		"bytes that are no text":     {"ali\xffce " + key, "it is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			_, mistakes := approval.ParseSigners([]byte("# who may\n\n"+c.line+"\n"), time.UTC)
			if len(mistakes) != 1 || mistakes[0].Line != 3 || !strings.Contains(mistakes[0].Text, c.want) {
				t.Errorf("%s\ngot %+v, want %q on line 3", c.line, mistakes, c.want)
			}
		})
	}
	if _, mistakes := approval.ParseSigners([]byte("# nobody\n"), time.UTC); len(mistakes) != 1 {
		t.Errorf("a file that names nobody has the mistakes %v", mistakes)
	}
}

// A time with a Z at its end is that of UTC, and one without it is that of the zone that the reader gives.
func TestValidityIsOfUTCWhereItSaysSo(t *testing.T) {
	alice := signer(t, "alice")
	for before, want := range map[string]time.Duration{"202611271200Z": 0, "202611271200z": 0, "202611271200": -2 * time.Hour, "20261128Z": 12 * time.Hour, "20261128": 10 * time.Hour} {
		s, mistakes := approval.ParseSigners([]byte("alice valid-before=\""+before+"\" "+keyLine(alice)), time.FixedZone("ahead", 2*60*60))
		if len(mistakes) > 0 {
			t.Fatal(mistakes)
		}
		for now, counts := range map[time.Time]bool{noon.Add(want - time.Second): true, noon.Add(want + time.Second): false} {
			v := approval.Decide(approval.Case{
				Signers: s, Plan: digest(planText), Now: now, Files: []approval.File{{Name: "p.sig", Content: sign(t, planText, alice)}},
			})
			if (len(v.Approvers) == 1) != counts {
				t.Errorf("valid before %s, it counts at %s: %t", before, now, !counts)
			}
		}
	}
}

// outcome is a verdict in short.
type outcome struct {
	Author     string
	Approvers  []string
	Discounted map[string]approval.Why
	Could      []string
	Enough     bool
	Needed     int
}

func short(v approval.Verdict) outcome {
	o := outcome{Enough: v.Enough(), Needed: v.Needed(), Could: v.Could, Discounted: map[string]approval.Why{}}
	if v.Author != nil {
		o.Author = v.Author.Principal
	}
	for _, c := range v.Approvers {
		o.Approvers = append(o.Approvers, c.Principal)
	}
	for _, d := range v.Discounted {
		o.Discounted[d.File] = d.Why
	}
	return o
}

func TestDecide(t *testing.T) {
	alice, alice2, bob, carol := signer(t, "alice"), signer(t, "alice2"), signer(t, "bob"), signer(t, "carol")
	all := []string{
		"alice " + keyLine(alice), "Alice,al " + keyLine(alice2),
		"bob namespaces=\"git,remit-*\" " + keyLine(bob) + " bob's laptop", "carol " + keyLine(carol),
	}
	files := func(pairs ...any) []approval.File {
		var list []approval.File
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, approval.File{Name: pairs[i].(string), Content: pairs[i+1].([]byte)})
		}
		return list
	}
	none := map[string]approval.Why{}
	for name, c := range map[string]struct {
		signers []string
		revoked string
		author  ssh.Signer
		files   []approval.File
		want    outcome
	}{
		"an author and an approver": {
			author: alice, files: files("p.alice.sig", sign(t, planText, alice), "p.x.sig", sign(t, planText, bob)),
			want: outcome{Author: "alice", Approvers: []string{"bob"}, Discounted: none, Could: []string{"carol"}, Enough: true, Needed: 1},
		},
		"without the author's signature one more is needed": {
			author: alice, files: files("p.sig", sign(t, planText, bob)),
			want: outcome{Approvers: []string{"bob"}, Discounted: none, Could: []string{"carol"}, Needed: 2},
		},
		"nobody named as the author": {
			files: files("p.a.sig", sign(t, planText, alice), "p.b.sig", sign(t, planText, bob)),
			want:  outcome{Approvers: []string{"alice", "bob"}, Discounted: none, Could: []string{"carol"}, Enough: true, Needed: 2},
		},
		"the author approves with the same key": {
			author: alice, files: files("p.1.sig", sign(t, planText, alice), "p.2.sig", sign(t, planText, alice)),
			want: outcome{Author: "alice", Discounted: map[string]approval.Why{"p.2.sig": approval.IsAuthor}, Could: []string{"bob", "carol"}, Needed: 1},
		},
		"the author approves with another key": {
			author: alice, files: files("p.1.sig", sign(t, planText, alice), "p.2.sig", sign(t, planText, alice2)),
			want: outcome{Author: "alice", Discounted: map[string]approval.Why{"p.2.sig": approval.IsAuthor}, Could: []string{"bob", "carol"}, Needed: 1},
		},
		"the named author approves and does not sign as the author": {
			author: alice, files: files("p.2.sig", sign(t, planText, alice2), "p.3.sig", sign(t, planText, bob)),
			want: outcome{Approvers: []string{"bob"}, Discounted: map[string]approval.Why{"p.2.sig": approval.IsAuthor}, Could: []string{"carol"}, Needed: 2},
		},
		"one person twice": {
			author: bob, files: files("p.1.sig", sign(t, planText, alice), "p.2.sig", sign(t, planText, alice2), "p.3.sig", sign(t, planText, bob)),
			want: outcome{Author: "bob", Approvers: []string{"alice"}, Discounted: map[string]approval.Why{"p.2.sig": approval.SamePerson}, Could: []string{"carol"}, Enough: true, Needed: 1},
		},
		"another plan, another namespace, a stranger, rubbish": {
			author: alice, files: files(
				"p.1.sig", sign(t, "yesterday's", bob), "p.2.sig", signFor(t, "git", planText, carol),
				"p.3.sig", sign(t, planText, signer(t, "mallory")), "p.4.sig", []byte("rubbish"),
			),
			want: outcome{Discounted: map[string]approval.Why{
				"p.1.sig": approval.OtherBytes, "p.2.sig": approval.OtherUse, "p.3.sig": approval.UnknownKey, "p.4.sig": approval.Unreadable,
			}, Could: []string{"bob", "carol"}, Needed: 2},
		},
		"keys whose time is over, is to come, or that are for something else": {
			signers: []string{
				"alice valid-before=\"20261127\" " + keyLine(alice), "bob valid-after=\"202611271201\" " + keyLine(bob),
				"carol namespaces=\"git,!remit-plan\" " + keyLine(carol),
			},
			files: files("p.1.sig", sign(t, planText, alice), "p.2.sig", sign(t, planText, bob), "p.3.sig", sign(t, planText, carol)),
			want: outcome{Discounted: map[string]approval.Why{
				"p.1.sig": approval.ExpiredKey, "p.2.sig": approval.NotYetValid, "p.3.sig": approval.OtherUse,
			}, Needed: 2},
		},
		"a revoked key": {
			revoked: keyLine(bob), author: alice,
			files: files("p.1.sig", sign(t, planText, alice), "p.2.sig", sign(t, planText, bob)),
			want:  outcome{Author: "alice", Discounted: map[string]approval.Why{"p.2.sig": approval.RevokedKey}, Could: []string{"carol"}, Needed: 1},
		},
		"the author's key revoked": {
			revoked: keyLine(alice), author: alice,
			files: files("p.1.sig", sign(t, planText, alice), "p.2.sig", sign(t, planText, bob)),
			want:  outcome{Approvers: []string{"bob"}, Discounted: map[string]approval.Why{"p.1.sig": approval.RevokedKey}, Could: []string{"carol"}, Needed: 2},
		},
		"a person's other key stands under the name of its own line": {
			signers: []string{
				"alice valid-before=\"20250101\" " + keyLine(alice2), "alice " + keyLine(alice), "al,alice " + keyLine(alice2), "bob " + keyLine(bob),
			},
			files: files("p.1.sig", sign(t, planText, alice2), "p.2.sig", sign(t, planText, alice)),
			want:  outcome{Approvers: []string{"al"}, Discounted: map[string]approval.Why{"p.2.sig": approval.SamePerson}, Could: []string{"bob"}, Needed: 2},
		},
		"one key under two names is one person": {
			signers: []string{"alice " + keyLine(alice), "bob " + keyLine(alice), "bob " + keyLine(bob), "carol " + keyLine(carol)},
			files:   files("p.1.sig", sign(t, planText, alice), "p.2.sig", sign(t, planText, bob)),
			want:    outcome{Approvers: []string{"alice"}, Discounted: map[string]approval.Why{"p.2.sig": approval.SamePerson}, Could: []string{"carol"}, Needed: 2},
		},
		"one name in letters that differ as bytes alone is one person": {
			signers: []string{"\u00e5sa " + keyLine(alice), "A\u030aSA " + keyLine(alice2), "bob " + keyLine(bob)},
			files:   files("p.1.sig", sign(t, planText, alice), "p.2.sig", sign(t, planText, alice2)),
			want:    outcome{Approvers: []string{"\u00e5sa"}, Discounted: map[string]approval.Why{"p.2.sig": approval.SamePerson}, Could: []string{"bob"}, Needed: 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.signers == nil {
				c.signers = all
			}
			revoked, mistakes := approval.ParseRevoked([]byte(c.revoked + "\n# no more\n"))
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			of := approval.Case{
				Need: approval.Need{Approvers: 1}, Signers: signers(t, c.signers...), Revoked: revoked,
				Plan: digest(planText), Files: c.files, Now: noon,
			}
			if c.author != nil {
				of.AuthorKey = ssh.FingerprintSHA256(c.author.PublicKey())
			}
			if diff := cmp.Diff(c.want, short(approval.Decide(of))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// signFor signs for another use than an approval.
func signFor(t testing.TB, namespace, text string, s ssh.Signer) []byte {
	t.Helper()
	sig, err := sshsig.Sign(strings.NewReader(text), s, sshsig.HashSHA256, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return sshsig.Armor(sig)
}

// TestEnoughMeansOneMore is the invariant: whatever subset of signatures is there, and
// whatever key the plan names as its author's, an approved plan was signed by one person more than
// the rule wants approvers.
func TestEnoughMeansOneMore(t *testing.T) {
	names := []string{"alice", "alice2", "bob", "bob2", "carol", "dave"}
	known := signers(t, "alice "+keyLine(signer(t, "alice")), "alice "+keyLine(signer(t, "alice2")),
		"bob "+keyLine(signer(t, "bob")), "bob "+keyLine(signer(t, "bob2")), "carol "+keyLine(signer(t, "carol")), "dave "+keyLine(signer(t, "dave")))
	signed := map[string][]byte{}
	for _, name := range names {
		signed[name] = sign(t, planText, signer(t, name))
	}
	rapid.Check(t, func(t *rapid.T) {
		of := approval.Case{Need: approval.Need{Approvers: rapid.IntRange(1, 3).Draw(t, "approvers")}, Signers: known, Plan: digest(planText), Now: noon}
		if author := rapid.SampledFrom(append(names, "")).Draw(t, "author"); author != "" {
			sum := sha256.Sum256([]byte(author))
			s, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(sum[:]))
			if err != nil {
				t.Fatal(err)
			}
			of.AuthorKey = ssh.FingerprintSHA256(s.PublicKey())
		}
		people := map[string]bool{}
		for i, name := range rapid.SliceOf(rapid.SampledFrom(names)).Draw(t, "signed by") {
			of.Files = append(of.Files, approval.File{Name: fmt.Sprint(i), Content: signed[name]})
			people[strings.TrimRight(name, "2")] = true
		}
		v := approval.Decide(of)
		if v.Enough() && len(people) < of.Need.Approvers+1 {
			t.Fatalf("%d people are enough for %d approvers", len(people), of.Need.Approvers)
		}
		if len(v.Approvers)+len(v.Discounted) > len(of.Files) {
			t.Fatal("a signature is judged twice")
		}
	})
}

// TestOneFlippedByte changes each byte of a signature's file and of a plan's, one by one.
func TestOneFlippedByte(t *testing.T) {
	known := signers(t, "alice "+keyLine(signer(t, "alice")))
	enough := func(plan, sig []byte) bool {
		v := approval.Decide(approval.Case{
			Need: approval.Need{Approvers: 0}, Signers: known, Plan: digest(string(plan)), Now: noon,
			Files: []approval.File{{Name: "p.sig", Content: sig}},
		})
		return v.Enough()
	}
	plan, sig := []byte(planText), sign(t, planText, signer(t, "alice"))
	if !enough(plan, sig) {
		t.Fatal("the signature does not count")
	}
	for _, text := range [][]byte{plan, sig} {
		for i := range text {
			for bit := range 8 {
				text[i] ^= 1 << bit
				if enough(plan, sig) {
					t.Errorf("byte %d with bit %d changed counts:\n%s", i, bit, text)
				}
				text[i] ^= 1 << bit
			}
		}
	}
}

func TestNeeded(t *testing.T) {
	amount := transfer.MustAmount
	number := decimal.RequireFromString
	rules := []approval.Rule{
		{Place: "second", Above: map[string]decimal.Decimal{"USD": number("100000")}, Approvers: 2},
		{Place: "many", HasCount: true, CountMax: 3, Approvers: 3},
		{Place: "first", Above: map[string]decimal.Decimal{"USD": number("1000"), "EUR": number("900")}, Approvers: 1},
		{Place: "either", Above: map[string]decimal.Decimal{"CHF": number("1000")}, HasCount: true, CountMax: 5, Approvers: 4},
	}
	for name, c := range map[string]struct {
		amounts []string // of one transfer each
		want    string
	}{
		"below all":                  {[]string{"1000.00 USD"}, ""},
		"above by the least":         {[]string{"1000.00000001 USD"}, "first: above 1,000.00 USD"},
		"in sum":                     {[]string{"60000 USD", "60000 USD"}, "second: above 100,000.00 USD"},
		"another asset":              {[]string{"1 USD", "901 EUR"}, "first: above 900.00 EUR"},
		"an asset without a tier":    {[]string{"1000000 GBP"}, ""},
		"many":                       {[]string{"1 USD", "1 USD", "1 USD", "1 USD"}, "many: more than 3 transfers"},
		"as many as a count allows":  {[]string{"1 USD", "1 USD", "1 USD"}, ""},
		"the most decides":           {[]string{"100001 USD", "1 GBP", "1 GBP", "1 GBP"}, "many: more than 3 transfers"},
		"nothing":                    {nil, ""},
		"many, of a rule with both":  {[]string{"1 CHF", "1 USD", "1 USD", "1 USD", "1 USD", "1 USD"}, "either: more than 5 transfers"},
		"above, of a rule with both": {[]string{"1001 CHF"}, "either: above 1,000.00 CHF"},
		"an asset in small letters":  {[]string{"60000 usd", "60000 USD"}, "second: above 100,000.00 USD"},
	} {
		t.Run(name, func(t *testing.T) {
			var totals transfer.Totals
			for _, text := range c.amounts {
				digits, asset, _ := strings.Cut(text, " ")
				totals.Add(asset, amount(digits))
			}
			got := ""
			if need, ok := approval.Needed(rules, totals); ok {
				got = need.Rule.Place + ": " + need.Because
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	var totals transfer.Totals
	totals.Add("GBP", amount("1"))
	if got := approval.Unnamed(rules, totals); !cmp.Equal(got, []string{"GBP"}) {
		t.Errorf("assets without a tier: %v", got)
	}
	totals.Add("eur", amount("1"))
	if got := approval.Unnamed(rules, totals); !cmp.Equal(got, []string{"GBP"}) {
		t.Errorf("assets without a tier, with EUR in small letters: %v", got)
	}
	if _, ok := approval.Needed([]approval.Rule{{Approvers: 1}}, transfer.Totals{}); ok {
		t.Error("a plan that moves nothing needs an approval")
	}
}

// needOpenSSH skips where there is no ssh-keygen.
func needOpenSSH(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed here (Debian: apt-get install openssh-client)")
	}
}

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// verifies asks ssh-keygen -Y verify whether a signature is alice's.
func verifies(t *testing.T, dir, text string, sig []byte, allowed string) bool {
	t.Helper()
	cmd := exec.Command("ssh-keygen", "-Y", "verify", "-n", approval.Namespace, "-I", "alice",
		"-f", write(t, dir, "allowed_signers", allowed), "-s", write(t, dir, "made.sig", string(sig)))
	cmd.Stdin = strings.NewReader(text)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	return cmd.Run() == nil
}

// TestOpenSSH exchanges signatures with the real ssh-keygen, both ways, with each kind of key.
func TestOpenSSH(t *testing.T) {
	needOpenSSH(t)
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		for _, hash := range []string{"sha256", "sha512"} {
			t.Run(kind+" "+hash, func(t *testing.T) {
				dir := t.TempDir()
				key := filepath.Join(dir, "key")
				openSSH(t, "", "-q", "-t", kind, "-N", "", "-C", "alice", "-f", key)
				public, err := os.ReadFile(key + ".pub")
				if err != nil {
					t.Fatal(err)
				}
				allowed := "alice " + string(public)
				theirs := openSSH(t, planText, "-Y", "sign", "-n", approval.Namespace, "-O", "hashalg="+hash, "-f", key)
				v := approval.Decide(approval.Case{
					Signers: signers(t, allowed), Plan: digest(planText), Now: noon,
					Files: []approval.File{{Name: "theirs.sig", Content: theirs}},
				})
				if len(v.Approvers) != 1 {
					t.Errorf("the signature of ssh-keygen does not count: %+v", v.Discounted)
				}
				private, err := os.ReadFile(key)
				if err != nil {
					t.Fatal(err)
				}
				s, err := ssh.ParsePrivateKey(private)
				if err != nil {
					t.Fatal(err)
				}
				ours := sign(t, planText, s)
				if !verifies(t, dir, planText, ours, allowed) || verifies(t, dir, planText+" ", ours, allowed) {
					t.Error("ssh-keygen does not verify our signature as it should")
				}
			})
		}
	}
}

func openSSH(t *testing.T, stdin string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("ssh-keygen", args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ssh-keygen %v: %v\n%s", args, err, &stderr)
	}
	return out
}

// TestSignersAgreeWithOpenSSH holds what we make of an allowed_signers file against what the
// real ssh-keygen makes of it now. Where it accepts what we call a mistake, we say why.
func TestSignersAgreeWithOpenSSH(t *testing.T) {
	needOpenSSH(t)
	key, other := keyLine(signer(t, "alice")), keyLine(signer(t, "other"))
	sig := sign(t, planText, signer(t, "alice"))
	for name, allowed := range map[string]string{
		"plain":                   "alice " + key,
		"a list of names":         "al,alice " + key,
		"a quoted list":           "\"al,alice\" " + key,
		"tabs and comments":       "# who\n\n\talice\t" + key + " a comment # of hers",
		"no principal of hers":    "bob " + key,
		"another key":             "alice " + other,
		"the key on a later line": "alice " + other + "\nalice " + key,
		"its namespace":           "alice namespaces=\"remit-plan\" " + key,
		"a namespace by pattern":  "alice namespaces=\"git,re?it-*\" " + key,
		"another namespace":       "alice namespaces=\"git\" " + key,
		"a namespace negated":     "alice namespaces=\"!remit-plan,*\" " + key,
		"valid for long":          "alice valid-after=\"20200101\",valid-before=\"20991231235959Z\" " + key,
		"expired":                 "alice valid-before=\"20200101Z\" " + key,
		"not yet":                 "alice valid-after=\"209901010000\" " + key,
		"capital options":         "alice NAMESPACES=\"remit-plan\",Valid-After=\"20200101\" " + key,
		"expired, then not":       "alice valid-before=\"20200101\" " + key + "\nalice " + key,
		"an unknown option":       "alice unknown=\"yes\" " + key,
		"an option not quoted":    "alice namespaces=remit-plan " + key,
		"an option twice":         "alice namespaces=\"remit-plan\",namespaces=\"remit-plan\" " + key,
		"an impossible date":      "alice valid-after=\"20201350\" " + key,
	} {
		t.Run(name, func(t *testing.T) {
			theirs := verifies(t, t.TempDir(), planText, sig, allowed+"\n")
			s, mistakes := approval.ParseSigners([]byte(allowed+"\n"), time.UTC)
			v := approval.Decide(approval.Case{
				Signers: s, Plan: digest(planText), Now: time.Now(),
				Files: []approval.File{{Name: "p.sig", Content: sig}},
			})
			ours := len(mistakes) == 0 && len(v.Approvers) == 1 && (v.Approvers[0].Principal == "alice" || v.Approvers[0].Principal == "al")
			if ours != theirs {
				t.Errorf("it counts here: %t, with ssh-keygen: %t; mistakes %v, %+v\n%s", ours, theirs, mistakes, v.Discounted, allowed)
			}
		})
	}
}

// hardware is a security key in software: it signs as PROTOCOL.u2f of OpenSSH says.
type hardware struct {
	private ed25519.PrivateKey
	touched byte
}

func (h hardware) PublicKey() ssh.PublicKey {
	key, err := ssh.ParsePublicKey(ssh.Marshal(struct {
		Name        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, h.private.Public().(ed25519.PublicKey), "ssh:"}))
	if err != nil {
		panic(err)
	}
	return key
}

func (h hardware) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	application, message := sha256.Sum256([]byte("ssh:")), sha256.Sum256(data)
	tail := binary.BigEndian.AppendUint32([]byte{h.touched}, 7)
	signed := append(append(application[:], tail...), message[:]...)
	return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(h.private, signed), Rest: tail}, nil
}

// TestHardwareKey has a security key sign as ssh-agent would, and compares with ssh-keygen.
func TestHardwareKey(t *testing.T) {
	needOpenSSH(t)
	seed := sha256.Sum256([]byte("hardware"))
	h := hardware{ed25519.NewKeyFromSeed(seed[:]), 1}
	allowed := "alice " + keyLine(h)
	sig := sign(t, planText, h)
	if !verifies(t, t.TempDir(), planText, sig, allowed) {
		t.Error("ssh-keygen does not verify it")
	}
	v := approval.Decide(approval.Case{
		Signers: signers(t, allowed), Plan: digest(planText), Now: noon,
		Files: []approval.File{{Name: "p.sig", Content: sig}},
	})
	if len(v.Approvers) != 1 {
		t.Errorf("it does not count: %+v", v.Discounted)
	}
}

// TestRevokedAgreesWithOpenSSH reads the lists that the real ssh-keygen writes, and compares our
// verdicts on them with its own.
func TestRevokedAgreesWithOpenSSH(t *testing.T) {
	needOpenSSH(t)
	alice, bob := signer(t, "alice"), signer(t, "bob")
	for name, c := range map[string]struct {
		spec      string // of ssh-keygen -k; "" for a list of public keys
		isRevoked bool
	}{
		"a list of keys":  {"", true},
		"a key":           {keyLine(alice), true},
		"its hash":        {"sha256: " + keyLine(alice), true},
		"its weak hash":   {"sha1: " + keyLine(alice), true},
		"its fingerprint": {"hash: " + ssh.FingerprintSHA256(alice.PublicKey()), true},
		"another key":     {keyLine(bob), false},
		"several":         {keyLine(bob) + "\nsha256: " + keyLine(bob) + "\nsha1: " + keyLine(alice), true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			list := write(t, dir, "revoked", keyLine(alice)+"\n")
			if c.spec != "" {
				openSSH(t, "", "-k", "-q", "-f", list, write(t, dir, "spec", c.spec+"\n"))
			}
			theirs := exec.Command("ssh-keygen", "-Q", "-f", list, write(t, dir, "key.pub", keyLine(alice)+"\n")).Run() != nil
			content, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			revoked, mistakes := approval.ParseRevoked(content)
			ours := signers(t, "alice "+keyLine(alice)).Use(approval.SSHKey(alice.PublicKey()), revoked, noon).Why == approval.RevokedKey
			if len(mistakes) > 0 || ours != c.isRevoked || theirs != c.isRevoked {
				t.Errorf("revoked here: %t, with ssh-keygen: %t, want %t; mistakes %v", ours, theirs, c.isRevoked, mistakes)
			}
			if c.spec == "" || name == "several" { // cut between two sections, it is whole
				return
			}
			for n := len("SSHKRL\n\x00"); n < len(content)-1; n++ {
				if _, mistakes := approval.ParseRevoked(content[:n]); len(mistakes) == 0 && n != emptyKRL(content) {
					t.Errorf("%d of %d bytes are a list without a mistake", n, len(content))
				}
			}
		})
	}
}

// emptyKRL is how long the header of a list is, which alone is a list that revokes nothing.
func emptyKRL(content []byte) int {
	const fixed = 8 + 4 + 3*8
	reserved := int(binary.BigEndian.Uint32(content[fixed:]))
	comment := int(binary.BigEndian.Uint32(content[fixed+4+reserved:]))
	return fixed + 4 + reserved + 4 + comment
}

// TestWhatABinaryListMayNotHave has the parts that change what a list means: a reader that passes over one of them
// would take a revoked key for a good one.
func TestWhatABinaryListMayNotHave(t *testing.T) {
	header := func(format uint32) []byte {
		return append([]byte("SSHKRL\n\x00"), ssh.Marshal(struct {
			Format                    uint32
			Version, Generated, Flags uint64
			Reserved, Comment         string
		}{Format: format})...)
	}
	section := func(kind byte, data []byte) []byte {
		return ssh.Marshal(struct {
			Kind byte
			Data []byte
		}{kind, data})
	}
	extension := func(critical bool) []byte {
		return section(255, ssh.Marshal(struct {
			Name     string
			Critical bool
			Contents []byte
		}{"more@example.com", critical, []byte("x")}))
	}
	for name, c := range map[string]struct {
		content []byte
		want    string // of the mistake; "" for none
	}{
		"nothing":                       {header(1), ""},
		"an extension":                  {append(header(1), extension(false)...), ""},
		"certificates":                  {append(header(1), section(1, []byte("x"))...), ""},
		"an extension that is critical": {append(header(1), extension(true)...), `the extension "more@example.com"`},
		"a signature":                   {append(header(1), section(4, []byte("x"))...), "with a signature"},
		"a section of another type":     {append(header(1), section(6, []byte("x"))...), "a section of the type 6"},
		"another format":                {header(2), "of the format 2"},
	} {
		_, mistakes := approval.ParseRevoked(c.content)
		got := ""
		for _, m := range mistakes {
			got += fmt.Sprint(m)
		}
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestASignatureHasNothingBehindIt adds bytes to the signature itself, which OpenSSH knows of hardware keys alone.
func TestASignatureHasNothingBehindIt(t *testing.T) {
	alice := signer(t, "alice")
	sig, err := sshsig.Sign(strings.NewReader(planText), alice, sshsig.HashSHA512, approval.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := approval.ParseSignature(sshsig.Armor(sig)); err != nil {
		t.Fatal(err)
	}
	for _, rest := range []string{"x", strings.Repeat("x", 100)} {
		sig.Signature.Rest = []byte(rest)
		if _, err := approval.ParseSignature(sshsig.Armor(sig)); err == nil || !strings.Contains(err.Error(), "something follows it") {
			t.Errorf("%d bytes more: %v", len(rest), err)
		}
	}
}

// hangs is how long a fuzzer may take for one input: more is a finding, not a slow machine.
const hangs = 5 * time.Minute

func FuzzSigners(f *testing.F) {
	key := keyLine(signer(f, "alice"))
	f.Add([]byte("alice " + key + "\n"))
	f.Add([]byte("# c\n\"a,b\" namespaces=\"x,remit-*\",valid-before=\"20271231Z\" " + key + " c\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		defer time.AfterFunc(hangs, func() { panic("it hangs") }).Stop()
		s, mistakes := approval.ParseSigners(content, time.UTC)
		for _, p := range s.People() {
			if s.Name(p) == "" {
				t.Error("somebody has no name")
			}
		}
		if len(mistakes) == 0 && len(s.People()) == 0 {
			t.Error("a file without a mistake names nobody")
		}
		twice, _ := approval.ParseSigners(slices.Concat(content, []byte("\n"), content), time.UTC)
		if !slices.Equal(s.People(), twice.People()) {
			t.Errorf("said twice, it names %d people, not %d", len(twice.People()), len(s.People()))
		}
	})
}

func FuzzSignature(f *testing.F) {
	f.Add(sign(f, planText, signer(f, "alice")))
	f.Add(signFor(f, "git", planText, signer(f, "bob")))
	known := signers(f, "alice "+keyLine(signer(f, "alice")))
	f.Fuzz(func(_ *testing.T, text []byte) {
		approval.Decide(approval.Case{Signers: known, Plan: digest(planText), Now: noon, Files: []approval.File{{Name: "p.sig", Content: text}}})
	})
}

func FuzzRevoked(f *testing.F) {
	f.Add([]byte(keyLine(signer(f, "alice")) + "\n"))
	f.Add([]byte("SSHKRL\n\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		revoked, _ := approval.ParseRevoked(content)
		signers(t, "alice "+keyLine(signer(t, "alice"))).Able(revoked, noon)
	})
}
