/**
 * `npm run hostile [-- --requests N --seed S --only PART --json FILE]`: sends hostile requests to the Worker. Exits
 * with 1 when it did something that docs/security.md rules out.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { judge } from "./judge.ts";
import { type Result, runHostile } from "./run.ts";

const { values: options } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string" },
    json: { type: "string" },
  },
});
const [requests, seed] = [Number(options.requests), Number(options.seed)];
if (!Number.isInteger(requests) || requests < 1 || !Number.isInteger(seed)) {
  console.error("--requests and --seed: expected whole numbers");
  process.exit(2);
}
/** A shorter run says nothing about memory: V8's heap grows during the first tens of thousands of requests. */
const LONG = 50_000;

console.error(`${requests} requests, seed ${seed}`);
const result = await runHostile({
  requests,
  seed,
  only: options.only,
  onProgress: (sent) => sent % 5_000 === 0 && console.error(`${sent} sent`),
});
console.log(table(result));
if (options.json) writeFileSync(options.json, `${JSON.stringify({ requests, seed, ...result }, null, 2)}\n`);
const wrong = judge(result, requests >= LONG);
for (const line of wrong) console.log(`FAIL ${line}`);
console.log(wrong.length === 0 ? "nothing that is ruled out" : `${wrong.length} wrong`);
process.exit(wrong.length === 0 ? 0 : 1);

function table({ kinds, rss, rows, ms, modelRequests }: Result): string {
  const columns = ["2xx", "3xx", "4xx", "5xx", "closed", "dropped"];
  const lines = Object.entries(kinds)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([kind, { sent, byClass }]) => [kind, sent, ...columns.map((name) => byClass[name] ?? 0)]);
  const sums = columns.map((_, at) => lines.reduce((sum, line) => sum + Number(line[at + 2]), 0));
  const all = [
    ["kind", "sent", ...columns],
    ...lines,
    ["all", lines.reduce((sum, line) => sum + Number(line[1]), 0), ...sums],
  ];
  const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
  return [
    ...all.map((line) =>
      line.map((cell, at) => (at === 0 ? String(cell).padEnd(17) : String(cell).padStart(8))).join(" "),
    ),
    `memory of workerd: ${mib(rss.half)} at half time, ${mib(rss.end)} at the end (${((rss.end / rss.half - 1) * 100).toFixed(1)} %)`,
    `entries of turns: ${rows.before["Conversation.entry"] ?? 0} before, ${rows.after["Conversation.entry"] ?? 0} after; the model was asked ${modelRequests} times; ${Math.round(ms / 1_000)} s`,
  ].join("\n");
}
