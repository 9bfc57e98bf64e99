// An editor as far as the extension needs one: what it registers is kept, and each other name of the interface is a class, a
// function and an object that does nothing.
"use strict";

const fs = require("node:fs/promises");
const path = require("node:path");
const { fileURLToPath, pathToFileURL } = require("node:url");

class Disposable {
  constructor(action) {
    this.action = action;
  }
  dispose() {
    if (this.action) this.action();
  }
}

class EventEmitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener, self) => {
      const bound = self ? listener.bind(self) : listener;
      this.listeners.add(bound);
      return new Disposable(() => this.listeners.delete(bound));
    };
  }
  fire(value) {
    for (const listener of [...this.listeners]) listener(value);
  }
  dispose() {
    this.listeners.clear();
  }
}

class CancellationTokenSource {
  constructor() {
    this.changed = new EventEmitter();
    this.token = { isCancellationRequested: false, onCancellationRequested: this.changed.event };
  }
  cancel() {
    this.token.isCancellationRequested = true;
    this.changed.fire();
  }
  dispose() {}
}

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(start, end, endLine, endCharacter) {
    this.start = endLine === undefined ? start : new Position(start, end);
    this.end = endLine === undefined ? end : new Position(endLine, endCharacter);
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class CompletionItem {
  constructor(label) {
    this.label = label;
  }
}

class CompletionList {
  constructor(items) {
    this.items = items;
  }
}

class Uri {
  constructor({ scheme, path: at }) {
    Object.assign(this, { scheme, path: at, authority: "", query: "", fragment: "" });
  }
  static file(name) {
    return new Uri({ scheme: "file", path: name });
  }
  static from(parts) {
    return new Uri(parts);
  }
  static parse(text) {
    return Uri.file(fileURLToPath(text));
  }
  static joinPath(uri, ...names) {
    return new Uri({ scheme: uri.scheme, path: path.posix.join(uri.path, ...names) });
  }
  get fsPath() {
    return this.path;
  }
  toString() {
    return this.scheme === "file" ? pathToFileURL(this.path).href : `${this.scheme}:${this.path}`;
  }
}

class TextDocument {
  constructor(name, text) {
    Object.assign(this, { uri: Uri.file(name), fileName: name, languageId: "hcl", version: 1, isDirty: false, isClosed: false, text });
  }
  getText() {
    return this.text;
  }
}

// anything stands for each name of the interface that has no meaning here.
const anything = (own) =>
  new Proxy(own, {
    get(target, name) {
      if (!(name in target) && typeof name === "string") target[name] = anything(class {});
      return target[name];
    },
    apply: () => new Disposable(),
  });

const event = () => new EventEmitter();
const editor = {
  settings: {},
  diagnostics: new Map(),
  completers: [],
  commands: new Map(),
  contents: new Map(),
  faults: [],
  warnings: [],
  previews: [],
  diagnosed: event(),
  opened: event(),
  changed: event(),
  configured: event(),
};

const workspace = {
  textDocuments: [],
  workspaceFolders: [],
  notebookDocuments: [],
  getConfiguration: () => ({ get: (name, otherwise) => (name in editor.settings ? editor.settings[name] : otherwise) }),
  onDidOpenTextDocument: editor.opened.event,
  onDidChangeTextDocument: editor.changed.event,
  onDidChangeConfiguration: editor.configured.event,
  getWorkspaceFolder: () => workspace.workspaceFolders[0],
  asRelativePath: (name) => String(name),
  fs: { stat: async (uri) => ({ type: (await fs.stat(uri.fsPath)).isDirectory() ? 2 : 1 }) },
  registerTextDocumentContentProvider: (scheme, provider) => {
    editor.contents.set(scheme, provider);
    return new Disposable();
  },
  createFileSystemWatcher: () => {
    const [made, changed, deleted] = [event(), event(), event()];
    return { onDidCreate: made.event, onDidChange: changed.event, onDidDelete: deleted.event, dispose() {} };
  },
};

const matches = (selector, document) =>
  selector.some(({ scheme, language, pattern }) => {
    const ending = path.extname(document.fileName).slice(1);
    const endings = pattern && (pattern.pattern || pattern).match(/\{(.*)\}/)[1].split(",");
    return (!scheme || scheme === document.uri.scheme) && (!language || language === document.languageId) && (!endings || endings.includes(ending));
  });

const languages = {
  match: (selector, document) => (matches([].concat(selector), document) ? 10 : 0),
  createDiagnosticCollection: () => ({
    set: (uri, found) => {
      editor.diagnostics.set(uri.toString(), found || []);
      editor.diagnosed.fire();
    },
    delete: (uri) => editor.diagnostics.delete(uri.toString()),
    clear() {},
    dispose() {},
  }),
  registerCompletionItemProvider: (selector, provider) => {
    editor.completers.push(provider);
    return new Disposable();
  },
};

const channel = { append() {}, appendLine() {}, show() {}, dispose() {}, error() {}, info() {} };
const window = {
  activeTextEditor: undefined,
  visibleTextEditors: [],
  createOutputChannel: () => channel,
  showErrorMessage: async (text) => void editor.faults.push(text),
  showWarningMessage: async (text) => void editor.warnings.push(text),
  withProgress: (options, action) => action(),
  tabGroups: { all: [], onDidChangeTabs: event().event, onDidChangeTabGroups: event().event },
};

const commands = {
  registerCommand: (name, action) => {
    editor.commands.set(name, action);
    return new Disposable(() => editor.commands.delete(name));
  },
  executeCommand: async (name, ...given) => void (name === "markdown.showPreview" && editor.previews.push(given[0])),
};

module.exports = {
  editor,
  TextDocument,
  api: anything({
    version: "1.82.0",
    Disposable, EventEmitter, CancellationTokenSource, Position, Range, Uri, Diagnostic, CompletionItem, CompletionList,
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
    FileType: { File: 1, Directory: 2 },
    env: { appName: "node", language: "en" },
    workspace: anything(workspace),
    languages: anything(languages),
    window: anything(window),
    commands: anything(commands),
  }),
};
