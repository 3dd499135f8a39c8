/**
 * The route of a call: where its report belongs, under the home's own MAC. The agent returns it with the report, so that a
 * home that forgot the call in a crash still knows the conversation. It names no parameters, and nobody can redirect it.
 *
 *     base64url of a JSON list "." base64url of its HMAC-SHA-256
 */

import { fromBase64Url, toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import { gatewayKeyOf } from "../agents/gateway-key.ts";
import type { HomeContext } from "../context.ts";
import { KEEP_SETTLED_MS, type LedgerCall } from "./ledger.ts";

/** What a report needs of its call. */
export type RoutedCall = Pick<LedgerCall, "id" | "agent" | "command" | "payload" | "createdAt"> & {
  conversation: string;
};

const FORM = /^([A-Za-z0-9_-]{1,1900})\.([A-Za-z0-9_-]{43})$/;

/** @returns the text for the agent */
export async function sealReturnAddress(home: HomeContext, call: LedgerCall): Promise<string> {
  const gatewayKey = gatewayKeyOf(home);
  const { id, conversation, agent, command, payload, createdAt } = call;
  const claims = [id, conversation, agent, command, payload.tool ?? null, createdAt];
  const body = toBase64Url(utf8(JSON.stringify(claims)));
  const mac = await crypto.subtle.sign("HMAC", await gatewayKey.routeKey(), utf8(body));
  return `${body}.${toBase64Url(new Uint8Array(mac))}`;
}

/**
 * @param agent the one that brings it: a route holds for its own agent alone
 * @returns undefined: it is forged, another agent's, or older than settled calls are kept
 */
export async function openReturnAddress(
  home: HomeContext,
  route: string,
  agent: string,
  now: number,
): Promise<RoutedCall | undefined> {
  const gatewayKey = gatewayKeyOf(home);
  const { name } = home;
  const [, body = "", mac = ""] = FORM.exec(route) ?? [];
  if (body === "") return undefined;
  // verify compares in constant time.
  const isOurs = await crypto.subtle.verify(
    "HMAC",
    await gatewayKey.routeKey(),
    fromBase64Url(mac),
    utf8(body),
  );
  if (!isOurs) return undefined;
  // SAFETY: only sealRoute makes a text with this MAC.
  const [id, conversation, of, command, tool, createdAt] = JSON.parse(
    new TextDecoder().decode(fromBase64Url(body)),
  ) as [string, string, string, string, string | null, number];
  if (of !== agent || !conversation.startsWith(`${name}/`) || createdAt + KEEP_SETTLED_MS <= now)
    return undefined;
  return { id, conversation, agent, command, payload: tool === null ? {} : { tool }, createdAt };
}
