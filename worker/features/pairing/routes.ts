/** Pairs new devices: an administrator makes a code (`/v1/device-codes`), and the device trades it for keys (`/pair`). */

import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import { RESERVED_ID } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { fingerprint } from "@edgecall/core/protocol/signing.ts";
import { AgentId } from "../../kernel/api/agent-ids.ts";
import { homeOf } from "../../kernel/api/stubs.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { text } from "../../kernel/http/fields.ts";
import { countAddress, countGuess } from "../../kernel/http/rate-limits.ts";
import { readBody } from "../../kernel/http/request.ts";
import { json, route } from "../../kernel/http/route.ts";
import { readSettings } from "../../kernel/settings/settings.ts";
import { HOME_ID, isNamedHome } from "../../kernel/settings/tokens.ts";
import { BrokerForDevice, CODE_END, type CodeState, PairBody, type PairResult } from "./contract.ts";
import { gatewayOrigin, serveInstaller, serveProgram } from "./install-files.ts";
import { pairingAt } from "./pairing-api.ts";

const NewCode = z.strictObject({
  /** The agent whose key the code may replace; `@bridge` for the home's bridge. */
  agent: z.optional(z.union([z.literal(BRIDGE), AgentId])),
  /** What the device is told about its broker. */
  broker: z.optional(BrokerForDevice),
});
/** These routes need no token: a new device has none. */
export const joining = newRoutes();

joining.get("/install.sh", serveInstaller);
joining.get("/edgecall.cjs", serveProgram);

/**
 * Trades a code for keys. A repeat with the same code and key gets the same answer, and whether the device is online. 400
 * `reserved_id`; 403 `wrong_code`; 409 `has_a_key`, `group_name`, `not_for_bridge`, `other_agent`.
 */
route(joining, "POST /pair", { reads: PairBody }, async (c) => {
  // Every code counts as a guess, and a code that names no home of ours wakes no object.
  await countAddress(c);
  await countGuess(c);
  const body = await readBody(c, PairBody);
  // Read first: a wrong setting must not use up the code.
  const { brokerUrl } = readSettings(c.env);
  const { home, end } = partsOf(body.code);
  if (end === undefined || !isNamedHome(c.env, home)) throw problem({ ok: false, problem: "wrong_code" });
  const paired = await pairingAt(c.env, home).pair(body, end);
  if (!paired.ok) throw problem(paired);
  const { welcome } = paired;
  const broker = welcome.broker ?? (brokerUrl === undefined ? null : { url: brokerUrl });
  return json(c, { home, agent_id: body.agent_id, ...welcome, broker });
});

export const deviceCodes = newRoutes();

/**
 * Makes a code that pairs one new device. `agent` is the device whose key the code may replace; `@bridge` makes its device
 * the home's bridge too.
 */
const makeCode = route(
  deviceCodes,
  "POST /v1/device-codes",
  { scope: "admin", confirm: true, body: NewCode },
  async (c, { token: { home, name: by }, body: { agent, broker } }) => {
    const made = await pairingAt(c.env, home).makeCode({ agent, broker, by });
    if (!made)
      throw new HttpError(409, "too_many", "too many codes are open; the first of them expire in 10 minutes");
    const code = `${home}-${made.end}`;
    const name = agent === undefined ? "" : agent === BRIDGE ? " --with-bridge" : ` --name ${agent}`;
    const command = `curl -fsS ${gatewayOrigin(c)}/install.sh | sudo sh -s -- ${code}${name}`;
    return json(c, { code, command, expires_at: made.expiresAt });
  },
);

/** Shows the state of a code: `open`, `used` (with the agent and whether it is online) or `expired`. */
const showCode = route(
  deviceCodes,
  "GET /v1/device-codes/:code",
  { scope: "admin", path: { code: text(/^[A-Za-z0-9-]{1,100}$/, "a device's code") } },
  async (c, { token, path: { code } }) => {
    const { home, end } = partsOf(code);
    if (end === undefined || home !== token.home)
      throw new HttpError(404, "not_found", "there is no such code");
    const state: CodeState & { online?: boolean } = await pairingAt(c.env, home).code(end);
    const key =
      state.state === "used"
        ? (await homeOf(c.env, home).agents.keys()).agents.find(({ agent }) => agent === state.agent)
        : undefined;
    const print = key && (await fingerprint(key.public_key));
    return json<CodeState & { online?: boolean; fingerprint?: string }>(c, {
      ...state,
      ...(print !== undefined && { fingerprint: print }),
    });
  },
);

// The names before 0.3.
deviceCodes.post("/v1/pairings", makeCode);
deviceCodes.get("/v1/pairings/:code", showCode);

/** Upper and lower case are alike, since a person may have typed the code. */
function partsOf(code: string): { home: string; end: string | undefined } {
  const at = code.lastIndexOf("-");
  const home = code.slice(0, Math.max(at, 0)).toLowerCase();
  const end = code.slice(at + 1).toUpperCase();
  return { home, end: HOME_ID.test(home) && CODE_END.test(end) ? end : undefined };
}

function problem(refused: PairResult & { ok: false }): HttpError {
  const [status, words] =
    refused.problem === "other_agent"
      ? ([409, `agent_id: this code is for '${refused.agent}': --name ${refused.agent}`] as const)
      : PROBLEMS[refused.problem];
  return new HttpError(status, refused.problem, words);
}

/** Why a device may not join: status and words. */
const PROBLEMS = {
  wrong_code: [403, "code: wrong, used or expired; the console's 'Add a device' makes a new one"],
  not_a_key: [400, "public_key: expected an Ed25519 public key, 32 bytes as base64url"],
  has_a_key: [
    409,
    "agent_id: another device has this name and a key; choose another with --name, or have the console make a code that replaces its key",
  ],
  reserved_id: [400, `agent_id: ${RESERVED_ID}`],
  group_name: [409, "agent_id: this is the name of a group of agents; choose another with --name"],
  not_for_bridge: [
    409,
    "bridge: this code is for a device; 'Add the home's bridge' in the console, or 'edgecall pair --with-bridge', makes one for it",
  ],
} as const;
