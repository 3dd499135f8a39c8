/**
 * `GET /edgecall.json?home=…&key=…&nonce=…`: which program this gateway has for devices, signed by the home's key.
 *
 * No token: a device shows that it is paired by naming the key that it obeys. Who does not know it learns nothing,
 * not even whether there is such a home.
 */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { PROGRAM_NONCE } from "@edgecall/core/protocol/program.ts";
import type { Context } from "hono";
import { homeOf } from "../api/stubs.ts";
import type { App } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";
import { countAddress, countGuess } from "../http/rate-limits.ts";
import { isNamedHome } from "../http/tokens.ts";

/**
 * SHA-256 and bytes of `/edgecall.cjs`, put here by the build that made both. Not read from the asset when somebody asks: then the home
 * would sign whatever stands there. Absent where the Worker was built without it.
 */
declare const EDGECALL_PROGRAM: `${string} ${number}` | undefined;

export async function serveManifest(c: Context<App>): Promise<Response> {
  // Right or wrong, it counts as a guess: the object is woken for it.
  await countAddress(c);
  await countGuess(c);
  if (typeof EDGECALL_PROGRAM === "undefined")
    throw new HttpError(404, "not_found", "this gateway was deployed without the program for devices");
  const { home = "", key = "", nonce = "" } = c.req.query();
  // Only what may become a part of what is signed, and only of a home that there is.
  const isAsked = PROGRAM_NONCE.test(nonce) && isNamedHome(c.env, home);
  const [sha256, bytes] = EDGECALL_PROGRAM.split(" ");
  const body = JSON.stringify({ version: VERSION, sha256, bytes: Number(bytes), nonce });
  const signed = isAsked && (await homeOf(c.env, home).signManifest(key, body));
  if (signed) return c.body(signed);
  throw new HttpError(404, "not_found", "no home of this gateway has this key; pair the device again");
}
