/**
 * `GET /bridge`: the socket of a bridge. The bridge has a token of the settings (`BRIDGE_TOKENS`), or makes one with its own
 * key. Everything that needs no key is checked before any object is woken.
 */
import { BRIDGE, isFresh, STALE_TOKEN, splitBridgeToken } from "@edgecall/core/protocol/bridge-token.ts";
import { STANDBY } from "@edgecall/core/protocol/frames.ts";
import type { Context } from "hono";
import { UNSIGNED_BRIDGE } from "../api/keys.ts";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { bridgeToken } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { countAddress, countGuess, networkOf } from "../http/rate-limits.ts";
import { readSettings } from "../settings/settings.ts";
import type { BridgeToken } from "../settings/tokens.ts";
import { isNamedHome } from "../settings/tokens.ts";

/** The route checks the bridge's own token, so it needs no token of the API. */
export const bridgeSocket = newRoutes();

bridgeSocket.get("/bridge", acceptBridge);

/** The home and name of a bridge's token. `signed`: a token that the bridge made with its key, which Home has to check. */
type Caller = Pick<BridgeToken, "home" | "name"> & { signed?: string };

async function acceptBridge(c: Context<App>): Promise<Response> {
  const { home, name, signed } = await readCaller(c);
  // No page in a browser may connect, so an Origin is refused.
  if (c.req.header("origin") !== undefined)
    throw new HttpError(403, "forbidden", "a bridge does not come from a web page");
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket")
    throw new HttpError(426, "upgrade_required", "expected a WebSocket upgrade");
  // Checked last and with the same error as an unknown key, so that nobody learns which homes exist.
  if (!isNamedHome(c.env, home)) throw new HttpError(401, "unauthorized", UNSIGNED_BRIDGE);
  const answer = await homeOf(c.env, home).fetch(
    new Request("https://object/bridge", {
      headers: {
        upgrade: "websocket",
        "x-edgecall-bridge": name,
        "x-edgecall-origin": new URL(c.req.url).origin,
        ...(signed !== undefined && { "x-edgecall-token": signed }),
        ...(c.req.header(STANDBY) !== undefined && { [STANDBY]: "1" }),
      },
    }),
  );
  if (signed !== undefined) await weigh(c, home, answer.status !== 401);
  return answer;
}

/**
 * Home and network of each paired bridge that has connected to this isolate. Bridges dial often (one that waits for another
 * to leave, all the time), and must not use up the guesses of people in their network.
 */
const knownBridges = new Set<string>();
const KNOWN_MAX = 1_000;

const placeOf = (c: Context<App>, home: string) => `${home} ${networkOf(c)}`;

/** @param isRight true when Home knows the key @throws HttpError 429 */
async function weigh(c: Context<App>, home: string, isRight: boolean): Promise<void> {
  const place = placeOf(c, home);
  if (isRight) {
    if (knownBridges.size >= KNOWN_MAX) knownBridges.clear();
    knownBridges.add(place);
    // An unknown bridge was counted before Home was asked.
  } else if (knownBridges.delete(place)) await countGuess(c);
}

/** @throws HttpError 401, 429 */
async function readCaller(c: Context<App>): Promise<Caller> {
  const bearer = /^Bearer (\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
  const claims = splitBridgeToken(bearer)?.claims;
  if (!claims) {
    const token = await bridgeToken(c);
    if (token) return token;
    throw new HttpError(401, "unauthorized", "a bridge's bearer token is needed");
  }
  await countAddress(c);
  // Every token counts as a guess: only the object knows whether it is right.
  if (!knownBridges.has(placeOf(c, claims.home))) await countGuess(c);
  const own = [c.req.url, readSettings(c.env).publicUrl].flatMap((url) => (url ? [new URL(url).host] : []));
  if (!own.includes(claims.for))
    throw new HttpError(401, "unauthorized", `the bridge's token is not for ${own.join(" or ")}`);
  const now = Date.now();
  if (!isFresh(claims, now)) {
    c.header("date", new Date(now).toUTCString());
    throw new HttpError(401, STALE_TOKEN, "the bridge's clock is wrong");
  }
  return { home: claims.home, name: BRIDGE, signed: bearer };
}
