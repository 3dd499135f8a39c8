/** A home with standing permissions, for tests in workerd: how a change is asked about, answered, and listed. */
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { expect } from "vitest";
import type { PermissionOffer, PermissionView } from "../worker/kernel/api/permissions.ts";
import { device, READ, SET, UNLOCK } from "./hosted-device.ts";
import { TOKENS } from "./tokens.ts";
import { openQuestions } from "./turns.ts";
import { ask } from "./workerd.ts";

export const HEAT: ActionAdvert = {
  ...SET,
  parameters: {
    type: "object",
    properties: {
      temperature: { type: "number", minimum: 5, maximum: 30 },
      mode: { type: "string", enum: ["heat", "auto", "boost"] },
      on: { type: "boolean" },
      code: { type: "string", maxLength: 8, writeOnly: true },
    },
    additionalProperties: false,
  },
};
export const LIMIT: ActionAdvert = { ...HEAT, name: "set_limit", danger: true, setting: true };
export const RADIATOR = device("radiator", { line: "radiator", tools: [READ, HEAT, LIMIT, UNLOCK] });
export const LAMP = device("lamp");

export type AskedQuestion = {
  id: string;
  conversation: string;
  agent: string;
  text: string;
  members?: Array<{ id: string; agent: string; text: string }>;
  offers?: PermissionOffer[];
};
type Listed = PermissionView & { ended: { why: string; by: string | null } | null };

export const questions = async () => (await openQuestions()) as unknown as AskedQuestion[];

export const answer = (id: string, body: object, token = TOKENS.owner) =>
  ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify(body), token });

export async function permissions(query = "", token = TOKENS.owner): Promise<Listed[]> {
  const response = await ask(`/v1/permissions${query}`, { token });
  return ((await response.json()) as { permissions: Listed[] }).permissions;
}

/** A command over the API. @returns what came of it: it ran, a person is asked, or it was refused */
export async function command(
  agent: string,
  tool: string,
  parameters: unknown,
  init: Parameters<typeof ask>[1] = {},
): Promise<"ran" | "asks" | "refused"> {
  const before = (await questions()).length;
  const response = await ask(`/v1/agents/${agent}/commands?wait=0`, {
    method: "POST",
    body: JSON.stringify({ command: "tool", payload: { tool, parameters } }),
    ...init,
  });
  if (response.status >= 400) return "refused";
  return (await questions()).length > before ? "asks" : "ran";
}

/** Asks over the API for a change, and answers its question. @returns the answer's status and text */
export async function keeping(
  keep: object,
  agent = "radiator",
  parameters: object = { temperature: 21 },
): Promise<{ status: number; text: string; question: AskedQuestion }> {
  expect(await command(agent, "set", parameters)).toBe("asks");
  const question = (await questions()).at(-1) as AskedQuestion;
  const response = await answer(question.id, { answer: "approve", keep });
  return { status: response.status, text: await response.text(), question };
}
