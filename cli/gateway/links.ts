/** The checks of the doctor, one for each link between a person and a device. Each has its own time limit. */
import { BROKER_UNREACHABLE } from "@edgecall/core/protocol/frames.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { conditionFindings, type Finding, fine, left, wrong } from "../service/checks/findings.ts";
import { readAgents } from "./agent-pages.ts";
import { type Gateway, GatewayError } from "./gateway.ts";
import { type Agent, Status, Turn } from "./shapes.ts";
import { ago, took } from "./times.ts";

/** A cold Worker answers within a second; over a bad connection within a few. */
const GATEWAY_WITHIN_MS = 10_000;
/** A ping takes milliseconds; over a bad connection a second or two. The gateway itself waits longer. */
const PING_TIMEOUT_MS = 3_000;
const PING_WITHIN_MS = 5_000;
/** Enough for a small model on a small machine, with one retry. */
const MODEL_WITHIN_MS = 60_000;
const CANCEL_WITHIN_MS = 5_000;

const Health = z.looseObject({ ok: z.literal(true), version: z.string() });

/** Checks, without the token, that a gateway answers at all. */
export async function findGateway(gateway: Gateway): Promise<Finding> {
  const link = "gateway";
  const begun = performance.now();
  try {
    const { version } = await gateway.json(Health, "GET /healthz", { withinMs: GATEWAY_WITHIN_MS });
    return fine(link, `${version}, answers in ${took(performance.now() - begun)}`);
  } catch (error) {
    const says = messageOf(error);
    const todo =
      error instanceof GatewayError && error.kind === "unreachable"
        ? `curl ${gateway.url}/healthz must answer; on Cloudflare: npx wrangler deployments list`
        : "something else answers there: correct the address with `edgecall login URL`";
    return wrong(link, says, todo);
  }
}

/** The gateway is upgraded first, then the programs at home. */
const UPGRADES = "docs/guides/upgrade.md has the commands";

const LOG_OF_GATEWAY =
  "its log has more: the terminal of `edgecall start`, at home journalctl -u edgecall-gateway -n 50, on Cloudflare npx wrangler tail";

export type HomeFound = { finding: Finding; status?: Status; agents: Agent[] };

/** Checks that the gateway knows the token, and reads what the token may see of the home. */
export async function findHome(gateway: Gateway): Promise<HomeFound> {
  const link = "token";
  try {
    const [status, { agents }] = await Promise.all([
      gateway.json(Status, "GET /v1/status", { withinMs: GATEWAY_WITHIN_MS }),
      readAgents(gateway, { asking: { withinMs: GATEWAY_WITHIN_MS } }),
    ]);
    return { finding: fine(link, `opens the home '${status.home}'`), status, agents };
  } catch (error) {
    const says = messageOf(error);
    const kind = error instanceof GatewayError ? error.kind : "failed";
    if (kind === "unauthorized" || kind === "forbidden") {
      const todo =
        "`edgecall login` with the right one; a new one on Cloudflare: `edgecall deploy --new-tokens`";
      return { finding: wrong(link, says, todo), agents: [] };
    }
    // The token is not known to be wrong.
    return { finding: wrong("gateway", says, LOG_OF_GATEWAY), agents: [] };
  }
}

/** The bridge's own finding and the broker's say these. */
const SAID_ELSEWHERE = ["version", "broker_unreachable"];

/** Lists what is wrong with the gateway's rows and with the bridge. A wrong version is said where the bridge is turned away. */
export function findConditions({ bridge, conditions }: Status): Finding[] {
  const ofBridge = bridge.conditions?.filter(({ code }) => !SAID_ELSEWHERE.includes(code));
  return [...conditionFindings("gateway", conditions), ...conditionFindings("bridge", ofBridge)];
}

/** Checks the bridge's socket. The gateway counts it as lost 75 s after its last sign of life. */
export function findBridge({ bridge }: Status): Finding {
  const link = "bridge";
  if (bridge.problem !== undefined) return wrong(link, `turned away: ${bridge.problem}`, UPGRADES);
  if (bridge.online) {
    return fine(link, `${bridge.id ?? ""} ${bridge.version ?? ""} is connected`.trim());
  }
  if (bridge.id === null) {
    const todo = "`edgecall pair --with-bridge`, and its command on the home's first machine";
    return wrong(link, "none has ever connected", todo);
  }
  return wrong(
    link,
    `${bridge.id} is not connected, last seen ${ago(bridge.last_seen, Date.now())}`,
    "at home: is its machine on and online? Then there: sudo edgecall bridge doctor",
  );
}

