/**
 * `npm run hostile`: sends hostile requests to the Worker. Exits with 1 when it did something that docs/explain/security.md rules
 * out.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { judge } from "./judge.ts";
import { type Result, runHostile } from "./run.ts";

const USAGE = `usage: npm run hostile -- [options]

  --requests N   so many requests (100000)
  --seed N       the same requests once more (a new seed each time, printed)
  --only KIND    requests of one kind; test/hostile/kinds/all.ts has the names
  --json FILE    the figures as JSON too
  --help         show this
`;
/** The exit code for wrong usage, as shells have it. */
const EXIT_USAGE = 2;

function optionsOrExit() {
  try {
    const { values } = parseArgs({
      options: {
        requests: { type: "string", default: "100000" },
        seed: { type: "string", default: String(Date.now() % 1_000_000) },
        only: { type: "string" },
        json: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    const [requests, seed] = [Number(values.requests), Number(values.seed)];
    if (Number.isInteger(requests) && requests >= 1 && Number.isInteger(seed))
      return { ...values, requests, seed };
    throw new Error("--requests and --seed: expected whole numbers, the requests from 1");
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}

const options = optionsOrExit();
const { requests, seed } = options;

console.error(`${requests} requests, seed ${seed}`);
const result = await runHostile({
  requests,
  seed,
  only: options.only,
  onProgress: (sent) => sent % 5_000 === 0 && console.error(`${sent} sent`),
});
console.log(table(result));
if (options.json) writeFileSync(options.json, `${JSON.stringify({ requests, seed, ...result }, null, 2)}\n`);
const wrong = judge(result, requests);
for (const line of wrong) console.log(`FAIL ${line}`);
console.log(wrong.length === 0 ? "nothing that is ruled out" : `${wrong.length} wrong`);
process.exit(wrong.length === 0 ? 0 : 1);

function table({ kinds, memory, rows, ms, modelRequests }: Result): string {
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
    ...(["heap", "rss"] as const).map((what) => {
      const [half, end] = [memory.half[what], memory.end[what]];
      const grown = `${((end / half - 1) * 100).toFixed(1)} %`;
      return `${what === "heap" ? "heap of the Worker, collected" : "memory of workerd"}: ${mib(half)} at half time, ${mib(end)} at the end (${grown})`;
    }),
    `entries of turns: ${rows.before["Conversation.entry"] ?? 0} before, ${rows.after["Conversation.entry"] ?? 0} after; the model was asked ${modelRequests} times; ${Math.round(ms / 1_000)} s`,
  ].join("\n");
}
