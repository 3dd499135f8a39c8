/**
 * The logins of the home's own broker: one for each paired agent, as Home sends them with the keys. The broker's files
 * follow from that list, the bridge's own login and what a person added (`passwords.local`, `acl.local`), and from nothing
 * else. So a revoked agent is gone with the next write.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BrokerLogin } from "@edgecall/core/broker/login.ts";
import {
  BRIDGE_USER,
  deviceTopics,
  mosquittoAcl,
  passwordLine,
  refusedAgentUser,
} from "@edgecall/core/broker/mosquitto.ts";
import type { AgentKey } from "@edgecall/core/protocol/home-frames.ts";
import { writeAtomicSync } from "@edgecall/node/atomic-write.ts";
import type { Log } from "@edgecall/node/log.ts";
import { ACL_FILE, markChanged, PASSWORDS_FILE, readPasswords } from "./broker-files.ts";

export type Logins = {
  keys: readonly AgentKey[];
  /** The bridge's own line of the password file. */
  own: string;
  /** A person's lines by user, as mosquitto_passwd writes them. */
  local: ReadonlyMap<string, string>;
};

/** The text of the password file. A person's line wins over Home's for the same user, but not over the bridge's own. */
export function passwordsText({ keys, own, local }: Logins): string {
  const lines = new Map<string, string>();
  for (const key of keys) if (hasLogin(key)) lines.set(key.id, `${key.id}:${key.login}`);
  for (const [user, line] of local) lines.set(user, line);
  lines.delete(BRIDGE_USER);
  return [own, ...[...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line), ""].join("\n");
}

/** True if the agent gets a line. Only a well-formed hash is written to the file, whoever sent it. */
function hasLogin({ id, key, login }: AgentKey): boolean {
  return key !== null && BrokerLogin.safeParse(login).success && refusedAgentUser(id) === undefined;
}

/** Keeps the two files up to date. Whatever runs the broker makes it read them again when they change. */
export class BrokerLogins {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #password: string;
  readonly #hasDevices: boolean;
  readonly #log: Log;
  #work: Promise<void> = Promise.resolve();

  /** @param password of the bridge itself @param hasDevices whether it hosts devices of other programs */
  constructor(folder: string, prefix: string, password: string, log: Log, hasDevices: boolean) {
    this.#folder = folder;
    this.#prefix = prefix;
    this.#password = password;
    this.#hasDevices = hasDevices;
    this.#log = log;
  }

  /** Takes Home's complete list of keys. Writes run one after another. A fault is logged, and the next list tries again. */
  update(keys: readonly AgentKey[]): void {
    this.#work = this.#work
      .then(() => this.#write(keys))
      .catch((error: unknown) =>
        this.#log("error", "broker.files_failed", { folder: this.#folder, error: String(error) }),
      );
  }

  async #write(keys: readonly AgentKey[]): Promise<void> {
    const file = (name: string) => join(this.#folder, name);
    // The salt is random, so a new line would differ each time: a good one is kept. Half a line would lock the bridge out for good.
    const line = readPasswords(file(PASSWORDS_FILE)).get(BRIDGE_USER);
    const isWhole = BrokerLogin.safeParse(line?.slice(BRIDGE_USER.length + 1)).success;
    const own = line !== undefined && isWhole ? line : await passwordLine(BRIDGE_USER, this.#password);
    const local = readPasswords(file(`${PASSWORDS_FILE}.local`));
    const localAcl = textOf(file(`${ACL_FILE}.local`));
    const devices = this.#hasDevices ? deviceTopics(localAcl, this.#prefix) : [];
    const acl = mosquittoAcl(this.#prefix, devices) + localAcl;
    const passwords = passwordsText({ keys, own, local });
    if (textOf(file(ACL_FILE)) === acl && textOf(file(PASSWORDS_FILE)) === passwords) return;
    // The passwords are written last, and always, so that a broker that reloads on a change reloads once. (Mosquitto
    // ignores a SIGHUP that comes while it reads.)
    writeAtomicSync(file(ACL_FILE), acl, { makeFolder: false });
    writeAtomicSync(file(PASSWORDS_FILE), passwords, { makeFolder: false });
    const logins = keys.filter(hasLogin).length;
    markChanged(this.#folder);
    this.#log("info", "broker.files_written", { folder: this.#folder, logins });
  }
}

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
