/** Stamps and signs this agent's messages. An agent that is not paired publishes them as they are. */
import type { TopicKind } from "@edgecall/core/protocol/names.ts";
import { stamped } from "@edgecall/core/protocol/signing.ts";
import type { Counter } from "./counter.ts";
import type { GatewaySession } from "./gateway-session.ts";
import { type Identity, signedTextVerifier } from "./identity.ts";

export type MessageSigner = {
  /** Call it before each connection. @returns the connection's last will, signed */
  signWill(will: string): string;
  /** This run's half of its session, for the presence; undefined: this agent is not paired. */
  half: string | undefined;
  /** @param text a JSON object @returns the text to publish */
  sign(kind: Exclude<TopicKind, "commands">, text: string): string;
  /** The same for an advert. One that did not change is published on each connection as it was signed first: the gateway has it. */
  signAdvert(kind: "capabilities" | "tools", text: string): string;
  /** Adverts are signed anew, since other texts may have been published in their place. */
  renewAdverts(): void;
  /** The same in the session with the gateway, which costs less; signed while there is none. For what need not outlast it. */
  seal(kind: "reports" | "events", text: string): string;
  /** True if a presence on this agent's topic may be its own. Others can write there too. */
  isOwn(presence: string): boolean;
  /**
   * True if a presence that may be its own was published after `birth`, and is not an old recording.
   * @param birth as published
   */
  isAfter(presence: string, birth: string): boolean;
  /** Makes all later messages newer than this presence of its own. @returns false if they were already */
  outdo(presence: string): boolean;
  /** Gives all later messages numbers above `n`. @returns false if they had them already */
  goAbove(n: number): boolean;
};

/** For an agent that is not paired. Only `presence` names the run. */
export function plainSigner(bootId: string): MessageSigner {
  const presence = (text: string) => `${text.slice(0, -1)},"boot_id":${JSON.stringify(bootId)}}`;
  return {
    signWill: presence,
    half: undefined,
    sign: (kind, text) => (kind === "presence" ? presence(text) : text),
    signAdvert: (_, text) => text,
    renewAdverts: () => {},
    seal: (_, text) => text,
    isOwn: () => true,
    isAfter: () => true,
    outdo: () => false,
    goAbove: () => false,
  };
}

export function messageSigner(
  agent: string,
  bootId: string,
  identity: Identity,
  counter: Counter,
  session: GatewaySession,
): MessageSigner {
  const isSigned = signedTextVerifier(identity.publicKey);
  const sign = (kind: TopicKind, text: string, n: number) =>
    identity.sign({ agent, kind }, stamped(text, { boot_id: bootId, n }));
  const adverts = new Map<TopicKind, { text: string; signed: string }>();
  const goAbove = (n: number) => {
    adverts.clear();
    return counter.outdo(n);
  };
  return {
    signWill(will) {
      counter.connecting();
      return sign("presence", will, counter.will);
    },
    half: session.half,
    sign: (kind, text) => sign(kind, text, counter.next()),
    signAdvert(kind, text) {
      const before = adverts.get(kind);
      if (before?.text === text) return before.signed;
      const signed = sign(kind, text, counter.next());
      adverts.set(kind, { text, signed });
      return signed;
    },
    renewAdverts: () => adverts.clear(),
    seal(kind, text) {
      const place = { agent, kind };
      const body = stamped(text, { boot_id: bootId, n: counter.next() });
      return session.seal(place, body) ?? identity.sign(place, body);
    },
    isOwn: (presence) => isSigned({ agent, kind: "presence" }, presence),
    isAfter: (presence, birth) => numberOf(presence) > numberOf(birth),
    outdo: (presence) => goAbove(numberOf(presence)),
    goAbove,
  };
}

/** The number of a signed text whose stamp was checked. */
function numberOf(text: string): number {
  return (JSON.parse(text) as { n: number }).n;
}
