/** The four machines, the model outside, and the person, as every step of the trial gets them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { FakeTelegram } from "../platforms/telegram.ts";
import { type ScriptedModel, startScriptedModel } from "../scripted-model.ts";
import { gatewayMachine } from "./gateway-machine.ts";
import { homeGatewayFiles } from "./home-gateway-files.ts";
import { Machine, type MachineOptions } from "./machine.ts";
import type { Person } from "./person.ts";
import { startRegistry } from "./registry.ts";
import { layWires, OUTSIDE, placeIn } from "./wires.ts";

const PARTS = ["gateway", "hub", "eye", "arm"] as const;
type Part = (typeof PARTS)[number];
type Machines = Readonly<Record<Part, Machine>>;

export type Home = {
  machines: Machines;
  model: ScriptedModel;
  /** Telegram's Bot API, outside. */
  telegram: FakeTelegram;
  person: Person;
  /** The gateway's code: see gateway-machine.ts. */
  repo: string;
};

const PLACES = {
  gateway: placeIn("internet", 10),
  hub: placeIn("home", 2),
  eye: placeIn("home", 3),
  arm: placeIn("home", 4),
};
export const GATEWAY_NAME = "gateway.example";
export const GATEWAY = `http://${GATEWAY_NAME}`;
export const HOSTS = { [GATEWAY_NAME]: PLACES.gateway.address, hub: PLACES.hub.address };

/** A device that already has Node, like most devices with one of the last two Debians. */
const NODE = { "/usr/local/bin/node": { bind: process.execPath } };

/** A device without Node takes it from the registry, and its person does nothing more for that. */
function withoutNode(registry: string): MachineOptions["files"] {
  return {
    "/etc/sudoers.d/registry": { text: 'Defaults env_keep += "EDGECALL_REGISTRY"\n' },
    "/etc/profile.d/registry.sh": { text: `export EDGECALL_REGISTRY=${registry}\n` },
  };
}

export async function buildHome(options: {
  dir: string;
  debian: string;
  cgroups: readonly string[];
  repo: string;
  /** The folder of `npm run build -- --gateway`. */
  gatewayFolder: string;
}): Promise<Pick<Home, "machines" | "model" | "telegram">> {
  const { dir, debian, cgroups, repo, gatewayFolder } = options;
  layWires();
  const model = await startScriptedModel(OUTSIDE);
  const telegram = await FakeTelegram.start(OUTSIDE);
  const registry = await startRegistry(OUTSIDE);
  const machine = (name: Part, what: Pick<MachineOptions, "files" | "services">) => {
    const own = join(dir, name);
    mkdirSync(own);
    return new Machine({ name, place: PLACES[name], hosts: HOSTS, debian, dir: own, cgroups, ...what });
  };
  const machines = {
    gateway: machine("gateway", gatewayMachine(repo, model.url)),
    hub: machine(
      "hub",
      homeGatewayFiles({ folder: gatewayFolder, modelUrl: model.url, telegramUrl: telegram.server.url }),
    ),
    eye: machine("eye", { files: NODE, services: [] }),
    arm: machine("arm", { files: registry === undefined ? NODE : withoutNode(registry), services: [] }),
  };
  return { machines, model, telegram };
}
