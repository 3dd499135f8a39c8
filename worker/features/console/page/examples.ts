/** Three questions that can be answered in this home. All but that about a foreign device need no model. Pure. */
import type { AgentView } from "@edgecall/client/routes.ts";

const EXAMPLES = 3;
/** By an action of the device; the first ones that fit are shown. */
const ASKS: ReadonlyArray<[action: string, ask: (id: string) => string]> = [
  ["temperature", (id) => `How warm is ${id}?`],
  ["disk", (id) => `How full is the disk of ${id}?`],
  ["memory", (id) => `How much memory is free on ${id}?`],
  ["camera", (id) => `Take a picture with ${id}.`],
  ["system_info", (id) => `What is the uptime of ${id}?`],
];
/** Of the home. */
const ASKS_ALWAYS = ["What can you do?", "Which of my devices are online?"];

/** Returns them spread over as many devices as possible. */
export function examplesFor(
  agents: ReadonlyArray<Pick<AgentView, "id" | "actions" | "foreign">>,
  hasModel: boolean,
): string[] {
  const each = agents.map(({ id, actions, foreign }) => [
    ...ASKS.filter(([action]) => actions.includes(action)).map(([, ask]) => ask(id)),
    ...(foreign && hasModel ? [`What can ${id} do?`] : []),
  ]);
  const found: string[] = [];
  for (let round = 0; found.length < EXAMPLES && each.some((texts) => texts.length > round); round += 1)
    // A different question for each device.
    for (const [at, texts] of each.entries()) {
      const text = texts[(at + round) % Math.max(texts.length, 1)];
      if (text !== undefined && found.length < EXAMPLES && !found.includes(text)) found.push(text);
    }
  return agents.length > 0 ? [...found, ...ASKS_ALWAYS].slice(0, EXAMPLES) : found;
}
