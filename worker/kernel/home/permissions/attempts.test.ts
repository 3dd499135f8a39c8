/** Home's check of a standing permission says of each attempt what the device's own check says. */
import { reset, runInDurableObject } from "cloudflare:test";
import { actionVersion } from "@edgecall/core/permissions/action-version.ts";
import {
  ACTIONS,
  ATTEMPTS,
  type Attempt,
  NOW,
  permissionFor,
} from "@edgecall/core/permissions/testkit/attempts.ts";
import { afterEach, expect, test } from "vitest";
import { hosting } from "../../../../test/hosted-device.ts";
import { post } from "../../../../test/keyed-home.ts";
import { SignedAgent } from "../../../../test/signed-agent.ts";
import { theHome } from "../../../../test/states.ts";
import { until } from "../../../../test/wait.ts";
import { ask } from "../../../../test/workerd.ts";
import type { Home } from "../../../home.ts";
import type { HomeContext } from "../context.ts";
import { permissionsOf } from "./permission-store.ts";
import { prepareStanding, standingFor } from "./standing.ts";

const FEATURES = ["tool", "cancel", "ack", "question", "gateway", "permissions"];
/** Home's day is UTC here. */
const MINUTE = 14 * 60;

afterEach(reset);

async function runs(home: HomeContext, key: string, attempt: Attempt, id: string): Promise<boolean> {
  const { action, parameters, principal, channel, tainted, chain } = attempt.call;
  const advert = ACTIONS.find(({ name }) => name === action);
  const version = advert ? await actionVersion(advert) : "none";
  const permission = permissionFor(attempt, { id, key, version, minute: MINUTE });
  expect(permissionsOf(home).add(permission)).toBe(true);
  await prepareStanding(home, "pi", action);
  const caller = {
    principal,
    role: "member" as const,
    channel,
    ...(chain && { chain: { id: "c-1", via: ["nas"] } }),
  };
  const payload = { tool: action, parameters };
  const call = { agent: "pi", command: "tool", payload, caller, conversation: null, tainted };
  const standing = standingFor(home, call, NOW);
  permissionsOf(home).end(id, { at: NOW, why: "ended", by: null });
  expect([undefined, id]).toContain(standing?.id);
  return standing !== undefined;
}

test("of all attempts to widen a permission none runs, and what it is for does", async () => {
  const key = await SignedAgent.make("pi");
  await post("/v1/agents/pi/key", { public_key: key.publicKey, name: "Pi" });
  const bridge = await hosting([]);
  bridge.send({ t: "agent", agent: await key.state({ tools: [...ACTIONS], features: FEATURES }) });
  await until(async () => (await (await ask("/v1/agents")).text()).includes("open_gate"), {
    what: "the actions",
  });
  const results = await runInDurableObject(theHome(), async (instance: Home) => {
    const home = instance.access.home;
    const found: Array<[string, boolean]> = [];
    for (const [at, attempt] of ATTEMPTS.entries())
      found.push([attempt.name, await runs(home, key.publicKey, attempt, `p-${at}`)]);
    return found;
  });
  expect(results).toEqual(ATTEMPTS.map((attempt) => [attempt.name, attempt.runs]));
});
