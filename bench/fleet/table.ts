/** The fleets as tables for people. */
import type { FleetResult, StepFigures } from "./measure.ts";

type Column = { head: string; of(fleet: FleetResult): string };

const LABEL = 16;
const CELL = 10;

const CONNECTING: Column[] = [
  { head: "advert KB", of: ({ advertBytes }) => kilo(advertBytes) },
  { head: "pair ms", of: ({ pairMs }) => number(pairMs) },
  ...stepColumns("1st", ({ first }) => first),
  ...stepColumns("2nd", ({ second }) => second),
];
const STORM: Column[] = [
  ...stepColumns("storm", ({ storm }) => storm),
  { head: "frames", of: ({ storm }) => count(storm?.frames) },
  { head: "read", of: ({ storm }) => count(storm?.rowsRead) },
  { head: "written", of: ({ storm }) => count(storm?.rowsWritten) },
  { head: "turns", of: ({ storm }) => count(storm?.turns) },
  { head: "failed", of: ({ storm }) => count(storm?.failedTurns) },
  { head: "slowest", of: ({ storm }) => seconds(storm?.slowestTurnMs) },
];
const atRest = (fleets: readonly FleetResult[]): Column[] => [
  { head: "tools KB", of: ({ request }) => kilo(request?.toolsBytes) },
  { head: "system KB", of: ({ request }) => kilo(request?.systemBytes) },
  { head: "tokens", of: ({ request }) => count(request?.tokens) },
  { head: "turn ms", of: ({ turnMs }) => number(turnMs) },
  { head: "over 10's", of: (fleet) => number(overTen(fleet, fleets)) },
  { head: "CPU ms", of: ({ turnCpuMs }) => number(turnCpuMs) },
  { head: "64, s", of: ({ atOnceMs }) => seconds(atOnceMs) },
  { head: "heap MB", of: ({ heapBytes }) => mega(heapBytes) },
  { head: "RSS MB", of: ({ rssBytes }) => mega(rssBytes) },
  { head: "rows MB", of: ({ homeBytes }) => mega(homeBytes) },
  { head: "agents KB", of: ({ list }) => kilo(list?.bytes) },
  { head: "ms", of: ({ list }) => number(list?.ms) },
  { head: "status ms", of: ({ status }) => number(status?.ms) },
];

export function fleetTable(fleets: readonly FleetResult[]): string {
  return [
    "seconds until a bridge has connected, first and with nothing changed; all agents drop and return",
    ...rows(CONNECTING, fleets),
    "",
    ...rows(STORM, fleets),
    "",
    ...rows(atRest(fleets), fleets),
    ...fleets.flatMap((fleet) =>
      fleet.problem === undefined ? [] : [`${labelOf(fleet)}: given up, ${fleet.problem}`],
    ),
  ].join("\n");
}

export const FLEET_NOTES = [
  "Fleets: one process plays all agents but one over a real Mosquitto, each with its key, paired over HTTP; 'real' has the",
  "28 tools of a pi-agent, 'slim' 3. CPU is workerd's, with a probe of /v1/status every 50 ms, whose longest answer is",
  "'deaf'. A step is over when Home calls all agents online; it begins at the gateway's welcome, a storm with the first",
  "last will; they return 2.5 s later. What the questions take that run beside a storm is not counted as the storm's.",
  "Tokens are of tools and system prompt, as the gateway estimates them: three characters each. The heap is that of the",
  "isolate (Worker and objects) after a full collection, by V8's inspector. The objects are wrapped in counters. All",
  "played agents have the same tools, as devices of one make have; what Home stores once for equal adverts is smaller for it.",
];

/** @returns the time of a turn over that with ten agents of the same kind; NaN without such a fleet */
function overTen({ advert, turnMs }: FleetResult, fleets: readonly FleetResult[]): number {
  const ten = fleets.find((fleet) => fleet.agents === 10 && fleet.advert === advert);
  return (turnMs ?? Number.NaN) / (ten?.turnMs ?? Number.NaN);
}

function stepColumns(name: string, of: (fleet: FleetResult) => StepFigures | undefined): Column[] {
  return [
    { head: `${name} CPU`, of: (fleet) => seconds(of(fleet)?.cpuMs) },
    { head: "took", of: (fleet) => seconds(of(fleet)?.ms) },
    { head: "deaf", of: (fleet) => seconds(of(fleet)?.deafMs) },
  ];
}

function rows(columns: readonly Column[], fleets: readonly FleetResult[]): string[] {
  return [
    "agents, advert".padEnd(LABEL) + columns.map(({ head }) => head.padStart(CELL)).join(""),
    ...fleets.map(
      (fleet) => labelOf(fleet).padEnd(LABEL) + columns.map(({ of }) => of(fleet).padStart(CELL)).join(""),
    ),
  ];
}

function labelOf({ agents, advert }: FleetResult): string {
  return `${agents} ${advert}`;
}

/** A figure that was not measured is NaN or missing, and null after it was stored as JSON. */
const shown = (value: number | null | undefined, show: (value: number) => string) =>
  value === undefined || value === null || Number.isNaN(value) ? "–" : show(value);
const seconds = (ms: number | undefined) => shown(ms, (value) => (value / 1_000).toFixed(2));
const number = (value: number | undefined) => shown(value, (value) => value.toFixed(1));
const count = (value: number | undefined) => shown(value, (value) => value.toFixed(0));
const kilo = (bytes: number | undefined) => shown(bytes, (value) => (value / 1_000).toFixed(1));
const mega = (bytes: number | undefined) => shown(bytes, (value) => (value / 1_000_000).toFixed(1));
