/** The steps of a scripted model that use a device, in two ways. */
import { type Step, script } from "../scripted-model.ts";

/** The gateway's model calls an action of the device by name. */
export function action(agent_id: string, name: string, params: Record<string, unknown> = {}): Step {
  return { calls: [{ arguments: { agent_id, action: name, params } }] };
}

/** The gateway's model asks the device in words, and the device's own model plays these steps. */
export function ownLoop(agent_id: string, ...steps: Step[]): Step {
  return { calls: [{ arguments: { agent_id, query: script(...steps) } }] };
}

/** A model calls one of its own tools; the device's model calls one of the device's. */
export function tool(name: string, args: Record<string, unknown> = {}): Step {
  return { calls: [{ name, arguments: args }] };
}

/** The answer consists of the tools' results, word for word. */
export const RESULTS: Step = { text: "$results" };
