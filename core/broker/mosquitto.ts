/**
 * The files by which a Mosquitto lets each agent say and hear what is its own, and nobody else anything.
 *
 * Texts only: who writes them where is the caller's business (bridge/ops/broker-files.ts; an installer).
 */
import { AGENT_ID, type TopicKind } from "../protocol/names.ts";
import { LOGIN_ROUNDS } from "./login.ts";

/** The bridge's user. An agent of this name would have all of its rights. */
export const BRIDGE_USER = "edgecall-bridge";

/** What an agent publishes, and what it may read. `presence` both: it mends its own after a late last will. */
const AGENT_WRITES = ["capabilities", "tools", "reports", "events", "status", "presence"] as const;
const AGENT_READS = ["commands", "presence"] as const;
/** EvoClaw's agents subscribe to these as well, and leave when they may not. */
const FOREIGN_READS = { own: "strategy", all: "broadcast" } as const;
/** What the bridge hears. It publishes commands and nothing else. */
const BRIDGE_READS: readonly TopicKind[] = AGENT_WRITES;

/** An MQTT packet of ours is at most a report of 400 KiB (bridge/broker/inbound.ts); twice that leaves room. */
const MAX_PACKET_BYTES = 1024 * 1024;
/** What the broker keeps is told again at each connect; so it is written seldom, and an SD card lives longer. */
const AUTOSAVE_S = 300;

const SALT_BYTES = 12;
const HASH_BITS = 512;
const PASSWORD_BYTES = 32;

/**
 * @param paths as the broker sees them: a folder of its own each, or the same
 * @param listen address and port; all addresses in a container, where the published port decides
 */
export function mosquittoConf(
  paths: { config: string; state: string },
  listen = { host: "0.0.0.0", port: 1883 },
): string {
  return `# Written by edgecall (broker-files). Changes of yours are kept: it is only written where there is none.
per_listener_settings false
listener ${listen.port} ${listen.host}
# Over a network that you do not trust, TLS: certfile and keyfile here, MQTT_URL=mqtts://… and MQTT_CA at the bridge.
allow_anonymous false
password_file ${paths.config}/passwords
acl_file ${paths.config}/acl

# Without it each command waits 44 ms for an acknowledgement.
set_tcp_nodelay true
max_packet_size ${MAX_PACKET_BYTES}
max_queued_messages 200
persistent_client_expiration 1d

persistence true
persistence_location ${paths.state}/
autosave_interval ${AUTOSAVE_S}
log_dest stderr
log_type error
log_type warning
log_type notice
connection_messages true
`;
}

/**
 * One list for all agents, now and later: an agent's user name is its id, and `%u` stands for it. Nothing that is
 * not here is allowed.
 */
export function mosquittoAcl(prefix: string): string {
  const own = (kind: string) => `${prefix}/agents/%u/${kind}`;
  return [
    "# Written by edgecall (broker-files) each time it runs.",
    ...AGENT_WRITES.map((kind) => `pattern write ${own(kind)}`),
    ...[...AGENT_READS, FOREIGN_READS.own].map((kind) => `pattern read ${own(kind)}`),
    `pattern read ${prefix}/${FOREIGN_READS.all}`,
    "",
    `user ${BRIDGE_USER}`,
    ...BRIDGE_READS.map((kind) => `topic read ${prefix}/agents/+/${kind}`),
    `topic write ${prefix}/agents/+/commands`,
    "",
  ].join("\n");
}

/** 256 random bits, as text that needs no quotes anywhere. */
export function newPassword(): string {
  return base64(crypto.getRandomValues(new Uint8Array(PASSWORD_BYTES)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** A line of Mosquitto's password file. */
export async function passwordLine(user: string, password: string): Promise<string> {
  return `${user}:${await passwordHash(password)}`;
}

/** `$7$rounds$salt$hash`, PBKDF2 with SHA-512 (mosquitto_passwd(1)). */
export async function passwordHash(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(password), "PBKDF2", false, [
    "deriveBits",
  ]);
  const hash = await crypto.subtle.deriveBits(
    { name: "PBKDF2", hash: "SHA-512", salt, iterations: LOGIN_ROUNDS },
    key,
    HASH_BITS,
  );
  return `$7$${LOGIN_ROUNDS}$${base64(salt)}$${base64(new Uint8Array(hash))}`;
}

/** Why this cannot be an agent's user name, or undefined. */
export function refusedAgentUser(id: string): string | undefined {
  if (!AGENT_ID.test(id)) return `${id}: not an agent's id; right would be 1 to 64 letters, digits, _ or -`;
  if (id === BRIDGE_USER) return `${id}: is the bridge's user, no agent's`;
  return undefined;
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
