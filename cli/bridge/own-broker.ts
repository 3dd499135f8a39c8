/**
 * The home's own broker: Mosquitto in a unit of ours, with logins that the bridge manages. The distribution's own instance
 * and its configuration stay as they are, since a person may use them.
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { writeBrokerFiles } from "@edgecall/bridge/ops/broker-files.ts";
import { mosquittoConf } from "@edgecall/core/broker/mosquitto.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { asUser } from "../service/as-user.ts";
import { makeStateDir, makeUser } from "../service/install.ts";
import { must, run } from "../service/programs.ts";
import { serviceState } from "../service/service-state.ts";
import { BRIDGE, SETTINGS_DIR } from "../service/services.ts";
import {
  BROKER_CONFIG_DIR,
  BROKER_FILES_DIR,
  BROKER_UNIT,
  brokerUnit,
  RELOAD_PATH_UNIT,
  RELOAD_SERVICE_UNIT,
  RELOAD_UNIT,
} from "./broker-unit.ts";
import { portHolder } from "./port-holder.ts";

export const BROKER_PORT = 1883;
const LISTENS_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;

const UNITS: Readonly<Record<string, string>> = {
  [`${BROKER_UNIT}.service`]: brokerUnit(),
  [`${RELOAD_UNIT}.path`]: RELOAD_PATH_UNIT,
  [`${RELOAD_UNIT}.service`]: RELOAD_SERVICE_UNIT,
};
const unitFile = (name: string) => join("/etc/systemd/system", name);

export function hasOwnBroker(): boolean {
  return existsSync(unitFile(`${BROKER_UNIT}.service`));
}

/**
 * Makes and starts the broker. A second run mends what is missing, and leaves a running broker alone.
 * @returns true if there was none
 * @throws with a text for a person
 */
export async function installBroker(say: (text: string) => void): Promise<boolean> {
  if (!existsSync("/usr/sbin/mosquitto")) throw new Error("mosquitto is missing: apt install mosquitto");
  await portMustBeFree();
  await makeUser(BRIDGE, [], say);
  await makeStateDir(BRIDGE);
  await asUser(BRIDGE.user, () => writeBrokerFiles({ dir: BROKER_FILES_DIR, agents: [], withoutConf: true }));
  await mkdir(BROKER_CONFIG_DIR, { recursive: true });
  for (const folder of [SETTINGS_DIR, BROKER_CONFIG_DIR]) await chmod(folder, 0o755);
  const conf = join(BROKER_CONFIG_DIR, "mosquitto.conf");
  if (!existsSync(conf)) {
    const text = mosquittoConf({ config: BROKER_FILES_DIR, state: join(BROKER_FILES_DIR, "state") });
    await writeAtomic(conf, text, { mode: 0o644 });
  }
  const isNew = !hasOwnBroker();
  const changed = await writeUnits();
  await must("systemctl", "daemon-reload");
  await must("systemctl", "enable", "--quiet", BROKER_UNIT, `${RELOAD_UNIT}.path`);
  await must("systemctl", changed ? "restart" : "start", BROKER_UNIT, `${RELOAD_UNIT}.path`);
  if (!(await listensWithin(LISTENS_WITHIN_MS))) {
    const { out } = await run("journalctl", ["-u", BROKER_UNIT, "-n", "10", "--no-pager", "-o", "cat"]);
    throw new Error(`the broker does not start: ${out.trim()}`);
  }
  return isNew;
}

/** @returns true if any file was changed */
async function writeUnits(): Promise<boolean> {
  let changed = false;
  for (const [name, text] of Object.entries(UNITS)) {
    const path = unitFile(name);
    if ((await readFile(path, "utf8").catch(() => "")) === text) continue;
    await writeFile(path, text, { mode: 0o644 });
    changed = true;
  }
  return changed;
}

/**
 * @param purge removes the configuration too; the logins are in the bridge's state
 * @returns what was removed, for a person
 */
export async function removeBroker(purge: boolean): Promise<string[]> {
  const had = hasOwnBroker();
  if (had) {
    await run("systemctl", ["disable", "--now", "--quiet", BROKER_UNIT, `${RELOAD_UNIT}.path`]);
    for (const name of Object.keys(UNITS)) {
      await rm(unitFile(name), { force: true });
      await rm(unitFile(`${name}.d`), { recursive: true, force: true });
    }
    await run("systemctl", ["daemon-reload"]);
  }
  // An interrupted install may have made this before the units.
  const hadConfig = purge && existsSync(BROKER_CONFIG_DIR);
  if (hadConfig) await rm(BROKER_CONFIG_DIR, { recursive: true, force: true });
  return [...(had ? ["the home's broker"] : []), ...(hadConfig ? [BROKER_CONFIG_DIR] : [])];
}

async function portMustBeFree(): Promise<void> {
  const { active } = await serviceState(BROKER_UNIT);
  const holder = active === "active" ? undefined : portHolder(BROKER_PORT);
  if (holder === undefined) return;
  const url = `mqtt://127.0.0.1:${BROKER_PORT}`;
  throw new Error(
    `port ${BROKER_PORT} is taken by ${holder}. Is it a broker that you want to use? Then --broker ${url} (with --username NAME --password-file FILE, if it asks). Else stop it (sudo systemctl disable --now mosquitto) and run this again`,
  );
}

async function listensWithin(ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
    if (await answers()) return true;
  }
  return false;
}

function answers(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(BROKER_PORT, "127.0.0.1");
    const end = (there: boolean) => {
      socket.destroy();
      resolve(there);
    };
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
