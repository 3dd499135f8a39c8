/** A signed request to another home: over HTTPS, or directly to an object of this gateway, which may not fetch itself. */

import { isLoopback } from "@edgecall/core/protocol/addresses.ts";
import { lendingPlace, lendingTokenBody, lendingTokenBytes } from "@edgecall/core/protocol/lending-token.ts";
import { withTimeLimit } from "@edgecall/core/time-limit.ts";
import { readUpTo } from "@edgecall/core/web/read-up-to.ts";
import { gatewayKeyOf } from "../../../kernel/home/agents/gateway-key.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { logError } from "../../../kernel/log.ts";
import type { LendingKind, LendingReply } from "../contract.ts";
import { lendingAt } from "../lending-api.ts";

const WITHIN_MS = 10_000;
const ANSWER_MAX_BYTES = 256 * 1024;
/** After a request has begun, nothing repeats it for so long. A request that a crash cut off is repeated then. */
export const LEASE_MS = WITHIN_MS + 2_000;

/** @property from our own side of the grant @property url of the other home's gateway; "": this one */
export type OtherHome = { grant: string; from: "lender" | "borrower"; url: string; home: string };

/** @returns undefined: no answer came that can be read, so it is not known what the request did */
export async function requestOfHome(
  context: HomeContext,
  { grant, from, url, home }: OtherHome,
  kind: LendingKind,
  body: object,
): Promise<LendingReply | undefined> {
  const { env } = context;
  const text = JSON.stringify(body);
  try {
    const claims = await lendingTokenBody(
      { grant, from, for: lendingPlace(url, home, kind) },
      text,
      Date.now(),
    );
    const token = `${claims}.${await gatewayKeyOf(context).signBytes(lendingTokenBytes(claims))}`;
    if (url === "") return await lendingAt(env, home).peer(kind, token, text);
    return await withTimeLimit(WITHIN_MS, async (signal) => {
      const init = {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: text,
        // A redirect would send the token to another place.
        redirect: "manual",
        signal,
      } as const;
      // A stranger gave the address: its name may lead into this network. WEB reaches public addresses alone.
      const { WEB } = env;
      const to = `${url}/v1/peer/${home}/${kind}`;
      const response = await (WEB && !isLoopback(url) ? WEB.fetch(to, init) : fetch(to, init));
      const answer = await readUpTo(response, ANSWER_MAX_BYTES);
      return answer && { status: response.status, body: JSON.parse(new TextDecoder().decode(answer)) };
    });
  } catch (error) {
    logError("peer.request_failed", error, { kind, grant });
    return undefined;
  }
}
