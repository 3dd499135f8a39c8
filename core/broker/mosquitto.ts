/**
 * Mosquitto's configuration files. They let each agent publish and read its own topics, and allow nothing else.
 *
 * This module only makes the texts; the caller writes them (bridge/ops/broker-files.ts, an installer).
 */
import { toBase64, toBase64Url, utf8 } from "../encoding.ts";
import { AGENT_ID, isReservedId, RESERVED_ID, type TopicKind } from "../protocol/names.ts";
import { LOGIN_ROUNDS } from "./login.ts";

/** The bridge's user name. An agent of the same name would have all of the bridge's rights. */
export const BRIDGE_USER = "edgecall-bridge";

/** Topics that an agent publishes. It also reads `presence`, to correct its own after a late last will. */
const AGENT_WRITES = ["capabilities", "tools", "reports", "events", "status", "presence"] as const;
const AGENT_READS = ["commands", "presence"] as const;
/** EvoClaw's agents subscribe to these as well, and leave when they may not. */
const FOREIGN_READS = { own: "strategy", all: "broadcast" } as const;
/** Topics of agents that the bridge reads. It publishes only commands there. */
const BRIDGE_READS: readonly TopicKind[] = AGENT_WRITES;

/** Our largest MQTT packet is a report of 400 KiB (bridge/broker/inbound.ts); the limit leaves more than twice that. */
const MAX_PACKET_BYTES = 1024 * 1024;
/**
 * Mosquitto queues all retained messages at once when the bridge subscribes, three for each agent, and drops what exceeds
 * this. A dropped advert is missing until its agent publishes it again. This is enough for 10,000 agents.
 */
const QUEUED_MESSAGES = 40_000;
/** The advert of an agent takes some 20 KB. A client that does not read can take no more of the broker's memory. */
const QUEUED_BYTES = 256 * 1024 * 1024;
/** The lines of mosquitto.conf about what waits for a client. */
export const MOSQUITTO_QUEUE = [
  `max_queued_messages ${QUEUED_MESSAGES}`,
  `max_queued_bytes ${QUEUED_BYTES}`,
] as const;
/** Retained messages are published again at each connect, so the broker saves them seldom, which spares an SD card. */
const AUTOSAVE_S = 300;

const SALT_BYTES = 12;
const HASH_BITS = 512;
const PASSWORD_BYTES = 32;

/**
 * @param paths folders as the broker sees them; they may be the same folder
 * @param listen address and port; in a container all addresses, since the published port limits access there
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
${MOSQUITTO_QUEUE.join("\n")}
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
 * One access list for all agents, present and future: an agent's user name is its id, and `%u` stands for it. Mosquitto
 * refuses everything that the list does not name.
 * @param devices topics of other programs whose devices the bridge hosts (`deviceTopics`)
 */
export function mosquittoAcl(prefix: string, devices: readonly string[] = []): string {
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
    ...devices.map((topic) => `topic readwrite ${topic}`),
    "",
  ].join("\n");
}

/**
 * Returns the topics on which the bridge meets the devices of other programs: those that a person's own access list gives to
 * these programs. It gives the bridge no rights to more of our own topics.
 * @param local the text of that list
 */
export function deviceTopics(local: string, prefix: string): string[] {
  const topics = [...local.matchAll(/^topic (?:read |write |readwrite )?(?!deny )(.+)$/gm)].map(
    ([, topic = ""]) => topic.trim(),
  );
  const isOthers = (topic: string) =>
    !/^[#+$]/.test(topic) && topic !== prefix && !topic.startsWith(`${prefix}/`);
  return [...new Set(topics)].filter(isOthers);
}

/** Returns 256 random bits as text that needs no quotes in any file. */
export function newPassword(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(PASSWORD_BYTES)));
}

/** Returns a line of Mosquitto's password file. */
export async function passwordLine(user: string, password: string): Promise<string> {
  return `${user}:${await passwordHash(password)}`;
}

/** `$7$rounds$salt$hash`, PBKDF2 with SHA-512 (mosquitto_passwd(1)). */
export async function passwordHash(password: string): Promise<string> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES));
  const key = await crypto.subtle.importKey("raw", utf8(password), "PBKDF2", false, ["deriveBits"]);
  const hash = await crypto.subtle.deriveBits(
    { name: "PBKDF2", hash: "SHA-512", salt, iterations: LOGIN_ROUNDS },
    key,
    HASH_BITS,
  );
  return `$7$${LOGIN_ROUNDS}$${toBase64(salt)}$${toBase64(new Uint8Array(hash))}`;
}

/** Returns why `id` cannot be an agent's user name, or undefined when it can. */
export function refusedAgentUser(id: string): string | undefined {
  if (!AGENT_ID.test(id)) return `agent '${id}': expected 1 to 64 letters, digits, _ or -`;
  if (isReservedId(id)) return `agent '${id}': ${RESERVED_ID}`;
  return undefined;
}
