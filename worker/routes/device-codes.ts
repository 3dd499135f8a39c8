/** Pairs new devices: an administrator makes a code (`/v1/device-codes`), and the device trades it for keys (`/pair`). */
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { fingerprint } from "@edgecall/core/protocol/signing.ts";
import type { Context } from "hono";
import { AgentId, BrokerForDevice, CODE_END, PairBody, type PairResult } from "../api/device-codes.ts";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { countAddress, countGuess } from "../http/rate-limits.ts";
import { pathName, readBody } from "../http/request.ts";
import { isNamedHome } from "../http/tokens.ts";
import { readSettings } from "../settings/settings.ts";
import { HOME_ID } from "../settings/tokens.ts";
import { gatewayOrigin, serveInstaller, serveProgram } from "./install-files.ts";
import { serveManifest } from "./program-manifest.ts";

const NewCode = z.strictObject({
  agent: z.optional(z.union([z.literal(BRIDGE), AgentId])),
  broker: z.optional(BrokerForDevice),
});
/** These routes need no token: a new device has none. */
export const joining = newRoutes();

joining.get("/install.sh", serveInstaller);
joining.get("/edgecall.cjs", serveProgram);
joining.get("/edgecall.json", serveManifest);
joining.post("/pair", pairDevice);

export const deviceCodes = newRoutes();

deviceCodes.post("/v1/device-codes", makeCode);
deviceCodes.get("/v1/device-codes/:code", showCode);
// The names before 0.3.
deviceCodes.post("/v1/pairings", makeCode);
deviceCodes.get("/v1/pairings/:code", showCode);

/** Trades a code for keys. A repeat with the same code and key gets the same answer, and whether the device is online. */
async function pairDevice(c: Context<App>): Promise<Response> {
  // Every code counts as a guess, and a code that names no home of ours wakes no object.
  await countAddress(c);
  await countGuess(c);
  const body = await readBody(c, PairBody);
  // Read first: a wrong setting must not use up the code.
  const { brokerUrl } = readSettings(c.env);
  const { home, end } = partsOf(body.code);
  if (end === undefined || !isNamedHome(c.env, home)) throw problem({ ok: false, problem: "wrong_code" });
  const paired = await homeOf(c.env, home).pairDevice(body, end);
  if (!paired.ok) throw problem(paired);
  const { welcome } = paired;
  const broker = welcome.broker ?? (brokerUrl === undefined ? null : { url: brokerUrl });
  return c.json({ home, agent_id: body.agent_id, ...welcome, broker });
}

/** Body: `{}`, or `agent` (the code may replace its key) and `broker` (what the device is told about it). */
async function makeCode(c: Context<App>): Promise<Response> {
  const { home, name: by } = requireScope(c, "admin");
  const { agent, broker } = await readBody(c, NewCode);
  const made = await homeOf(c.env, home).makeDeviceCode({ agent, broker, by });
  if (!made)
    throw new HttpError(409, "too_many", "too many codes are open; the first of them expire in 10 minutes");
  const code = `${home}-${made.end}`;
  const name = agent === undefined ? "" : agent === BRIDGE ? " --with-bridge" : ` --name ${agent}`;
  const command = `curl -fsS ${gatewayOrigin(c)}/install.sh | sudo sh -s -- ${code}${name}`;
  return c.json({ code, command, expires_at: made.expiresAt });
}

/** Answers with the state of a code: `open`, `used` (with the agent and whether it is online) or `expired`. */
async function showCode(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const { home, end } = partsOf(pathName(c, "code", /^[A-Za-z0-9-]{1,100}$/, "a device's code"));
  if (end === undefined || home !== token.home)
    throw new HttpError(404, "not_found", "there is no such code");
  const state = await homeOf(c.env, token.home).deviceCode(end);
  const key =
    state.state === "used"
      ? (await homeOf(c.env, token.home).keys()).agents.find(({ agent }) => agent === state.agent)
      : undefined;
  return c.json({ ...state, ...(key && { fingerprint: await fingerprint(key.public_key) }) });
}

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
  not_for_bridge: [
    409,
    "bridge: this code is for a device; 'Add the home's bridge' in the console, or 'edgecall pair --with-bridge', makes one for it",
  ],
} as const;
