// The plan of a directory, as Markdown.
"use strict";

const { execFile } = require("node:child_process");
const fs = require("node:fs/promises");
const os = require("node:os");
const path = require("node:path");

// markdownOfPlan plans what is saved in the directory, and returns what remit show --markdown says of the plan. Where there
// is no plan it returns what remit said. The plan is kept in a directory that only this user may read, and removed.
async function markdownOfPlan({ program, env, directory, sandbox }) {
  const own = await fs.mkdtemp(path.join(os.tmpdir(), "remit-plan-"));
  try {
    const plan = path.join(own, "plan");
    const flags = [`--chdir=${directory}`, ...(sandbox ? ["--sandbox"] : [])];
    const run = (...args) => runProgram(program, args, { cwd: own, env: { ...env, NO_COLOR: "1", CI: "1" } });
    const planned = await run("plan", ...flags, `--out=${plan}`);
    // A plan that is not applicable is saved too, with another exit code, and says so itself.
    const isSaved = await fs.access(plan).then(() => true, () => false);
    if (!isSaved) return refusal(directory, planned);
    const shown = await run("show", ...flags, "--markdown", plan);
    return shown.code === 0 ? shown.stdout : refusal(directory, shown);
  } finally {
    await fs.rm(own, { recursive: true, force: true });
  }
}

// refusal is a page that has what remit said as code, where nothing is read as Markdown.
function refusal(directory, { code, stdout, stderr }) {
  const text = `${directory}\n\n${stdout}${stderr}`.trimEnd();
  const longest = Math.max(2, ...(text.match(/`+/g) || []).map((ticks) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `# No plan\n\nremit ended with exit code ${code}. It said:\n\n${fence}text\n${text}\n${fence}\n`;
}

function runProgram(program, args, options) {
  return new Promise((resolve, reject) => {
    execFile(program, args, { ...options, maxBuffer: 64 << 20, windowsHide: true }, (fault, stdout, stderr) => {
      if (fault && typeof fault.code !== "number") reject(new Error(`${program} did not run to its end: ${fault.message}`));
      else resolve({ code: fault ? fault.code : 0, stdout, stderr });
    }).stdin.end();
  });
}

module.exports = { markdownOfPlan };
