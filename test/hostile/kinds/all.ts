/** The corpus: each kind of request, with its share of a thousand. */
import fc from "fast-check";
import type { HostileRequest } from "../request.ts";
import { encodings, largeBodies } from "./bodies.ts";
import { consoleForms } from "./console.ts";
import { mcp } from "./mcp.ts";
import { media } from "./media.ts";
import { cursors, messages } from "./messages.ts";
import { oauth } from "./oauth.ts";
import { openai } from "./openai.ts";
import { peers } from "./peers.ts";
import { push } from "./push.ts";
import { raw } from "./raw.ts";
import { relay } from "./relay.ts";
import { routes } from "./routes.ts";
import { rules } from "./rules.ts";
import { sockets } from "./sockets.ts";
import { scopes, tokens } from "./tokens.ts";
import { webhooks } from "./webhooks.ts";

const CORPUS = {
  tokens: { weight: 120, arbitrary: tokens },
  scopes: { weight: 40, arbitrary: scopes },
  messages: { weight: 140, arbitrary: messages },
  cursors: { weight: 80, arbitrary: cursors },
  openai: { weight: 150, arbitrary: openai },
  mcp: { weight: 130, arbitrary: mcp },
  oauth: { weight: 60, arbitrary: oauth },
  webhooks: { weight: 120, arbitrary: webhooks },
  media: { weight: 60, arbitrary: media },
  console: { weight: 50, arbitrary: consoleForms },
  relay: { weight: 40, arbitrary: relay },
  peers: { weight: 30, arbitrary: peers },
  push: { weight: 50, arbitrary: push },
  rules: { weight: 50, arbitrary: rules },
  routes: { weight: 70, arbitrary: routes },
  bodies: { weight: 4, arbitrary: largeBodies },
  encodings: { weight: 6, arbitrary: encodings },
  sockets: { weight: 15, arbitrary: sockets },
  raw: { weight: 15, arbitrary: raw },
} satisfies Record<string, fc.MaybeWeightedArbitrary<HostileRequest>>;

/** @param only one part of the corpus. @throws when no part has this name */
export function hostileRequests(only?: string): fc.Arbitrary<HostileRequest> {
  const parts: Record<string, { weight: number; arbitrary: fc.Arbitrary<HostileRequest> }> = CORPUS;
  if (only === undefined) return fc.oneof(...Object.values(parts));
  const part = Object.hasOwn(parts, only) ? parts[only] : undefined;
  if (!part) throw new Error(`there is no part '${only}'; there are: ${Object.keys(parts).join(", ")}`);
  return part.arbitrary;
}
