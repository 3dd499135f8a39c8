// A reporter of vitest's: writes what counts.mjs reads to the file that REPORT names. Vitest's own report in JSON has no errors of hooks.
import { writeFileSync } from "node:fs";

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

function text(error) {
  return error.stack ?? error.message;
}
