/** How this agent's messages leave it: as they are, or stamped and signed when it belongs to a gateway. */
import type { TopicKind } from "@edgecall/core/protocol/names.ts";
import { stamped } from "@edgecall/core/protocol/signing.ts";
import type { Counter } from "./counter.ts";
import { type Identity, signedTextVerifier } from "./identity.ts";

export type MessageSigner = {
  /** A connection is about to be made. @returns its last will, given the text of one */
  connecting(will: string): string;
  /** @param text a JSON object @returns what to publish */
  say(kind: Exclude<TopicKind, "commands">, text: string): string;
  /** Whether a presence on its own topic may be its own; anybody can write there. */
  isMine(presence: string): boolean;
  /**
   * Tells whether a presence that may be its own was said after this one: it is no recording of the past.
   * @param birth as published
   */
  isAfter(presence: string, birth: string): boolean;
  /** From now on everything is newer than this presence. @returns whether it was not already */
  outdo(presence: string): boolean;
};

/** Of an agent that is not paired: only `presence` tells which run of it speaks. */
export function plainSigner(bootId: string): MessageSigner {
  const presence = (text: string) => `${text.slice(0, -1)},"boot_id":${JSON.stringify(bootId)}}`;
  return {
    connecting: presence,
    say: (kind, text) => (kind === "presence" ? presence(text) : text),
    isMine: () => true,
    isAfter: () => true,
    outdo: () => false,
  };
}

export function messageSigner(
  agent: string,
  bootId: string,
  identity: Identity,
  counter: Counter,
): MessageSigner {
  const isSigned = signedTextVerifier(identity.publicKey);
  const say = (kind: TopicKind, text: string, n: number) =>
    identity.sign({ agent, kind }, stamped(text, { boot_id: bootId, n }));
  return {
    connecting(will) {
      counter.connecting();
      return say("presence", will, counter.will);
    },
    say: (kind, text) => say(kind, text, counter.next()),
    isMine: (presence) => isSigned({ agent, kind: "presence" }, presence),
    isAfter: (presence, birth) => numberOf(presence) > numberOf(birth),
    outdo: (presence) => counter.outdo(numberOf(presence)),
  };
}

/** Of a signed text, whose stamp was checked. */
function numberOf(text: string): number {
  return (JSON.parse(text) as { n: number }).n;
}
