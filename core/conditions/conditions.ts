/**
 * Conditions: what is wrong with an agent, a bridge or a gateway, as the program knows it that sees it. This table has the
 * words and the cure of each, so that doctors, lists and the console say the same. The wire has code and parameters alone:
 * words of a device would be a stranger's text.
 */
import { type Condition, PARAMETER_MAX } from "../protocol/conditions.ts";
import { oneLine } from "../tools/one-line.ts";

/** `wrong`: something does not work. `notice`: it may be meant so. */
type Severity = "wrong" | "notice";

/** For a person. */
export type ShownCondition = { code: string; severity: Severity; text: string; cure: string };

type Params = Readonly<Record<string, string | undefined>>;
type Entry = { severity: Severity; text: (params: Params) => string; cure: (params: Params) => string };

const UPGRADES = "docs/guides/upgrade.md has the commands";
const REFUSES = "so it refuses everything but reads";

const TABLE = {
  // Seen by the agent.
  disk_full: {
    severity: "wrong",
    text: ({ path, error }) => `the disk of ${path} is full (${error}), ${REFUSES}`,
    cure: ({ path }) =>
      `on the device: df -h ${path}, then delete what is not needed; it notices within a minute`,
  },
  disk_read_only: {
    severity: "wrong",
    text: ({ path, error }) => `the disk of ${path} is read-only (${error}), ${REFUSES}`,
    cure: () =>
      "on the device: dmesg | grep -i 'remount\\|mmc' has the reason; a card that turns read-only by itself is worn out: replace it, else: sudo mount -o remount,rw /",
  },
  state_unwritable: {
    severity: "wrong",
    text: ({ path, error }) => `it cannot write to ${path} (${error}), ${REFUSES}`,
    cure: ({ path }) => `on the device: ls -ld ${path}; the folder has to belong to the agent's own user`,
  },
  // Seen by the bridge.
  old_numbers: {
    severity: "wrong",
    text: ({ until }) =>
      `its messages are signed, but numbered as older ones than the gateway has, so none counts until ${until}: its clock was ahead once, and it lost its counter.json`,
    cure: ({ agent }) =>
      `edgecall readmit ${agent}, or 'Let it in again' beside it in the console; its program has to be 0.4 or newer. Else pair it again: edgecall pair --agent ${agent}`,
  },
  broker_unreachable: {
    severity: "wrong",
    text: ({ url, error }) => `the bridge does not reach the broker ${url}: ${error}`,
    cure: () =>
      "at home: does it run (systemctl status mosquitto edgecall-broker); are the bridge's MQTT_URL and password right? sudo edgecall bridge doctor",
  },
  broker_cuts: {
    severity: "wrong",
    text: ({ url, times }) =>
      `the broker ${url} ended the bridge's connection ${times} times within a minute without a reason, as it does when another client has the same id`,
    cure: () =>
      "the broker's log has the reason; stop other copies of this bridge, and look for limits of connections or messages",
  },
  home_assistant_unreachable: {
    severity: "wrong",
    text: ({ url, error }) => `the bridge does not reach Home Assistant at ${url}: ${error}`,
    cure: () => "at home: does it run, and is the bridge's HA_URL the address at which it answers?",
  },
  home_assistant_refuses: {
    severity: "wrong",
    text: ({ url }) =>
      `Home Assistant at ${url} refuses the bridge's token: it was revoked, or its user is not active`,
    cure: () =>
      "in the console: Setup, Home Assistant, sign in again; or in Home Assistant: the user's page, Security, Long-lived access tokens, make another one, and set it as the bridge's HA_TOKEN. The old one is tried again once an hour",
  },
  gateway_key_changed: {
    severity: "wrong",
    text: () =>
      "the gateway that the bridge reaches has another key, or another home, than the one that it was paired with: rules that act run as before, and nothing about them is taken from it",
    cure: ({ path }) =>
      `if nobody gave the gateway another key, look whether GATEWAY_URL is right; else at home pair the bridge again, or delete ${path} and restart the bridge, then allow the rules again`,
  },
  gateway_key_damaged: {
    severity: "wrong",
    text: ({ path }) => `${path}, with the gateway's key, is damaged, so no rule that acts is taken`,
    cure: ({ path }) => `at home: delete ${path} and restart the bridge, or pair it again`,
  },
  rules_without_gateway: {
    severity: "wrong",
    text: ({ days }) =>
      `rules that act do nothing: the gateway was not reached for ${days} days, so nobody can say whether they are still wanted`,
    cure: () => "sudo edgecall bridge doctor says why it is not reached; then they go on by themselves",
  },
  rule_overdue: {
    severity: "wrong",
    text: ({ rule }) => `the rule ${rule} was due more than 2 minutes ago and did not run`,
    cure: () =>
      "at home: does the bridge's machine have time to work (uptime), and is its disk full (df -h)? sudo systemctl restart edgecall-bridge",
  },
  rules_unwritten: {
    severity: "wrong",
    text: ({ path, error }) => `${path} cannot be written (${error}), so rules that act send nothing`,
    cure: ({ path }) => `at home: df -h ${path}, then delete what is not needed; it is tried again by itself`,
  },
  // Seen by the gateway.
  offline: {
    severity: "notice",
    text: ({ reason }) => `it is offline: ${reason}`,
    cure: () => "is it on? There: sudo edgecall agent doctor",
  },
  not_verified: {
    severity: "wrong",
    text: ({ reason }) => `${reason}`,
    cure: ({ agent }) =>
      `if nothing else writes to its topics, it has another key than the gateway knows: edgecall pair --agent ${agent}`,
  },
  advert_unreadable: {
    severity: "wrong",
    text: ({ reason }) => `what it says about itself cannot be read: ${reason}`,
    cure: () => "correct the program that publishes it",
  },
  group_name: {
    severity: "wrong",
    text: ({ reason }) => `${reason}`,
    cure: () => "in its agent.toml: give `group` another name",
  },
  version: { severity: "wrong", text: ({ reason }) => `${reason}`, cure: () => UPGRADES },
  second_bridge: {
    severity: "wrong",
    text: ({ bridge }) =>
      `a second bridge of this home is running${bridge === undefined ? "" : ` beside '${bridge}'`}; it waits, and takes over when the first one ends`,
    cure: () => "stop one of the two, or leave it as a spare: calls go through one of them alone",
  },
  // Seen by the machine of a gateway at home.
  rows_full: {
    severity: "wrong",
    text: ({ path, error }) =>
      path === undefined
        ? `the gateway's rows have no room left (${error}), so it can answer only what it need not store`
        : `the disk of the gateway's rows in ${path} is full (${error}), so it can answer only what it need not store`,
    cure: ({ path }) =>
      path === undefined
        ? "delete old conversations, or set AUDIT_KEEP_DAYS and MEDIA_KEEP_DAYS lower"
        : `on the gateway's machine: df -h ${path}, then delete what is not needed; nothing has to be restarted`,
  },
  rows_read_only: {
    severity: "wrong",
    text: ({ path, error }) =>
      `the disk of the gateway's rows in ${path} is read-only (${error}), so it can answer only what it need not store`,
    cure: () =>
      "on the gateway's machine: dmesg has the reason; a card that turns read-only by itself is worn out: replace it, and import the last back-up",
  },
  rows_unwritable: {
    severity: "wrong",
    text: ({ path, error }) => `the gateway may not write to ${path} (${error})`,
    cure: ({ path }) =>
      `on the gateway's machine: ls -l ${path}; it has to belong to the user that runs the gateway (a start with sudo leaves files of root)`,
  },
  rows_damaged: {
    severity: "wrong",
    text: ({ file }) =>
      `the gateway's rows in ${file} are damaged, as after a power cut or on a worn-out card`,
    cure: ({ file }) =>
      `stop the gateway, move ${file} and its -wal and -shm away, start it, and import the last back-up (docs/guides/back-up.md)`,
  },
} satisfies Record<string, Entry>;

