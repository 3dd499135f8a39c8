/**
 * `bridge broker-files DIR [AGENT…]` writes what a Mosquitto needs to let in the bridge and these agents, and nobody else.
 * When it is run again, it keeps the existing logins and adds new ones.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  BRIDGE_USER,
  mosquittoAcl,
  mosquittoConf,
  newPassword,
  passwordLine,
  refusedAgentUser,
} from "@edgecall/core/broker/mosquitto.ts";
import { DEFAULT_TOPIC_PREFIX } from "@edgecall/core/protocol/names.ts";
import { writeAtomicSync } from "@edgecall/node/atomic-write.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { BRIDGE_PASSWORD_FILE } from "../settings.ts";

const BROKER_FILES_USAGE = `usage: broker-files DIR [AGENT…] [--remove AGENT]…

  DIR             gets mosquitto.conf, acl, passwords (hashes), bridge-password and the folder state
  AGENT           an agent's id: it gets a new password, which is shown only once
  --remove AGENT  deletes this agent's password
`;

export type BrokerFiles = {
  dir: string;
  /** Ids of agents. Each gets a new password. */
  agents: readonly string[];
  remove?: readonly string[];
  prefix?: string;
  /** The listener in mosquitto.conf. */
  listen?: { host: string; port: number };
  /** True if something else writes mosquitto.conf, elsewhere. */
  withoutConf?: boolean;
};

export const PASSWORDS_FILE = "passwords";
export const ACL_FILE = "acl";
/** Written after each change of the two. Whatever runs the broker deletes it and makes the broker read them again. */
export const RELOAD_FILE = "reload";

/** Only the owner reads the files: broker and bridge run as the same user. */
const PRIVATE = 0o600;

/**
 * Writes the files. A running broker reads them at SIGHUP.
 * @returns the new passwords by agent, which cannot be read from the files
 * @throws with a text for a person when an id is invalid, or DIR cannot be written
 */
export async function writeBrokerFiles(files: BrokerFiles): Promise<Map<string, string>> {
  const { dir, agents, remove = [], prefix = DEFAULT_TOPIC_PREFIX } = files;
  const refused = agents.map(refusedAgentUser).filter((why) => why !== undefined);
  if (refused.length > 0) throw new Error(refused.join("\n"));
  mkdirSync(join(dir, "state"), { recursive: true, mode: 0o700 });
  const conf = join(dir, "mosquitto.conf");
  if (!files.withoutConf && !existsSync(conf))
    writeAtomicSync(conf, mosquittoConf({ config: dir, state: join(dir, "state") }, files.listen));
  writeAtomicSync(join(dir, ACL_FILE), mosquittoAcl(prefix));

  const lines = readPasswords(join(dir, PASSWORDS_FILE));
  for (const id of remove) lines.delete(id);
  const passwords = new Map<string, string>();
  for (const id of new Set(agents)) {
    const password = newPassword();
    passwords.set(id, password);
    lines.set(id, await passwordLine(id, password));
  }
  await ensureBridgeLogin(join(dir, BRIDGE_PASSWORD_FILE), lines);
  writeAtomicSync(join(dir, PASSWORDS_FILE), [...lines.values(), ""].join("\n"));
  return passwords;
}

/**
 * Adds or removes a login for another program of the owner. It is stored in `passwords.local`, and in force at once.
 * @returns its new password; undefined when it was removed
 * @throws with a text for a person when there cannot be such a user
 */
export async function writeLocalLogin(
  dir: string,
  user: string,
  { remove }: { remove: boolean },
): Promise<string | undefined> {
  const refused = refusedAgentUser(user);
  if (refused !== undefined) throw new Error(refused);
  const password = remove ? undefined : newPassword();
  const line = password === undefined ? undefined : await passwordLine(user, password);
  for (const name of [`${PASSWORDS_FILE}.local`, PASSWORDS_FILE]) {
    const lines = readPasswords(join(dir, name));
    lines.delete(user);
    if (line !== undefined) lines.set(user, line);
    writeAtomicSync(join(dir, name), [...lines.values(), ""].join("\n"));
  }
  markChanged(dir);
  return password;
}

export function markChanged(dir: string): void {
  writeFileSync(join(dir, RELOAD_FILE), "", { mode: PRIVATE });
}

/** The bridge reads its own password from the file (MQTT_PASSWORD_FILE). */
async function ensureBridgeLogin(file: string, lines: Map<string, string>): Promise<void> {
  if (existsSync(file) && lines.has(BRIDGE_USER)) return;
  const password = newPassword();
  writeAtomicSync(file, `${password}\n`);
  lines.set(BRIDGE_USER, await passwordLine(BRIDGE_USER, password));
}

/** The lines by user. People may have added lines of their own. */
export function readPasswords(file: string): Map<string, string> {
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, "utf8").split("\n");
  return new Map(lines.filter((line) => line.includes(":")).map((line) => [line.split(":")[0] ?? "", line]));
}

/** Runs the command. @returns its exit code */
export async function brokerFilesCommand(
  args: readonly string[],
  env: Record<string, string | undefined>,
  out: { stdout(text: string): void; stderr(text: string): void },
): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { remove: { type: "string", multiple: true }, help: { type: "boolean" } },
    });
    const [dir, ...agents] = positionals;
    if (values.help || dir === undefined) {
      (values.help ? out.stdout : out.stderr)(BROKER_FILES_USAGE);
      return values.help ? 0 : 2;
    }
    const newPasswords = await writeBrokerFiles({
      dir,
      agents,
      ...(values.remove && { remove: values.remove }),
      ...(env.TOPIC_PREFIX && { prefix: env.TOPIC_PREFIX }),
    });
    out.stderr(`The broker's files are in ${dir}. A running broker reads them at SIGHUP.\n`);
    for (const [id, password] of newPasswords)
      out.stdout(
        `\n# agent.toml of ${id}; this password is shown once\n[mqtt]\nusername = "${id}"\npassword = "${password}"\n`,
      );
    return 0;
  } catch (error) {
    out.stderr(`broker-files: ${messageOf(error)}\n`);
    return 1;
  }
}
