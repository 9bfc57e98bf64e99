// Runs the packed extension against remit, which REMIT names, in an editor that is only as much as it needs (vscode.js):
//
//   REMIT=/path/of/remit node drive.js DIRECTORY
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const Module = require("node:module");
const os = require("node:os");
const path = require("node:path");
const { api, editor, TextDocument } = require("./vscode");

const load = Module._load;
Module._load = (name, ...others) => (name === "vscode" ? api : load(name, ...others));
const extension = require(path.resolve(process.argv[2], "extension.js"));

const rent = `transfer "internal" "rent" {
  from_profile_id = "treasury"
  to_profile_id   = "desk"
  amount          = "8200,00"
  asset           = "USD"
  display_n
}
`;
const mended = rent.replace("8200,00", "8200.00").replace("  display_n\n", "");

// diagnosed waits for diagnostics of the file that are as they should be; the time limit is the one of the process.
async function diagnosed(uri, isRight) {
  while (!isRight(editor.diagnostics.get(uri.toString()))) {
    await new Promise((resolve) => {
      const listener = editor.diagnosed.event(() => {
        listener.dispose();
        resolve();
      });
    });
  }
  return editor.diagnostics.get(uri.toString());
}

function edit(document, text) {
  const lines = document.text.split("\n");
  const range = new api.Range(0, 0, lines.length - 1, lines.at(-1).length);
  const change = { range, rangeOffset: 0, rangeLength: document.text.length, text };
  Object.assign(document, { text, version: document.version + 1, isDirty: true });
  editor.changed.fire({ document, contentChanges: [change], reason: undefined });
}

async function plan(uri) {
  await editor.commands.get("remit.plan")(uri);
  const page = editor.previews.pop();
  return page && editor.contents.get(page.scheme).provideTextDocumentContent(page);
}

async function drive(folder) {
  const file = path.join(folder, "main.hcl");
  fs.writeFileSync(file, rent);
  const document = new TextDocument(file, rent);
  api.workspace.workspaceFolders.push({ uri: api.Uri.file(folder), name: "book", index: 0 });
  api.workspace.textDocuments.push(document);
  editor.settings = { path: process.env.REMIT, sandbox: true };

  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.deepEqual(editor.faults, []);

  const broken = await diagnosed(document.uri, (found) => found?.length > 0);
  console.log(`mistake: ${broken[0].message.split("\n")[0]}`);

  const place = new api.Position(5, "  display_n".length);
  const token = new api.CancellationTokenSource().token;
  const answers = await Promise.all(editor.completers.map((each) => each.provideCompletionItems(document, place, token, { triggerKind: 0 })));
  const offered = answers.flatMap((answer) => answer?.items ?? answer ?? []).map(({ label }) => label.label ?? label);
  assert.ok(offered.includes("display_name"), `offered: ${offered}`);
  console.log("completed: display_name");

  edit(document, rent.replace("  display_n\n", ""));
  const mistakes = await diagnosed(document.uri, (found) => found?.length === 1 && /^Invalid amount/.test(found[0].message));
  assert.equal(mistakes[0].range.start.line, 3);
  assert.equal(mistakes[0].range.start.character, rent.split("\n")[3].indexOf('"'));

  const refused = await plan(document.uri);
  assert.match(refused, /^# No plan\n/);
  assert.match(editor.warnings.join(), /changes that are not saved: 1\./);

  edit(document, mended);
  await diagnosed(document.uri, (found) => found?.length === 0);
  fs.writeFileSync(file, mended);
  document.isDirty = false;
  const shown = await plan(api.Uri.file(folder));
  assert.match(shown, /^### Plan: 1 to submit/);
  assert.match(shown, /SANDBOX: no money moves/);
  assert.deepEqual(fs.readdirSync(process.env.TMPDIR), [], "the plan's own directory is left");
  console.log(`planned: ${shown.split("\n")[0]}`);

  await extension.deactivate();
  for (const each of context.subscriptions) each.dispose();

  // A program of a folder is not started, and a missing one is told.
  for (const [name, told] of [["./remit", /absolute path/], ["no-such-remit", /the PATH has no no-such-remit/]]) {
    editor.settings = { path: name };
    await extension.activate({ subscriptions: [] });
    assert.match(editor.faults.pop(), told);
  }
  console.log("ended");
}

setTimeout(() => {
  console.error("the server did not answer within a quarter of an hour; faults:", editor.faults, "diagnostics:", [...editor.diagnostics]);
  process.exit(1);
}, 900_000).unref();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "remit-vscode-"));
process.env.TMPDIR = fs.mkdtempSync(path.join(os.tmpdir(), "remit-vscode-own-"));
drive(folder)
  .catch((fault) => {
    console.error(fault);
    process.exitCode = 1;
  })
  .finally(() => {
    for (const made of [folder, process.env.TMPDIR]) fs.rmSync(made, { recursive: true, force: true });
    process.exit(); // also where the server was not ended
  });
