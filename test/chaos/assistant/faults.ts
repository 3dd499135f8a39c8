/** Injects one fault around a command to a device of Home Assistant, and mends it again. */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../wait.ts";
import { request } from "../client.ts";
import { killWorkerd } from "../faults.ts";
import type { AssistantHouse } from "./house.ts";
import type { PlannedCommand } from "./plan.ts";

const CUT_MAX_MS = 1_000;
/** Home Assistant stops, starts, and the bridge signs in again. */
const BACK_WITHIN_MS = 90_000;

/** Resolves when it is mended: the program runs again, or the link works again. */
export async function inject(
  house: AssistantHouse,
  { k, fault, lasts, slow }: PlannedCommand,
): Promise<void> {
  const { bridge, assistant } = house;
  const [kind, target] = fault.split(":");
  const why = `command ${k}, ${fault}`;
  switch (fault) {
    case "kill:bridge":
      await bridge.kill(why);
      return await bridge.start();
    case "kill:workerd":
      return await killWorkerd(house, why);
    case "restart:assistant":
      await assistant.restart();
      return await isBack(house);
    case "freeze:assistant":
      assistant.freeze();
      await sleep(lasts);
      return assistant.thaw();
    case "freeze:bridge":
      bridge.freeze(why);
      await sleep(lasts);
      return bridge.thaw();
  }
  const link = house.links[target === "gateway" ? "gateway" : "assistant"];
  if (kind === "cut") link.cut();
  else if (kind === "slow") link.slow(slow);
  else link.halfOpen((["both", "toServer", "toClient"] as const)[k % 3] ?? "both");
  await sleep(kind === "cut" ? Math.min(lasts, CUT_MAX_MS) : lasts);
  link.mend();
}

async function isBack(house: AssistantHouse): Promise<void> {
  const [agent = ""] = house.agents;
  await until(() => answers(house, agent), {
    within: BACK_WITHIN_MS,
    every: 250,
    what: "the devices of Home Assistant are back",
  });
}

/** True if the agent is there. */
export async function answers({ gatewayUrl }: AssistantHouse, agent: string): Promise<boolean> {
  const body = JSON.stringify({ command: "ping", payload: {} });
  const path = `/v1/agents/${agent}/commands`;
  const response = await request(gatewayUrl, path, { method: "POST", body }).catch(() => undefined);
  return response?.status === 200;
}
