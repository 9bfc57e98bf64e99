package lsp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creachadair/jrpc2"
)

// rent is a source without a mistake.
const rent = `transfer "internal" "rent" {
  from_profile_id = "treasury"
  to_profile_id   = "desk"
  amount          = "8200.00"
  asset           = "USD"
}
`

func messagesOf(found []diagnostic) string {
	var all []string
	for _, d := range found {
		all = append(all, strings.ReplaceAll(d.Message, "\n", " "))
	}
	return strings.Join(all, "; ")
}

func TestMistakesAreShownAsOneTypesAndGoWithThem(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": rent})
	e := newEditor(t, folder)
	e.openSaved("main.hcl")
	if found := e.diagnostics("main.hcl"); len(found) > 0 {
		t.Fatalf("a source without a mistake has %v", found)
	}
	// Before the amount stand characters of one, two and four bytes, the last of which are two units of UTF-16.
	e.change("main.hcl", strings.Replace(rent, `"desk"`, `"dé💰sk"`, 1))
	if found := e.diagnostics("main.hcl"); len(found) > 0 {
		t.Fatalf("a source without a mistake has %v", found)
	}
	line := `  to_profile_id   = "dé💰sk"`
	e.edit("main.hcl", object{"range": span{position{2, 23}, position{2, 25}}, "text": "\U0001f4b0"}) // the same
	e.edit("main.hcl", object{"range": span{position{2, 0}, position{2, 99}}, "text": line + " + 1"})
	found := e.diagnostics("main.hcl")
	if len(found) == 0 {
		t.Fatal("a text and a number are no sum, and no mistake is shown")
	}
	if got := found[0].Range; got.Start.Line != 2 || got.Start.Character < 20 || got.End.Character > 32 {
		t.Errorf("the mistake is shown at %v", got)
	}
	e.awaitPublished("main.hcl", func(found []diagnostic) bool { return len(found) > 0 })
	e.edit("main.hcl", object{"range": span{position{2, 28}, position{2, 32}}, "text": ""})
	if found := e.diagnostics("main.hcl"); len(found) > 0 {
		t.Errorf("the mistake is mended, and %v is shown", found)
	}
	e.awaitPublished("main.hcl", func(found []diagnostic) bool { return len(found) == 0 })
	if code := e.stop(); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}

func TestAMistakeInARowStandsInTheDataFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{
		"main.hcl":     "data \"csv\" \"pay\" {\n  file = \"data/pay.csv\"\n  key  = \"id\"\n}\n\ntransfer \"internal\" \"pay\" {\n  for_each        = data.csv.pay.rows\n  ref_id          = each.key\n  from_profile_id = \"treasury\"\n  to_profile_id   = \"desk\"\n  amount          = each.value.net\n  asset           = \"USD\"\n}\n",
		"data/pay.csv": "id,net\nE-1,1.00\n",
	})
	e := newEditor(t, folder)
	e.open("data/pay.csv", "id,net\nE-1,1.00\nE-2,\"1,5\"\n")
	found := e.diagnostics("data/pay.csv")
	if len(found) != 1 || found[0].Range.Start != (position{2, 4}) || found[0].Range.End != (position{2, 9}) {
		t.Errorf("the amount on line 3 is wrong, and %v is shown", found)
	}
}

// TestOtherProgramsFilesAreLeftAlone: HCL is the language of others too.
func TestOtherProgramsFilesAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		open  string
		ours  bool
	}{
		"a job of another program":              {map[string]string{"job.hcl": "job \"web\" {\n  service {\n  }\n}\n"}, "job.hcl", false},
		"a directory with variables alone":      {map[string]string{"main.hcl": "variable \"x\" {\n  colour = 1\n}\n"}, "main.hcl", false},
		"a directory with a lock file":          {map[string]string{"main.hcl": "variable \"x\" {\n  colour = 1\n}\n", ".remit.lock.hcl": ""}, "main.hcl", true},
		"a directory with a transfer elsewhere": {map[string]string{"main.hcl": "variable \"x\" {\n  colour = 1\n}\n", "more.hcl": rent}, "main.hcl", true},
		"a transfer behind blanks":              {map[string]string{"main.hcl": "  transfer \"internal\" \"x\" {\n  colour = 1\n}\n"}, "main.hcl", true},
		"a transfer in JSON":                    {map[string]string{"main.hcl.json": `{"transfer": {"internal": {"x": {"colour": 1}}}}`}, "main.hcl.json", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			write(t, folder, test.files)
			e := newEditor(t, folder)
			e.openSaved(test.open)
			if found := e.diagnostics(test.open); len(found) > 0 != test.ours {
				t.Errorf("there are %d mistakes: %s", len(found), messagesOf(found))
			}
		})
	}
}

