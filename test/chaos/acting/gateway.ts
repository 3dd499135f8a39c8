/** The gateway of a house: the real one, or one that the run plays. */
import type {
  AutomationNews,
  AutomationRun,
  AutomationStatus,
  HomePresence,
} from "@edgecall/core/protocol/automation.ts";
import type { ActingDevices } from "./devices.ts";
import type { PlannedHouse } from "./plan.ts";

/** A rule as the gateway has it. @property runs undefined: the bridge did not answer */
export type KnownRule = {
  id: string;
  name: string;
  state: AutomationStatus["state"] | undefined;
  runs: readonly AutomationRun[] | undefined;
};
export type Rules = ReadonlyMap<string, KnownRule>;

export type GatewayFault = "kill:worker" | "kill:workerd" | "away:gateway";

export type ActingGateway = {
  url: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Announces the devices, makes the rules, has them allowed, and waits until the bridge has them. */
  make(devices: ActingDevices, plan: PlannedHouse): Promise<Rules>;
  drop(id: string): Promise<void>;
  /** By name; undefined: it does not answer now. */
  rules(): Promise<Rules | undefined>;
  /** Who is at home, as the bridge says; undefined: it does not answer now. */
  presence(): Promise<HomePresence["home"] | undefined>;
  /** A person says that they are away, or back. */
  say(isAway: boolean): Promise<void>;
  /** What people were told about rules. */
  told(): Promise<string[]>;
  /** What it stored of the bridge's news; undefined: the frames on the line say. */
  news(): readonly AutomationNews[] | undefined;
  isWhole(): Promise<boolean>;
  fault(name: GatewayFault, lasts: number, why: string): Promise<void>;
  /** With the power of the house. */
  kill(why: string): Promise<void>;
};

/** The switch of a step, as its device is named behind "Plug ", or the agent's mark. */
export const plugOf = (rule: string, step: number) => `${rule}${"abcd"[step] ?? "z"}`;

/** Announces what the rules of a house are about. @returns the devices' names */
export function announce(devices: ActingDevices, { rules, quiet }: PlannedHouse): string[] {
  for (const { name, steps, trigger } of rules) {
    devices.addTrigger(name);
    if (trigger === "event") devices.addButton(name);
    for (const [n, { device }] of steps.entries())
      if (device !== "agent") devices.addSwitch(plugOf(name, n), device);
  }
  for (const { name, kind } of quiet) {
    devices.addTrigger(name, kind === "from the start");
    devices.addSwitch(plugOf(name, 0), "plain");
  }
  return [
    ...rules.flatMap(({ name, steps }) => [
      `Sensor ${name}`,
      ...steps.flatMap(({ device }, n) => (device === "agent" ? [] : [`Plug ${plugOf(name, n)}`])),
    ]),
    ...quiet.flatMap(({ name }) => [`Sensor ${name}`, `Plug ${plugOf(name, 0)}`]),
  ];
}
