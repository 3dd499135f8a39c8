/** `/install.sh`, with this gateway's address filled in, and the program that it installs. Both are files of the deploy. */

import type { Context } from "hono";
import type { App } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { countAddress } from "../../kernel/http/rate-limits.ts";
import { originOf } from "../../kernel/http/wait.ts";

/** The script's placeholder for this gateway's address. */
const ADDRESS_MARK = "@GATEWAY@";
/** The address becomes part of a command line and of a script that root runs, so it has no character that a shell interprets. */
const SAFE_ORIGIN = /^https?:\/\/[A-Za-z0-9.:[\]-]+$/;

/** @returns where devices reach this gateway: `PUBLIC_URL`, or the address of this request @throws HttpError 400 */
export function gatewayOrigin(c: Context<App>): string {
  return plainOrigin(originOf(c));
}

/** @throws HttpError 400; workerd refuses such a host itself, other runtimes may not */
export function plainOrigin(origin: string): string {
  if (SAFE_ORIGIN.test(origin)) return origin;
  throw new HttpError(400, "invalid_host", "Host: expected a plain host name");
}

export async function serveInstaller(c: Context<App>): Promise<Response> {
  const origin = gatewayOrigin(c);
  const file = await asset(c, "/install.sh");
  // As plain text a browser shows the script and does not run it.
  return c.body((await file.text()).replaceAll(ADDRESS_MARK, origin), 200, {
    "content-type": "text/plain; charset=utf-8",
  });
}

export async function serveProgram(c: Context<App>): Promise<Response> {
  const file = await asset(c, "/edgecall.cjs");
  return new Response(file.body, { headers: { "content-type": "application/octet-stream" } });
}

async function asset(c: Context<App>, path: string): Promise<Response> {
  await countAddress(c);
  const file = await c.env.ASSETS?.fetch(new Request(new URL(path, c.req.url)));
  if (file?.ok) return file;
  throw new HttpError(404, "not_found", "this gateway was deployed without the program for devices");
}
