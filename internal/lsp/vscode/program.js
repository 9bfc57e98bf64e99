// Where the program is.
"use strict";

const fs = require("node:fs");
const path = require("node:path");

// programOf returns the absolute path of the program that the setting names. A name is looked for in the absolute directories of
// the PATH alone: Windows would also start a file of that name in the folder that is open, which others may have written.
function programOf(setting, env) {
  if (path.isAbsolute(setting)) return setting;
  if (setting !== path.basename(setting)) {
    throw new Error(`the setting remit.path is ${JSON.stringify(setting)}. Give an absolute path, or a name that the PATH has`);
  }
  const key = Object.keys(env).find((name) => name.toUpperCase() === "PATH");
  const endings = process.platform === "win32" && path.extname(setting) === "" ? [".exe"] : [""];
  for (const directory of ((key && env[key]) || "").split(path.delimiter).filter(path.isAbsolute)) {
    for (const ending of endings) {
      const file = path.join(directory, setting + ending);
      try {
        fs.accessSync(file, fs.constants.X_OK);
        if (fs.statSync(file).isFile()) return file;
      } catch {
        // The next directory may have it.
      }
    }
  }
  throw new Error(`the PATH has no ${setting}. Install remit, or set remit.path to the absolute path of the program`);
}

module.exports = { programOf };
