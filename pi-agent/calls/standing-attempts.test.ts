/** The device's own check of a standing permission says of each attempt what Home's check says. */
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import { StandingPermission } from "@edgecall/core/permissions/permission.ts";
import {
  ACTIONS,
  ATTEMPTS,
  type Attempt,
  NOW,
  permissionFor,
} from "@edgecall/core/permissions/testkit/attempts.ts";
import type { ActionAdvert } from "@edgecall/core/protocol/mqtt.ts";
import { check, z } from "@edgecall/core/protocol/parse.ts";
import { defineTool } from "@edgecall/core/tools/contract.ts";
import { expect, test } from "vitest";
import { actionOf } from "../link/action-advert.ts";
import { standingApproval } from "./standing.ts";

const KEY = "the-key-of-this-agent";

/** Also a tool of each name that an attempt tries: the name alone must not be enough. */
function toolOf({ name, effect = "device" }: Pick<ActionAdvert, "name" | "effect">) {
  return defineTool({
    name,
    description: `The action ${name}.`,
    input: z.looseObject({}),
    effect,
    idempotent: true,
    timeoutMs: 1_000,
    maxTimeoutMs: 1_000,
    execute: async () => ({ content: [] }),
  });
}

async function runs(attempt: Attempt): Promise<boolean> {
  const { action, parameters, principal, channel, tainted, chain } = attempt.call;
  const advert = ACTIONS.find(({ name }) => name === action);
  const tool = toolOf(advert ?? { name: action });
  const time = new Date(NOW);
  const permission = permissionFor(attempt, {
    id: "p-1",
    key: KEY,
    version: await actionVersion(actionOf(tool)),
    minute: time.getHours() * 60 + time.getMinutes(),
  });
  expect(check(StandingPermission, permission).ok).toBe(true);
  const caller = {
    principal,
    role: "member" as const,
    channel,
    ...(chain && { chain: { id: "c-1", via: ["nas"] } }),
  };
  const approval = await standingApproval(
    {
      tool,
      input: parameters as Record<string, unknown>,
      effect: tool.effect,
      tainted,
      danger: advert?.danger ? "it opens the gate" : undefined,
      plain: true,
    },
    // SAFETY: of a command it reads these.
    { command: { command: "tool", permission, caller } as never, caller },
    { key: KEY, clock: () => NOW, isSkill: () => false },
  );
  return approval?.approved === true;
}

test.each(ATTEMPTS)("$name", async (attempt) => {
  expect(await runs(attempt)).toBe(attempt.runs);
});

test("more than 200 of them try to widen a permission", () => {
  expect(ATTEMPTS.filter((attempt) => !attempt.runs).length).toBeGreaterThan(200);
});