type ConditionCode = keyof typeof TABLE;

/** Makes a condition. Parameters are cut and put on one line. */
export function conditionOf(code: ConditionCode, params: Params = {}): Condition {
  const given = Object.entries(params).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, oneLine(value, PARAMETER_MAX)]],
  );
  return given.length === 0 ? { code } : { code, params: Object.fromEntries(given) };
}

/** @param agent its id, for the cure */
export function describeCondition({ code, params = {} }: Condition, agent?: string): ShownCondition {
  const known: Entry | undefined = Object.hasOwn(TABLE, code) ? TABLE[code as ConditionCode] : undefined;
  if (!known)
    return {
      code,
      severity: "notice",
      text: `it tells of '${code}', which this program does not know`,
      cure: UPGRADES,
    };
  const lines = Object.entries(params).map(([name, value]) => [name, oneLine(value, PARAMETER_MAX)]);
  const clean: Params = { ...Object.fromEntries(lines), agent: agent ?? "ID" };
  return { code, severity: known.severity, text: known.text(clean), cure: known.cure(clean) };
}

/** The words of the first one that is wrong, for a list that has one line for each agent. */
export function firstProblem(conditions: readonly ShownCondition[]): string | undefined {
  return conditions.find(({ severity }) => severity === "wrong")?.text;
}