/**
 * Checks the broker, which the gateway does not see itself. An agent's answer, or the bridge's reason why no agent is online,
 * shows how it is.
 * @param heard true if an agent answered, or the bridge counts one as online
 */
export function findBroker({ bridge }: Status, agents: readonly Agent[], isReached: boolean): Finding {
  const link = "broker";
  const [told] = conditionFindings(
    link,
    bridge.conditions?.filter(({ code }) => code === "broker_unreachable"),
  );
  if (told) return told;
  if (agents.some(({ reason }) => reason === BROKER_UNREACHABLE)) {
    const todo =
      "at home: does it run (systemctl status mosquitto); are the bridge's MQTT_URL and password right?";
    return wrong(link, "the bridge does not reach it", todo);
  }
  if (isReached) return fine(link, "passes on messages of agents");
  const todo = "on the bridge's machine: sudo edgecall bridge doctor, or curl http://127.0.0.1:8788/readyz";
  return left(link, "not known: no agent has answered over it", todo);
}

/** Agents that are pinged when none is named: each ping is a request, and of these the gateway takes a bounded number a minute. */
const PINGED_MAX = 20;

/**
 * Pings agents that should be online, in a large home some of them; with a name, only that agent, which must be online. Devices of the
 * broker answer no ping.
 */
export async function findAgents(
  gateway: Gateway,
  { agents, status }: HomeFound,
  wanted: string | undefined,
): Promise<Finding[]> {
  const link = "agent";
  const chosen = wanted === undefined ? agents : agents.filter(({ id }) => id === wanted);
  if (chosen.length === 0) {
    if (wanted !== undefined && (await hasKey(gateway, wanted))) {
      const todo = "on the device: does its agent run, and reach the home's broker? edgecall agent doctor";
      return [wrong(link, `${wanted} has its key, and was never online`, todo)];
    }
    const says = wanted === undefined ? "this home knows none" : `this home knows no ${wanted}`;
    const todo = "`edgecall pair`, and its command on the device (docs/guides/first-pi.md)";
    return [wrong(link, says, todo)];
  }
  // An offline agent is a fault if it was named, or if there is no other.
  const alone = !chosen.some(({ online }) => online);
  const machines = chosen.filter(({ hosted }) => hosted !== true);
  const online = machines.filter((agent) => agent.online);
  const more = Math.max(0, online.length - PINGED_MAX);
  const checked = more === 0 ? machines : online.slice(0, PINGED_MAX);
  const pinged = await Promise.all(
    checked.map(async (agent): Promise<Finding[]> => {
      const told = conditionFindings(link, agent.conditions?.filter(isExtra), agent.id);
      if (!agent.online) return [off(agent, alone), ...told];
      const problem = agent.foreign ? undefined : versionProblem("agent", agent.version, status?.version);
      if (problem === undefined) return [await ping(gateway, agent.id), ...told];
      const says = `${agent.id} is online, and is not called: ${problem}`;
      return [wrong(link, says, UPGRADES), ...told];
    }),
  );
  const findings = [...pinged.flat(), ...findHosted(chosen, wanted !== undefined)];
  if (more === 0) return findings;
  const says = `${more} more are online and were not asked, ${machines.length - online.length} are offline`;
  return [...findings, left(link, `${says}; name one to check it`)];
}

function findHosted(chosen: readonly Agent[], isNamed: boolean): Finding[] {
  const hosted = chosen.filter((agent) => agent.hosted === true);
  const told = hosted.flatMap(({ id, conditions }) =>
    conditionFindings("agent", conditions?.filter(isExtra), id),
  );
  const online = hosted.filter((agent) => agent.online).length;
  const [first] = hosted;
  if (first === undefined) return [];
  if (online === 0 && isNamed) return [off(first, true), ...told];
  const says = isNamed
    ? `${first.id} is a device of the broker, and is online`
    : `${online} of ${hosted.length} devices of the broker are online`;
  return [online === 0 ? left("agent", says) : fine("agent", says), ...told];
}

