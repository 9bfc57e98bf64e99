// The extension of VS Code: a client of remit lsp, and the plan of a directory as Markdown.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { programOf } = require("./program");
const { markdownOfPlan } = require("./plan");

const SCHEME = "remit-plan";
let client;

// settings are those of the editor, with the environment of the processes that they start.
function settings() {
  const given = vscode.workspace.getConfiguration("remit");
  const environment = given.get("environment") || "";
  return {
    program: programOf(given.get("path") || "remit", process.env),
    sandbox: given.get("sandbox") === true,
    env: environment ? { ...process.env, REMIT_ENVIRONMENT: environment } : { ...process.env },
  };
}

async function startClient() {
  const { program, env } = settings();
  client = new LanguageClient(
    "remit",
    "remit",
    { command: program, args: ["lsp"], options: { env } },
    { documentSelector: [{ scheme: "file", pattern: "**/*.{hcl,hclvars,csv,json}" }] },
  );
  await client.start();
}

async function stopClient() {
  const running = client;
  client = undefined;
  if (running && running.isRunning()) await running.stop(10_000); // a busy machine takes more than the two seconds that the client allows
}

// telling shows why something could not be done: the editor goes on without it.
async function telling(action) {
  try {
    return await action();
  } catch (fault) {
    vscode.window.showErrorMessage(`remit: ${fault.message}`);
    return undefined;
  }
}

// directoryOf is the directory that a person means: of the file or directory that was clicked, or else of the file that is open.
async function directoryOf(uri) {
  const chosen = uri || (vscode.window.activeTextEditor && vscode.window.activeTextEditor.document.uri);
  if (!chosen || chosen.scheme !== "file") throw new Error("open a file of the directory to plan, and give the command again");
  const { type } = await vscode.workspace.fs.stat(chosen);
  return type & vscode.FileType.Directory ? chosen : vscode.Uri.joinPath(chosen, "..");
}

// warnOfUnsaved says what the plan does not have: remit plans what is saved.
function warnOfUnsaved() {
  const unsaved = vscode.workspace.textDocuments.filter((document) => document.isDirty && document.uri.scheme === "file");
  if (unsaved.length > 0) {
    vscode.window.showWarningMessage(`remit plans what is saved. Files with changes that are not saved: ${unsaved.length}.`);
  }
}

// Plans are the pages that were made, by the address of their preview.
class Plans {
  constructor() {
    this.pages = new Map();
    this.changed = new vscode.EventEmitter();
    this.onDidChange = this.changed.event;
  }

  provideTextDocumentContent(uri) {
    return this.pages.get(uri.toString()) || "";
  }

  async show(uri) {
    const directory = await directoryOf(uri);
    warnOfUnsaved();
    const made = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `remit plans ${directory.fsPath}` },
      () => markdownOfPlan({ ...settings(), directory: directory.fsPath }),
    );
    const page = vscode.Uri.from({ scheme: SCHEME, path: `${directory.path}/plan.md` });
    this.pages.set(page.toString(), made);
    this.changed.fire(page);
    await vscode.commands.executeCommand("markdown.showPreview", page);
    return made;
  }
}

async function activate(context) {
  const plans = new Plans();
  context.subscriptions.push(
    plans.changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, plans),
    vscode.commands.registerCommand("remit.plan", (uri) => telling(() => plans.show(uri))),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("remit.path") || change.affectsConfiguration("remit.environment")) {
        telling(async () => {
          await stopClient();
          await startClient();
        });
      }
    }),
  );
  await telling(startClient);
}

module.exports = { activate, deactivate: stopClient };
