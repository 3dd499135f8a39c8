/** The measured parts of docs/explain/scale.md, made from one recorded run of the bench. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fleetTable } from "../fleet/table.ts";
import { homesTable } from "../homes/table.ts";
import { soakTable } from "../soak/table.ts";
import type { Scale } from "./measure.ts";
import { type Counts, USUAL_USE } from "./model.ts";
import { modelTables } from "./table.ts";

/** What the page shows of a run: the output of `npm run bench -- --json FILE` has all of it. */
export type Recorded = { scale: Scale; counts: Counts };

const RECORDED = fileURLToPath(new URL("./recorded.json", import.meta.url));
const PAGE = fileURLToPath(new URL("../../docs/explain/scale.md", import.meta.url));
/** Enough for a table, and small differences do not change the file. */
const DIGITS = 4;

export function readPage(): string {
  return readFileSync(PAGE, "utf8");
}

export function writePage(text: string): void {
  writeFileSync(PAGE, text);
}

export function readRecorded(file = RECORDED): Recorded {
  return JSON.parse(readFileSync(file, "utf8")) as Recorded;
}

/** Keeps a run for the page. */
export function record({ scale, counts }: Recorded): void {
  const short = (_: string, value: unknown) =>
    typeof value === "number" ? Number(value.toPrecision(DIGITS)) : value;
  writeFileSync(RECORDED, `${JSON.stringify({ scale, counts }, short, 2)}\n`);
}

/** Returns the page with its measured parts, which stand between two comments each, made anew. */
export function filledIn(page: string, { scale, counts }: Recorded): string {
  const parts = {
    fleets: block(fleetTable(scale.fleets)),
    soak: block(soakTable(scale.soak)),
    homes: block(homesTable(scale.homes)),
    model: modelTables(counts, USUAL_USE),
  };
  let text = page;
  for (const [name, part] of Object.entries(parts)) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`docs/explain/scale.md has no place for '${name}'`);
    text = `${text.slice(0, from)}${begin}\n\n${part}\n\n${text.slice(to)}`;
  }
  return text;
}

function block(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}