/** A call to such a group goes to the agent of that name. */
export function findGroups(agents: readonly Agent[]): Finding[] {
  const ids = new Set(agents.map(({ id }) => id));
  const groups = new Set(
    agents.flatMap(({ group }) => (group !== undefined && ids.has(group) ? [group] : [])),
  );
  return [...groups].map((group) =>
    wrong(
      "agent",
      `'${group}' is an agent and a group, so the group cannot be called`,
      "give the group another name: `group` in agent.toml",
    ),
  );
}

/** These two are said with the agent's presence. */
function isExtra({ code }: { code: string }): boolean {
  return code !== "offline" && code !== "version";
}

function off({ id, reason, last_seen, hosted }: Agent, isFault: boolean): Finding {
  const link = "agent";
  const says = `${id} is offline${reason === undefined ? "" : `: ${reason}`}; last seen ${ago(last_seen, Date.now())}`;
  if (!isFault) return left(link, says);
  const onIt = hosted
    ? "is it on, and does it reach the broker?"
    : "is it on? There: sudo edgecall agent doctor";
  const todo = reason === BROKER_UNREACHABLE ? "see broker, above" : onIt;
  return wrong(link, says, todo);
}

const Keys = z.looseObject({
  /** Absent from an older gateway, which sends all keys at once. */
  next: z.optional(z.nullable(z.string())),
  keys: z.array(z.looseObject({ agent: z.string(), revoked_at: z.nullable(z.number()) })),
  unsigned: z.array(z.looseObject({ agent: z.string(), served: z.boolean() })),
});

/** @returns none for a token that may not see them */
async function keysOf(gateway: Gateway): Promise<z.infer<typeof Keys>> {
  const all: z.infer<typeof Keys> = { keys: [], unsigned: [] };
  let after: string | undefined;
  do {
    const query = { limit: 1_000, after };
    const page: z.infer<typeof Keys> = await gateway
      .json(Keys, "GET /v1/keys", { query, withinMs: GATEWAY_WITHIN_MS })
      .catch(() => ({ keys: [], unsigned: [], next: null }));
    all.keys.push(...page.keys);
    all.unsigned = page.unsigned;
    after = page.next ?? undefined;
  } while (after !== undefined);
  return all;
}

async function hasKey(gateway: Gateway, id: string): Promise<boolean> {
  const { keys } = await keysOf(gateway);
  return keys.some(({ agent, revoked_at }) => agent === id && revoked_at === null);
}

/** Agents that are online but not trusted, which the list of agents does not show. @returns none for a token that may not see keys */
export async function findUntrusted(gateway: Gateway, wanted: string | undefined): Promise<Finding[]> {
  const link = "key";
  const { keys, unsigned } = await keysOf(gateway);
  const found = [
    ...unsigned.filter(({ served }) => !served).map(({ agent }) => ({ agent, why: "has no key here" })),
    ...keys
      .filter(({ revoked_at }) => revoked_at !== null)
      .map(({ agent }) => ({ agent, why: "had its key revoked" })),
  ];
  return found
    .filter(({ agent }) => wanted === undefined || agent === wanted)
    .map(({ agent, why }) => ({
      link,
      is: agent === wanted ? "wrong" : "left",
      says: `${agent} ${why}, so nothing that it says counts`,
      todo: "if it is yours, pair it (docs/guides/first-pi.md)",
    }));
}

async function ping(gateway: Gateway, id: string): Promise<Finding> {
  const link = "agent";
  const begun = performance.now();
  try {
    const { payload } = await gateway.json(PingReport, "POST /v1/agents/{agent}/commands", {
      path: { agent: id },
      body: { command: "ping", payload: { timeout_ms: PING_TIMEOUT_MS } },
      withinMs: PING_WITHIN_MS,
    });
    // An agent that refuses the gateway's signature answers too. It is online, but obeys no command.
    if (payload?.error !== undefined) return wrong(link, `${id} refuses a ping: ${payload.error}`, WRONG_KEY);
    return fine(link, `${id} answers a ping in ${took(performance.now() - begun)}`);
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "forbidden") {
      return left(link, `${id} is online; this token may not ping it (scope command)`);
    }
    const silent = error instanceof GatewayError && error.kind === "unreachable";
    const why = silent ? `no answer within ${took(PING_WITHIN_MS)}` : messageOf(error);
    const says = `${id} is online, and does not answer a ping: ${why}`;
    const todo = `on the device: sudo edgecall agent doctor; where its log says command.refused: ${WRONG_KEY}`;
    return wrong(link, says, todo);
  }
}

