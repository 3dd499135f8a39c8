// A reporter of vitest's: writes what counts.mjs reads to the file that REPORT names. Vitest's own report in JSON has no errors of hooks.
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const DIFFERING_LINES = 8;

export default class Report {
  onTestRunEnd(modules, unhandledErrors) {
    let passed = 0;
    const failed = [];
    for (const module of modules) {
      const at = failed.length;
      const add = (state, name, errors) =>
        failed.push({ state, name: `${module.moduleId}${name && `: ${name}`}`, errors: errors.map(text) });
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        // "skipped" and "pending" too: nothing may be left out here, whatever the reason.
        if (state === "passed") passed += 1;
        else add(state, test.fullName, errors ?? []);
      }
      for (const suite of [module, ...module.children.allSuites()]) {
        const errors = suite.errors();
        if (errors.length > 0) add("failed", suite.fullName ?? "", errors);
      }
      if (!module.ok() && failed.length === at) add("failed", "", []);
    }
    for (const error of unhandledErrors)
      failed.push({ state: "outside of the tests", name: "", errors: [text(error)] });
    writeFileSync(process.env.REPORT, JSON.stringify({ passed, failed }));
  }
}

/** The message of a comparison has no values: the lines of its difference stand behind it. */
function text({ message, stack = message, diff = "" }) {
  const differing = stripVTControlCharacters(diff)
    .split("\n")
    .filter((line) => /^[+-] /.test(line));
  const [first, ...rest] = stack.split("\n");
  return [first, ...differing.slice(0, DIFFERING_LINES), ...rest].join("\n");
}
