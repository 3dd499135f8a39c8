/** Injects one fault around a rule that acts, and mends it again. */
import { setTimeout as sleep } from "node:timers/promises";
import { cutPower } from "../../power/cut.ts";
import type { Dice } from "../dice.ts";
import type { Link } from "../link.ts";
import type { Program } from "../program.ts";
import type { ActingHouse } from "./house.ts";
import type { PlannedFault } from "./plan.ts";

/** A cut link refuses new connections for at most this long: the cut itself is the fault. */
const CUT_MAX_MS = 1_500;
const CLOCK_MS = 3 * 3_600_000;
/** From the bridge's first instruction until it works. */
const START_MS = 600;

/** Resolves when it is mended: the programs run again, the links work again. Faults of a device are in the device already. */
export async function inject(
  house: ActingHouse,
  { name, lasts }: PlannedFault,
  why: string,
  throws: Dice,
): Promise<void> {
  const { gateway, bridge, broker, links, disk, devices, agent } = house;
  switch (name) {
    case "none":
    case "deaf:device":
    case "late:device":
      return;
    case "kill:bridge":
      return await away(bridge, 0, why);
    case "away:bridge":
      return await away(bridge, lasts, why);
    case "kill:worker":
    case "kill:workerd":
    case "away:gateway":
      return await gateway.fault(name, lasts, why);
    case "kill:agent":
    case "away:agent":
      return agent && (await away(agent.program, name === "away:agent" ? lasts : 0, why));
    case "cut:agent-broker":
      return agent && (await cut(agent.link, lasts));
    case "kill:broker":
      return await away(broker.program, 0, why);
    case "away:broker":
      return await away(broker.program, lasts, why);
    case "cut:gateway":
      return await cut(links.gateway, lasts);
    case "cut:broker":
      return await cut(links.broker, lasts);
    case "half-open:gateway":
      return await halfOpen(links.gateway, lasts, throws);
    case "half-open:broker":
      return await halfOpen(links.broker, lasts, throws);
    case "power":
    case "power:twice":
      return await power(house, name, why, throws);
    case "disk:full":
      disk?.fill();
      await sleep(lasts);
      return disk?.free();
    case "clock:ahead":
    case "clock:back":
      house.setClock(name === "clock:ahead" ? CLOCK_MS : -CLOCK_MS);
      await sleep(lasts);
      return house.setClock(0);
    case "clock:kill": {
      await bridge.kill(why);
      const by = throws.pick([CLOCK_MS, -CLOCK_MS]);
      house.setClock(by);
      const from = Date.now();
      await bridge.start();
      await sleep(lasts);
      house.setClock(0);
      if (by > 0) house.startsAhead.push({ from, to: Date.now() });
      return;
    }
    case "away:publisher":
      await devices.away(true);
      await sleep(lasts);
      return await devices.away(false);
  }
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

async function halfOpen(link: Link, lasts: number, throws: Dice): Promise<void> {
  link.halfOpen(throws.pick(["both", "toServer", "toClient"] as const));
  await sleep(lasts);
  link.mend();
}

/** All programs of the home are killed, and what the bridge had not synced is lost, zeroed, or has a hole. */
async function power(
  house: ActingHouse,
  name: "power" | "power:twice",
  why: string,
  throws: Dice,
): Promise<void> {
  const { gateway, bridge, broker, bridgeDir, synced, agent } = house;
  const all = [bridge, gateway, broker.program, ...(agent ? [agent.program] : [])];
  await Promise.all(all.map((program) => program.kill(why)));
  const lose = () => {
    for (const { file, what, from, to } of cutPower(bridgeDir, synced, throws))
      bridge.note(`lost: ${what} ${from} to ${to} of ${file}`);
  };
  lose();
  if (name === "power:twice") {
    // The second cut comes while the bridge starts and repairs its files.
    const early = bridge.start().catch(() => {});
    await sleep(throws.whole(0, START_MS));
    await bridge.kill(`${why}, again`);
    await early;
    lose();
  }
  await Promise.all(all.map((program) => program.start()));
}
