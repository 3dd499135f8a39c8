/**
 * The default line by which an agent describes itself when its settings have none. It is made from the agent's tools and
 * changes with them. All of its words come from edgecall, so the gateway does not treat any form of it as the agent's text.
 */

/** The seed's phrases, each with the tools that it stands for. */
const WORDS: ReadonlyArray<[words: string, tools: readonly string[]]> = [
  ["temperature", ["temperature"]],
  ["CPU/memory/disk stats", ["cpu", "memory", "disk"]],
  ["process monitoring", ["list_processes"]],
  ["camera snapshot", ["snapshot"]],
  ["GPIO pins", ["gpio_read"]],
  ["services and their logs", ["services"]],
  ["files", ["read"]],
  ["shell", ["bash"]],
];

/** The phrases of version 0.2, which depended only on an agent's kind. */
const FORMER_WORDS = [
  "market data",
  "order execution",
  "position management",
  "on-chain voting",
  "proposal management",
];
const KNOWN_WORDS = new Set([...WORDS.map(([words]) => words), ...FORMER_WORDS]);

const KINDS: Readonly<Record<string, string>> = {
  monitor: "sensor node",
  sensor: "sensor node",
  trader: "trading agent",
  governance: "governance agent",
  desktop: "desktop agent",
};
const OTHER_KIND = "edge agent";

/** @param offered names of the tools that this agent offers now */
export function defaultLine(
  { agentType, agentId }: { agentType: string; agentId: string },
  offered: readonly string[],
): string {
  const can = WORDS.flatMap(([words, tools]) =>
    tools.every((name) => offered.includes(name)) ? [words] : [],
  );
  const kind = Object.hasOwn(KINDS, agentType) ? KINDS[agentType] : OTHER_KIND;
  return `${agentId} ${kind}${can.length > 0 ? ` — ${can.join(", ")}` : ""}`;
}

/** Tells whether edgecall could have made this line for this agent, now or in version 0.2. */
export function isDefaultLine(line: string, agentId: string): boolean {
  return [...Object.values(KINDS), OTHER_KIND].some((kind) => {
    const start = `${agentId} ${kind}`;
    if (line === start) return true;
    const promised = line.startsWith(`${start} — `) ? line.slice(start.length + 3).split(", ") : [];
    return promised.length > 0 && promised.every((words) => KNOWN_WORDS.has(words));
  });
}
