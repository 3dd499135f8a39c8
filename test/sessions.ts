/** For tests inside workerd: what a model asks of the session tools, and what became of its sessions. */
import type { Step } from "./scripted-model.ts";
import { turnsOf } from "./turns.ts";
import { until } from "./wait.ts";
import { ask } from "./workerd.ts";

export const tool = (name: string, args: Record<string, unknown> = {}) => ({ name, arguments: args });

export const calls = (...made: Array<ReturnType<typeof tool>>): Step => ({ calls: made });

export const spawn = (task: string, more: Record<string, unknown> = {}): Step =>
  calls(tool("sessions_spawn", { task, ...more }));

/** Waits until so many turns have ended: the end of a session begins one. */
export async function endedTurns(conversation: string, count: number) {
  return await until(
    async () => {
      const turns = await turnsOf(conversation);
      return turns.filter(({ status }) => status !== "running").length >= count ? turns : undefined;
    },
    { what: `${count} turns of ${conversation} have ended`, within: 15_000 },
  );
}

type Listed = { id: string; title: string; principal?: string };

/** The sessions of everybody, the newest first. */
export async function spawned(): Promise<Listed[]> {
  const response = await ask("/v1/conversations?all=yes&limit=100");
  const { conversations } = (await response.json()) as { conversations: Listed[] };
  return conversations.filter(({ id }) => id.startsWith("session-"));
}

/** Waits for the session with this label. @returns its id */
export async function sessionNamed(label: string): Promise<string> {
  const found = await until(async () => (await spawned()).find(({ title }) => title === label), {
    what: `the session '${label}'`,
    within: 10_000,
  });
  return found.id;
}

/** The names and results of the gateway's own lines in the record, the oldest first. */
export async function gatewayLines(): Promise<Array<[string, string]>> {
  const { entries } = (await (await ask("/v1/audit?agent=@gateway")).json()) as {
    entries: Array<{ tool: string; result: string }>;
  };
  return entries.map(({ tool: name, result }): [string, string] => [name, result]).reverse();
}
