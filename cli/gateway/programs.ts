/** The doctor's look at programs that sign in: whether they find the sign-in, and at which step one of them stopped. */

import { z } from "@edgecall/core/protocol/parse.ts";
import { messageOf } from "@edgecall/node/log.ts";
import { type Finding, fine, left, wrong } from "../service/checks/findings.ts";
import { type Gateway, GatewayError } from "./gateway.ts";
import { ago } from "./times.ts";

const link = "sign-in";
const DOCUMENTS = "GET /.well-known/oauth-protected-resource/mcp";
/** A program asks for its token, and then for tools, at once. */
const SLOW_MS = 120_000;
const ANSWER_WITHIN_MS = 10_000;

const Metadata = z.looseObject({ resource: z.string() });
const Grants = z.looseObject({
  grants: z.array(
    z.looseObject({
      client: z.string(),
      person: z.string(),
      state: z.string(),
      made_at: z.number(),
      token_at: z.nullable(z.number()),
      ended_at: z.nullable(z.number()),
      ended_by: z.nullable(z.string()),
    }),
  ),
});

/** @returns none where the gateway has no sign-in: an older one, or `OAUTH=off` */
export async function findPrograms(gateway: Gateway, now: number): Promise<Finding[]> {
  try {
    const { resource } = await gateway.json(Metadata, DOCUMENTS);
    if (resource !== `${gateway.url}/mcp`)
      return [
        wrong(
          link,
          `programs that are given ${gateway.url}/mcp are told to expect ${resource}, and give up`,
          `give them ${resource}, or set PUBLIC_URL of the gateway to ${gateway.url}`,
        ),
      ];
    const foreign = await foreignPaths(gateway.url);
    if (foreign.length > 0)
      return [inFront(`something else than the gateway answers at ${foreign.join(", ")}`)];
    const { grants } = await gateway.json(Grants, "GET /v1/oauth/grants");
    const count = grants.filter(({ state }) => state === "connected").length;
    const stopped = grants.filter(
      ({ state, token_at, made_at }) =>
        ["consented", "token_given"].includes(state) && now - (token_at ?? made_at) > SLOW_MS,
    );
    const said = `programs find it at ${resource}; ${count} connected`;
    return [fine(link, said), ...stopped.map((grant) => stoppedAt(grant, now))];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    if (error.kind !== "foreign") return [];
    return [inFront(messageOf(error))];
  }
}

/** Programs cannot pass a page in front of these addresses, and say nothing. */
function inFront(says: string): Finding {
  return wrong(
    link,
    says,
    "take /.well-known/, /oauth/register, /oauth/token, /oauth/revoke and /mcp out of what stands in front of the gateway (Cloudflare Access, a bot rule)",
  );
}

/** Asks as a program does that is not signed in yet. @returns the addresses at which something else answers than JSON */
async function foreignPaths(url: string): Promise<string[]> {
  const form = { method: "POST", body: new URLSearchParams() };
  const requests: [path: string, init: RequestInit][] = [
    ["/.well-known/oauth-authorization-server", {}],
    ["/oauth/register/none", {}],
    ["/oauth/token", form],
    ["/oauth/revoke", form],
    ["/mcp", { method: "POST", body: "{}", headers: { "content-type": "application/json" } }],
  ];
  const isForeign = async ([path, init]: (typeof requests)[number]) => {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await fetch(url + path, { ...init, redirect: "manual", signal }).catch(() => undefined);
    await answer?.body?.cancel();
    const type = answer?.headers.get("content-type") ?? "";
    return !answer || !/^application\/json\b/.test(type);
  };
  const found = await Promise.all(
    requests.map(async (one) => ({ path: one[0], isForeign: await isForeign(one) })),
  );
  return found.filter(({ isForeign }) => isForeign).map(({ path }) => path);
}

function stoppedAt(
  { client, person, token_at, made_at }: z.infer<typeof Grants>["grants"][number],
  now: number,
): Finding {
  const who = `${client} of ${person}`;
  return token_at === null
    ? left(
        link,
        `${who}: registered, consented ${ago(made_at, now)}, and never came for its token`,
        "connect it again; if it stops there again, enter a client by hand (docs/using/connect.md)",
      )
    : left(
        link,
        `${who}: registered, consented, token given ${ago(token_at, now)}, no request since`,
        "look at what stands in front of /mcp: Cloudflare Access, a bot rule, a proxy",
      );
}
