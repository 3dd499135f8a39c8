/**
 * `GET /edgecall.json?home=…&key=…&nonce=…`: describes the program that this gateway has for devices, signed with the home's key.
 *
 * It needs no token: a device proves that it is paired by naming the key that it obeys. A caller with another key learns nothing,
 * not even whether the home exists.
 */

import { VERSION } from "@edgecall/core/protocol/names.ts";
import { PROGRAM_NONCE } from "@edgecall/core/protocol/program.ts";
import type { Context } from "hono";
import type { App } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { countAddress, countGuess } from "../../kernel/http/rate-limits.ts";
import { isNamedHome } from "../../kernel/settings/tokens.ts";
import { updatesAt } from "./updates-api.ts";

/**
 * SHA-256 and size of `/edgecall.cjs`, filled in by the build that made both. It is not read from the asset at request time, because
 * the home would then sign whatever the asset holds. Absent when the Worker was built without the program.
 */
declare const EDGECALL_PROGRAM: `${string} ${number}` | undefined;

export async function serveManifest(c: Context<App>): Promise<Response> {
  // Every request counts as a guess, because it wakes the object.
  await countAddress(c);
  await countGuess(c);
  if (typeof EDGECALL_PROGRAM === "undefined")
    throw new HttpError(404, "not_found", "this gateway was deployed without the program for devices");
  const { home = "", key = "", nonce = "" } = c.req.query();
  // Only a valid nonce is signed, and only by a home that exists.
  const isAsked = PROGRAM_NONCE.test(nonce) && isNamedHome(c.env, home);
  const [sha256, bytes] = EDGECALL_PROGRAM.split(" ");
  const body = JSON.stringify({ version: VERSION, sha256, bytes: Number(bytes), nonce });
  const signed = isAsked && (await updatesAt(c.env, home).signManifest(key, body));
  if (signed) return c.body(signed);
  throw new HttpError(404, "not_found", "no home of this gateway has this key; pair the device again");
}
