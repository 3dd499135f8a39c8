/**
 * The device's login at the home's own broker. Its user is the agent's id. Its password is made here, and the gateway gets
 * Mosquitto's hash of it, so nobody has to copy a password.
 */
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { newPassword, refusedAgentUser } from "@edgecall/core/broker/mosquitto.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { UsageError } from "../command.ts";

/** The file exists from the request to the gateway until the settings have the password. A lost answer is requested again. */
const LOGIN_FILE = "broker-login";
/** The form of `newPassword`. Only such a password is random enough for a quick hash to leave the device. */
const MADE = /^[A-Za-z0-9_-]{43}$/;

/**
 * @param username given by a person: then the broker is another one
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
  const stored = (await readFile(file, "utf8").catch(() => "")).trim();
  if (MADE.test(stored)) return stored;
  const password = newPassword();
  await writeAtomic(file, `${password}\n`);
  return password;
}

/** @returns the password in existing settings, if it was made here: a device that is paired again keeps it */
export function madeLogin(
  agent: string,
  { username, password }: { username: string | undefined; password: string | undefined },
): string | undefined {
  return username === agent && password !== undefined && MADE.test(password) ? password : undefined;
}

export async function forgetLogin(stateDir: string): Promise<void> {
  await rm(join(stateDir, LOGIN_FILE), { force: true });
}
