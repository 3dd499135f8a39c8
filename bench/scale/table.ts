/** The model's results as Markdown, for docs/measured/scale.md and the bench's output. */
import { type Counts, limitsReached, type Month, monthOf, storedBytes, type Use } from "./model.ts";

const HOMES = [1, 1_000, 1_000_000];

export function modelTables(counts: Counts, use: Use): string {
  return [monthTable(counts, use), storageLine(counts, use), limitTable(counts)].join("\n\n");
}

/** What so many homes need and cost a month. */
function monthTable(counts: Counts, use: Use): string {
  const months = HOMES.map((homes) => monthOf(counts, use, homes));
  const row = (name: string, of: (month: Month) => string) => [name, ...months.map(of)];
  return markdown([
    row("a month of … homes", ({ homes }) => short(homes)),
    row("turns", ({ turns }) => short(turns)),
    row("requests to the Worker", ({ amounts }) => short(amounts.workerRequests)),
    row("requests to objects", ({ amounts }) => short(amounts.objectRequests)),
    row("rows read", ({ amounts }) => short(amounts.rowsRead)),
    row("rows written", ({ amounts }) => short(amounts.rowsWritten)),
    row("GB-s", ({ amounts }) => short(amounts.gbSeconds)),
    row("GB stored", ({ amounts }) => short(amounts.storedGb)),
    row("USD: requests", ({ usd }) => money(usd.workerRequests + usd.objectRequests)),
    row("USD: rows", ({ usd }) => money(usd.rowsRead + usd.rowsWritten)),
    row("USD: GB-s", ({ usd }) => money(usd.gbSeconds)),
    row("USD: storage", ({ usd }) => money(usd.storedGb)),
    row("USD in all, with the plan's 5", ({ totalUsd }) => money(totalUsd)),
    row("USD a home", ({ totalUsd, homes }) => (totalUsd / homes).toFixed(4)),
  ]);
}

/** Where one home, or one conversation, meets a limit of the platform. */
function limitTable(counts: Counts): string {
  return markdown([
    ["limit", "reached at", "counted"],
    ...limitsReached(counts).map(({ limit, at, unit, how }) => [limit, `${short(at)} ${unit}`, how]),
  ]);
}

/** How much of the storage is what, in words. */
function storageLine(counts: Counts, use: Use): string {
  return `A home stores ${(storedBytes(counts, use) / 1_000_000).toFixed(0)} MB after ${use.monthsKept} months.`;
}

function markdown(rows: readonly string[][]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length), 3));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n");
}

/** Three digits: `1,234` becomes `1,230`, `4_560_000` becomes `4.56 million`. */
function short(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toPrecision(3)} billion`;
  if (value >= 1e6) return `${(value / 1e6).toPrecision(3)} million`;
  if (value >= 1_000) return Number(value.toPrecision(3)).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}

function money(usd: number): string {
  return usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
