/** `/install.sh` and the program that it installs: files of the deploy, the script with this gateway's own address. */
import type { Context } from "hono";
import type { App } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";
import { countAddress } from "../http/rate-limits.ts";
import { readSettings } from "../settings/settings.ts";

/** Stands in the script for this gateway's address. */
const ADDRESS_MARK = "@GATEWAY@";
/** It becomes a part of a script that root runs, and of a command line: nothing that a shell would read otherwise. */
const SAFE_ORIGIN = /^https?:\/\/[A-Za-z0-9.:[\]-]+$/;

/** Where devices reach this gateway: `PUBLIC_URL`, or where this request did. @throws HttpError 400 */
export function gatewayOrigin(c: Context<App>): string {
  return plainOrigin(readSettings(c.env).publicUrl ?? new URL(c.req.url).origin);
}

/** @throws HttpError 400. workerd takes no such host, and other runtimes may. */
export function plainOrigin(origin: string): string {
  if (SAFE_ORIGIN.test(origin)) return origin;
  throw new HttpError(400, "invalid_host", "Host: expected a plain host name");
}

export async function serveInstaller(c: Context<App>): Promise<Response> {
  const origin = gatewayOrigin(c);
  const file = await asset(c, "/install.sh");
  // A person may look at it in a browser; nothing there runs it.
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
