/** docs/measured/scale.md, written from one recorded run of the bench. */
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
const PAGE = fileURLToPath(new URL("../../docs/measured/scale.md", import.meta.url));
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

/** Returns the whole page of a run. */
export function pageOf({ scale, counts }: Recorded): string {
  return `# Many agents, turns and homes, measured

Written by \`node bench/scale/main.ts\` from \`bench/scale/recorded.json\`. The figures are of 2026-11-23, on two shared cores beside much other work:
processor time and counts are firm, waiting times are several times too long. [How far it scales](../explain/scale.md) says what follows.

## One home, many agents

One process plays the agents, each with its own key and adverts, beside one real agent that runs the calls. Mosquitto, the bridge and the Worker are the
real ones.

${block(fleetTable(scale.fleets))}

- **advert KB**: what an agent publishes about itself: "real" has the 28 tools of a pi-agent, "slim" has 3. **pair ms**: pairing one over HTTP.
- **1st, 2nd**: a bridge connects to a home that knows no agent, and again with nothing changed: seconds of workerd's processor time, seconds until Home
  calls all agents online, and the longest answer of a probe that asks \`/v1/status\` every 50 ms.
- **storm**: all agents but one drop, and return 2.5 s later, while questions are asked: frames and rows for it, and the questions that ran and failed.
- **tools, system, tokens**: of the request to the model; tokens by the gateway's estimate, three characters each.
- **turn ms, over 10's, CPU ms, 64**: a turn with one call, over that with ten agents, its processor time, and 64 turns at once.
- **heap**: the isolate after a full collection. **RSS**: the process. **rows**: Home's database. **agents KB, ms; status ms**: one answer of
  \`/v1/agents\` and of \`/v1/status\`, at rest.

## Many turns

One stack with one agent, one turn after another, each with one call, five in a conversation:

${block(soakTable(scale.soak))}

**heap** is that of the isolate after a full collection. workerd itself grows with the number of conversations that were awake: its allocator keeps the
memory for the next. A bare Worker does the same: 3,000 objects that wrote one row each took it from 76 to 548 MB.

## Many homes

Each home has a bridge and an agent of its own, played over real sockets, and all homes share one workerd:

${block(homesTable(scale.homes))}

## A month, and the limits

The use is ten agents in a home, each going or coming twice a day, and 20 turns a day with one call each, five in a conversation. The model needs 4 s of
a turn, and conversations are kept for twelve months. The prices are those of the Workers Paid plan, with what it includes (\`bench/cost/prices.ts\`).

${modelTables(counts, USUAL_USE)}
`;
}

function block(text: string): string {
  return `\`\`\`text\n${text}\n\`\`\``;
}
