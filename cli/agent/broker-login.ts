/**
 * The device's login at the home's own broker: its user is the agent's id, its password is made here, and the gateway
 * is told Mosquitto's hash of it. Nobody copies anything.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { newPassword, refusedAgentUser } from "@edgecall/core/broker/mosquitto.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { UsageError } from "../command.ts";

/** From before the gateway is asked until the settings have it: an answer that was lost is asked for again. */
const LOGIN_FILE = "broker-login";
/** As `newPassword` makes them. Only of such a one a quick hash may leave the device. */
const MADE = /^[A-Za-z0-9_-]{43}$/;

/**
 * @param username that a person gave: then the broker is somebody else's
 * @returns the password
 * @throws UsageError when the broker would take the agent for its bridge
 */
export async function newLogin(
  { agent, stateDir }: { agent: string; stateDir: string },
  username: string | undefined,
): Promise<string | undefined> {
  if (username !== undefined) return undefined;
  const refused = refusedAgentUser(agent);
  if (refused !== undefined) throw new UsageError(`--id: ${refused}`);
  const file = join(stateDir, LOGIN_FILE);
  const kept = (await readFile(file, "utf8").catch(() => "")).trim();
  if (MADE.test(kept)) return kept;
  const password = newPassword();
  await writeAtomic(file, `${password}\n`);
  return password;
}

/** @returns the login in settings that are there, if it is one that was made so: a device that is let in again brings it along. */
export function madeLogin(
  agent: string,
  { username, password }: { username: string | undefined; password: string | undefined },
): string | undefined {
  return username === agent && password !== undefined && MADE.test(password) ? password : undefined;
}

export async function forgetLogin(stateDir: string): Promise<void> {
  await rm(join(stateDir, LOGIN_FILE), { force: true });
}
