/** Injects one fault around firings, and mends it again. */
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../wait.ts";
import { request } from "../client.ts";
import { killWorkerd } from "../faults.ts";
import type { Link } from "../link.ts";
import type { Program } from "../program.ts";
import type { House } from "./house.ts";
import type { PlannedVolley } from "./plan.ts";

/** A cut link refuses new connections for at most this long: the cut itself is the fault. */
const CUT_MAX_MS = 1_500;
/** A platform says this many seconds at most. */
const LIMIT_MAX_S = 3;
const ANSWERS_WITHIN_MS = 20_000;
const PLATFORMS = ["telegram", "generic"] as const;

/** Resolves when it is mended: the program runs again, or the link works again. */
export async function inject(
  house: House,
  { name, lasts }: PlannedVolley["fault"],
  why: string,
): Promise<void> {
  const { worker, bridge, agent, broker, links } = house;
  switch (name) {
    case "kill:worker":
      return await away(worker, 0, why);
    case "kill:workerd":
      return await killRuntime(house, why);
    case "kill:workerd-twice":
      await killRuntime(house, why);
      return await killRuntime(house, why);
    case "kill:bridge":
      return await away(bridge, 0, why);
    case "kill:agent":
      return await away(agent, 0, why);
    case "kill:broker":
      return await away(broker.program, 0, why);
    case "away:broker":
      return await away(broker.program, lasts, why);
    case "away:gateway":
      return await away(worker, lasts, why);
    case "away:bridge":
      return await away(bridge, lasts, why);
    case "cut:gateway":
      return await cut(links.gateway, lasts);
    case "cut:agent-broker":
      return await cut(links["agent-broker"], lasts);
    case "half-open:gateway":
      return await halfOpen(links.gateway, "both", lasts);
    case "half-open:agent-broker":
      return await halfOpen(links["agent-broker"], "both", lasts);
    case "power": {
      const all = [worker, bridge, agent, broker.program];
      await Promise.all(all.map((program) => program.kill(why)));
      await Promise.all(all.map((program) => program.start()));
      return;
    }
    case "platform:refuses":
      return await refuse(house, lasts, { status: 503 });
    case "platform:limits":
      return await refuse(house, lasts, { status: 429 });
    case "platform:dies":
      await Promise.all(PLATFORMS.map((platform) => cut(links[platform], lasts)));
      return;
    case "platform:loses":
      await Promise.all(PLATFORMS.map((platform) => halfOpen(links[platform], "toClient", lasts)));
  }
}

/** Miniflare gives up when workerd is killed while it starts, so it has to answer before. */
async function killRuntime(house: House, why: string): Promise<void> {
  await until(() => answers(house), { within: ANSWERS_WITHIN_MS, what: "the gateway answers" });
  await killWorkerd(house, why);
  await until(() => answers(house), { within: ANSWERS_WITHIN_MS, what: "the gateway answers" });
}

async function answers({ gatewayUrl }: House): Promise<boolean> {
  const response = await request(gatewayUrl, "/v1/status").catch(() => undefined);
  return response?.ok === true;
}

async function away(program: Program, ms: number, why: string): Promise<void> {
  await program.kill(why);
  await sleep(ms);
  await program.start();
}

async function cut(link: Link, lasts: number): Promise<void> {
  link.cut();
  await sleep(Math.min(lasts, CUT_MAX_MS));
  link.mend();
}

async function halfOpen(link: Link, deaf: Parameters<Link["halfOpen"]>[0], lasts: number): Promise<void> {
  link.halfOpen(deaf);
  await sleep(lasts);
  link.mend();
}

async function refuse({ people }: House, lasts: number, { status }: { status: number }): Promise<void> {
  const seconds = Math.min(LIMIT_MAX_S, Math.ceil(lasts / 1_000));
  const headers = { "retry-after": String(seconds) };
  const isMessage = (path: string) => /\/(sendMessage|told)$/.test(path);
  const body = {
    ok: false,
    error_code: status,
    description: "Too Many Requests",
    parameters: { retry_after: seconds },
  };
  for (const platform of PLATFORMS)
    people[platform].server.limit(seconds, () => ({ status, headers, body }), isMessage);
  await sleep(lasts);
}