const PingReport = z.looseObject({
  report_type: z.string(),
  payload: z.optional(z.looseObject({ error: z.optional(z.string()) })),
});

/** The device has another gateway's key: this one was restored from another home's back-up, or set up anew. */
const WRONG_KEY =
  "import the back-up with the gateway key that the device obeys, or pair it again: edgecall pair --agent ID";

const QUESTION = "This is a test of the connection. Use no tool; answer with the one word: ok";

/** Asks the gateway's model a real question of a few tokens, in a conversation that is deleted afterwards. */
export async function findModel(gateway: Gateway): Promise<Finding> {
  const link = "model";
  const conversation = `doctor-${crypto.randomUUID()}`;
  const begun = performance.now();
  let turn: string | undefined;
  try {
    const asked = await gateway.text("POST /v1/conversations/{id}/messages", {
      path: { id: conversation },
      body: { text: QUESTION },
      withinMs: MODEL_WITHIN_MS,
    });
    const begunTurn = readTurn(asked);
    turn = begunTurn.turn;
    const ended =
      begunTurn.status === "running" ? await settled(gateway, conversation, turn, begun) : begunTurn;
    if (ended === undefined) {
      const todo = "is it overloaded, or still loading? LLM_BASE_URL and LLM_MODEL name it";
      return wrong(link, `no answer within ${took(MODEL_WITHIN_MS)}`, todo);
    }
    if (ended.status === "done") {
      const says = `${ended.model ?? "it"} answers in ${took(performance.now() - begun)}`;
      return fine(link, says);
    }
    if (ended.error?.code === "no_model") return left(link, NO_MODEL);
    const says = ended.answer ?? ended.error?.message ?? ended.status;
    return wrong(link, says, MODEL_TODO);
  } catch (error) {
    return wrong(link, messageOf(error), MODEL_TODO);
  } finally {
    await tidy(gateway, conversation, turn);
  }
}

const NO_MODEL =
  "none is set, so plain sentences alone are understood; choose one in the console (Setup, Model), or with LLM_BASE_URL and LLM_MODEL";
const MODEL_TODO =
  "the gateway's LLM_BASE_URL, LLM_MODEL and the secret LLM_API_KEY: are they right, is there credit left?";

const TurnBegun = z.looseObject({
  turn: z.string(),
  status: z.string(),
  answer: z.optional(z.nullable(z.string())),
  model: z.optional(z.nullable(z.string())),
  error: z.optional(z.looseObject({ code: z.optional(z.string()), message: z.string() })),
});
type TurnBegun = z.infer<typeof TurnBegun>;

function readTurn(text: string): TurnBegun {
  const read = checkJson(TurnBegun, text);
  if (read.ok) return read.value;
  throw new GatewayError("foreign", `the gateway answered with something else: ${read.error}`);
}

/** @returns the turn at its end; undefined when it takes too long */
async function settled(
  gateway: Gateway,
  conversation: string,
  turn: string,
  begun: number,
): Promise<TurnBegun | undefined> {
  while (performance.now() - begun < MODEL_WITHIN_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    const path = { id: conversation, turn };
    const asking = { path, withinMs: GATEWAY_WITHIN_MS };
    const now = await gateway.json(Turn, "GET /v1/conversations/{id}/turns/{turn}", asking);
    if (now.status !== "running") return now;
  }
  return undefined;
}

const LOOK_EVERY_MS = 1_000;

/** Deletes the conversation. A failure is no finding. */
async function tidy(gateway: Gateway, conversation: string, turn: string | undefined): Promise<void> {
  const withinMs = CANCEL_WITHIN_MS;
  const path = { id: conversation };
  try {
    if (turn !== undefined)
      await gateway.text("POST /v1/conversations/{id}/turns/{turn}/cancel", {
        path: { ...path, turn },
        withinMs,
      });
    await gateway.text("DELETE /v1/conversations/{id}", { path, withinMs });
  } catch {}
}