// TestNothingOutsideOfTheFolderIsRead opens a folder in which everything leads out.
func TestNothingOutsideOfTheFolderIsRead(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	write(t, top, map[string]string{
		"book/book.hcl": "profile \"desk\" {\n  profile_id = \"the-canary\"\n}\n", "policy/limit.hcl": "limit \"day\" {\n  per = \"the-canary\"\n}\n",
		"other/main.hcl":    rent + "locals {\n  x = the-canary\n}\n",
		"payments/main.hcl": "remit {\n  include = [\"../book\"]\n}\n" + rent, "payments/texts/main.hcl": rent + "locals {\n  x = file(\"out.txt\")\n}\n",
		"payments/links/main.hcl": rent,
		"canary.txt":              "the-canary",
	})
	for name, target := range map[string]string{"payments/texts/out.txt": "../../canary.txt", "payments/below": "../other", "payments/links/link.hcl": "../../other/main.hcl"} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	e := startEditor(t, filepath.Join(top, "payments"), map[string]string{"REMIT_ROOT": top, "REMIT_POLICY_DIR": filepath.Join(top, "policy")})
	said := ""
	for _, name := range []string{"main.hcl", "texts/main.hcl", "links/main.hcl", "below/main.hcl"} { // of the last one the editor has the text, and the server does not go there
		e.openSaved(name)
		said += messagesOf(e.diagnostics(name)) + "\n"
	}
	if strings.Contains(said, "canary") {
		t.Errorf("the server tells of the outside: %s", said)
	}
	for _, want := range []string{"leads out of the root", "link.hcl: leads out", "out.txt"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not told: %s", want, said)
		}
	}
}

// TestAnIncludedFileIsCheckedWhereItIsUsed: an address book is no configuration of its own.
func TestAnIncludedFileIsCheckedWhereItIsUsed(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{
		"book/book.hcl": "profile \"desk\" {\n  profile_id = \"desk\"\n}\n", "payments/main.hcl": "remit {\n  include = [\"../book\"]\n}\n" + rent,
	})
	e := startEditor(t, folder, map[string]string{"REMIT_ROOT": folder})
	e.openSaved("payments/main.hcl")
	e.open("book/book.hcl", "profile \"desk\" {\n  colour = \"desk\"\n}\n")
	e.awaitPublished("book/book.hcl", func(found []diagnostic) bool { return strings.Contains(messagesOf(found), "colour") })
}

func TestTheOrderOfTheProtocolIsKept(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": rent})
	e := newEditor(t, folder)
	if _, err := e.client.Call(context.Background(), "initialize", object{"capabilities": object{}}); err == nil {
		t.Error("the server begins twice")
	}
	_, err := e.client.Call(context.Background(), "textDocument/unheardOf", object{})
	if code := jrpc2.ErrorCode(err); code != jrpc2.MethodNotFound {
		t.Errorf("a method that there is not: %v", err)
	}
	e.call("shutdown", nil, nil)
	if _, err := e.client.Call(context.Background(), "textDocument/diagnostic", object{"textDocument": e.name("main.hcl")}); err == nil {
		t.Error("the server answers after its shutdown")
	}
	e.tell("exit", nil)
	if code := <-e.ended; code != 0 {
		t.Errorf("after a shutdown the exit code is %d", code)
	}
	other := newEditor(t, folder)
	other.tell("exit", nil)
	if code := <-other.ended; code != 1 {
		t.Errorf("without a shutdown the exit code is %d", code)
	}
}

// TestACancelledRequestEnds cancels a request that waits for a check.
func TestACancelledRequestEnds(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": rent})
	e := newEditor(t, folder)
	e.openSaved("main.hcl")
	params, err := json.Marshal(object{"textDocument": e.name("main.hcl")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancelled := make(chan error)
	go func() {
		_, err := e.client.Call(ctx, "textDocument/diagnostic", json.RawMessage(params))
		cancelled <- err
	}()
	cancel()
	if err := <-cancelled; err == nil {
		t.Log("the answer came first")
	}
	if found := e.diagnostics("main.hcl"); len(found) > 0 {
		t.Errorf("afterwards there are %v", found)
	}
}
