// Reads the reports of reporter.mjs: for each test that did not run or failed a line and its first error, then "<passed> <failed>".
import { readFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const ERROR_LINES = 16;
const ERROR_LINE_CHARS = 300;

/** The errors stand far above, among thousands of lines, and a log is often kept in part. */
function printErrors(errors) {
  const lines = stripVTControlCharacters(errors.join("\n")).split("\n");
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
  passed += report.passed;
  failed += report.failed.length;
  for (const { state, name, errors } of report.failed) {
    console.log(`${state}: ${name}`);
    if (errors.length > 0) printErrors(errors);
  }
  if (report.passed === 0 && report.failed.length === 0) {
    failed += 1;
    console.log("no test was run");
  }
}
console.log(`${passed} ${failed}`);
process.exit(failed === 0 ? 0 : 1);
