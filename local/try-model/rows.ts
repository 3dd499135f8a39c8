/** Results of `try-model` as rows: a row stands for one run. The page of all rows is made of them, by the command that adds one. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson, type Parsed, z } from "@edgecall/core/protocol/parse.ts";

const line = z
  .string()
  .check(z.minLength(1), z.maxLength(120), z.regex(/^[^\p{C}|]+$/u, "expected one line without '|'"));
const result = z.strictObject({ what: line, result: z.string().check(z.maxLength(300)) });

const ResultRow = z.strictObject({
  /** Of the run, `2026-11-28`. */
  day: z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/, "expected a day such as 2026-11-28")),
  /** Of edgecall. */
  version: line,
  model: line,
  /** The server at home (`Ollama`), or the host of a hosted endpoint. `scripted`: the tests' own endpoint, which is no model. */
  endpoint: line,
  /** Tokens; null: it does not tell. */
  window: z.nullable(z.int().check(z.minimum(1))),
  good: z.boolean(),
  /** The habits that edgecall cannot make up for, in the verdict's words. */
  bad: z.array(z.string().check(z.maxLength(500))).check(z.maxLength(30)),
  flows: z.array(result).check(z.minLength(1), z.maxLength(30)),
  tokens: z.int().check(z.minimum(0)),
  /** Of all flows. */
  seconds: z.number().check(z.minimum(0)),
});
export type ResultRow = z.infer<typeof ResultRow>;

/** The tests' own endpoint goes by this name. */
export const SCRIPTED = "scripted";

export function readRow(text: string): Parsed<ResultRow> {
  return checkJson(ResultRow, text);
}

/** @param folder `docs/measured` @throws when a row that stands there is none */
export function rowsIn(folder: string): ResultRow[] {
  const file = join(folder, "models.jsonl");
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return lines.map((text, at) => {
    const row = readRow(text);
    if (!row.ok) throw new Error(`${file}:${at + 1}: ${row.error}`);
    return row.value;
  });
}

/** Adds a row, and makes the page of all. A later run of the same model there replaces the earlier one. */
export function addRow(folder: string, row: ResultRow): void {
  const isOther = ({ model, endpoint }: ResultRow) => model !== row.model || endpoint !== row.endpoint;
  const rows = [...rowsIn(folder).filter(isOther), row];
  writeFileSync(join(folder, "models.jsonl"), rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  writeFileSync(join(folder, "models.md"), pageOf(rows));
}

/** The page `docs/measured/models.md`. */
export function pageOf(rows: readonly ResultRow[]): string {
  const cells = [
    ["model", "at", "good enough", "flows", "window", "tokens", "time", "day, version"],
    ...rows.map((row) => [
      row.model,
      row.endpoint === SCRIPTED ? "the tests' scripted endpoint: no model" : row.endpoint,
      row.good ? "yes" : "no",
      `${row.flows.filter((flow) => flow.result === "ok").length} of ${row.flows.length}`,
      row.window === null ? "–" : row.window.toLocaleString("en"),
      row.tokens.toLocaleString("en"),
      `${row.seconds} s`,
      `${row.day}, ${row.version}`,
    ]),
  ];
  return `# Models that were tried

Each row is one run of \`npm run try-model\`: a handful of requests, and six conversations on the one-machine stack. A run says little of a model's wit. It says whether it
calls tools, and tells what is so.

${tableOf(cells)}${rows.map(notesOf).join("")}
## Send yours

Run \`npm run try-model\` with your model ([own-model.md](../guides/own-model.md)). Its last line is the row. Paste it into an issue of the form
["A model that was tried"](../../.github/ISSUE_TEMPLATE/model.yml). It holds the model's name, the server's, and the results, with the first words of an answer
that was wrong. It holds no address and no key.

This page is written by \`npm run try-model -- --row\` (after its own run) and \`npm run try-model -- --add FILE\` (for a row that was sent in), never by hand.
`;
}

function notesOf({ model, bad }: ResultRow): string {
  if (bad.length === 0) return "";
  return `\n**${model}**:\n\n${bad.map((one) => `- ${one.replaceAll(/\s+/g, " ")}\n`).join("")}`;
}

function tableOf(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(3, ...rows.map((row) => (row[at] ?? "").length)));
  const lineOf = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |\n`;
  const [head = [], ...body] = rows;
  return lineOf(head) + lineOf(widths.map((width) => "-".repeat(width))) + body.map(lineOf).join("");
}
