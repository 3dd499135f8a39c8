/** The one line that a model reads of this agent, when agent.toml has none: made of what is really there. */

/** The seed's words, each with the tools behind it. */
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

const KINDS: Readonly<Record<string, string>> = {
  monitor: "sensor node",
  sensor: "sensor node",
  trader: "trading agent",
  governance: "governance agent",
  desktop: "desktop agent",
};

/** @param offered the names of the tools that this agent offers now */
export function defaultCapabilities(
  { agentType, agentId }: { agentType: string; agentId: string },
  offered: readonly string[],
): string {
  const can = WORDS.flatMap(([words, tools]) =>
    tools.every((name) => offered.includes(name)) ? [words] : [],
  );
  const kind = Object.hasOwn(KINDS, agentType) ? KINDS[agentType] : "edge agent";
  return `${agentId} ${kind}${can.length > 0 ? ` — ${can.join(", ")}` : ""}`;
}
