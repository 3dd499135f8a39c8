// Reads vitest's JSON reports: for each test that did not run or failed a line and its first error, then "<passed> <failed>".
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const ERROR_LINES = 12;
const ERROR_LINE_CHARS = 300;

/** The errors stand far above, among thousands of lines, and a log is often kept in part. */
function printErrors(messages) {
  const lines = stripVTControlCharacters((messages ?? []).join("\n")).split("\n");
  for (const line of lines.slice(0, ERROR_LINES)) console.log(`    ${line.slice(0, ERROR_LINE_CHARS)}`);
}

let passed = 0;
let failed = 0;
for (const name of process.argv.slice(2)) {
  let report;
  try {
    report = JSON.parse(readFileSync(name, "utf8"));
  } catch (error) {
    failed += 1;
    console.log(`vitest left no report: ${error instanceof Error ? error.message : error}`);
    continue;
  }
  const failedBefore = failed;
  const passedBefore = passed;
  for (const file of report.testResults ?? []) {
    const tests = file.assertionResults ?? [];
    if (file.status === "failed" && !tests.some((test) => test.status === "failed")) {
      failed += 1;
      console.log(`failed: ${file.name}: ${file.message || "could not be run"}`);
    }
    for (const test of tests) {
      if (test.status === "passed") passed += 1;
      else {
        failed += 1;
        // "skipped", "pending", "todo": nothing may be left out here, whatever the reason.
        console.log(`${test.status}: ${file.name}: ${test.fullName}`);
        printErrors(test.failureMessages);
      }
    }
  }
  if (failed > failedBefore) continue;
  // Errors outside of any test (an unhandled rejection) fail the run but no test.
  if (report.success === false) {
    failed += 1;
    console.log("vitest reports a failure outside of the tests");
  } else if (passed === passedBefore) {
    failed += 1;
    console.log("no test was run");
  }
}
console.log(`${passed} ${failed}`);
process.exit(failed === 0 ? 0 : 1);
