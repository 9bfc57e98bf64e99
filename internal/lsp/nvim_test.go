package lsp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/cli"
	"remit/internal/proof/suite"
)

// asProgram in the environment has the binary of the tests be remit.
const asProgram = "REMIT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
	}
	suite.SideBySide(8) // they mostly wait for an editor that has stopped typing
	os.Exit(m.Run())
}

// nvimScript is what a person does, in the words of Neovim: it opens the file, and writes what each key shows.
const nvimScript = `
local said = io.open("said", "w")
local function say(...) said:write(table.concat({...}, " "), "\n") end
local ok, fault = pcall(function()
  vim.cmd("edit main.hcl")
  local id = vim.lsp.start_client({ name = "remit", cmd = { vim.env.REMIT, "lsp" }, root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(0, id)
  local function attached() return vim.lsp.buf_get_clients(0)[id] ~= nil end
  vim.wait(300000, attached, 20)
  local function ask(method, params)
    local answers = vim.lsp.buf_request_sync(0, method, params, 300000)
    return answers[id].result
  end
  local function go(pattern) vim.fn.cursor(1, 1) vim.fn.search(pattern) end

  -- A mistake is shown as one types, and goes when it is mended.
  vim.fn.setline(4, '  amount = "8200,00"')
  vim.wait(300000, function() return #vim.diagnostic.get(0) == 1 end, 20)
  local shown = vim.diagnostic.get(0)[1]
  say("mistake", shown.lnum + 1, shown.col + 1, vim.split(shown.message, "\n")[1])
  vim.fn.setline(4, '  amount = "8200.00"')
  vim.wait(300000, function() return #vim.diagnostic.get(0) == 0 end, 20)
  say("mistakes", #vim.diagnostic.get(0))

  -- Completion, by the key for it.
  vim.fn.append(5, "  display_n")
  vim.fn.cursor(6, 12)
  vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc"
  local items = ask("textDocument/completion", vim.lsp.util.make_position_params())
  for _, item in ipairs(vim.lsp.util.text_document_completion_list_to_complete_items(items, "display_n")) do
    say("complete", item.word)
  end
  vim.fn.deletebufline("%", 6)

  go("amount")
  local hover = ask("textDocument/hover", vim.lsp.util.make_position_params())
  say("hover", vim.split(hover.contents.value, "\n")[1])

  -- The rename writes the ref_id, and formatting lays it out.
  go('"rent"')
  vim.fn.cursor(vim.fn.line("."), vim.fn.col(".") + 2)
  local params = vim.lsp.util.make_position_params()
  params.newName = "office"
  vim.lsp.util.apply_workspace_edit(ask("textDocument/rename", params), "utf-16")
  vim.lsp.util.apply_text_edits(ask("textDocument/formatting", vim.lsp.util.make_formatting_params({})), vim.api.nvim_get_current_buf(), "utf-16")
  vim.cmd("write")
  vim.lsp.stop_client(id)
  vim.wait(300000, function() return vim.lsp.get_client_by_id(id) == nil end, 20)
end)
if not ok then say("fault", fault) end
said:close()
vim.cmd("qall!")
`

// TestNeovimIsServed drives the server by an editor that others made: it shows a mistake, completes, explains, renames and lays out.
func TestNeovimIsServed(t *testing.T) {
	t.Parallel()
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("nvim is not installed here (Debian: apt-get install neovim)")
	}
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": rent, "drive.lua": nvimScript})
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, nvim, "--headless", "--clean", "-n", "-S", "drive.lua")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), asProgram+"=1", "REMIT="+os.Args[0], "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	said, err := os.ReadFile(filepath.Join(folder, "said"))
	if err != nil {
		t.Fatal(err)
	}
	want := "mistake 4 12 Invalid amount\nmistakes 0\ncomplete display_name = \nhover `amount`: quoted decimal, required\n"
	if diff := cmp.Diff(want, string(said)); diff != "" {
		t.Error(diff)
	}
	text, err := os.ReadFile(filepath.Join(folder, "main.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	wantText := `transfer "internal" "office" {
  ref_id          = "rent"
  from_profile_id = "treasury"
  to_profile_id   = "desk"
  amount          = "8200.00"
  asset           = "USD"
}
`
	if diff := cmp.Diff(wantText, string(text)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"rent"}, refIDsOf(t, folder)); diff != "" {
		t.Error(strings.TrimSpace(diff))
	}
}
