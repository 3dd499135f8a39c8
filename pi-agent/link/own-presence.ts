/**
 * This agent's own presence topic: publishes its birth there, and notices other texts. Another text may be a late will of
 * an earlier connection, a stranger's, or the presence of another device with the same id and key, for instance from a
 * copied SD card. Of two such devices the one that was there first stays.
 */
import { Presence } from "@edgecall/core/protocol/mqtt.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import type { Truths } from "@edgecall/core/protocol/rules.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { Settings } from "../config/settings.ts";
import { presenceText } from "./adverts.ts";
import type { Connection } from "./connection.ts";
import type { MessageSigner } from "./message-signer.ts";
import type { RetainedGuard } from "./retained-guard.ts";
import { Standby } from "./standby.ts";

export type OwnPresenceParts = {
  settings: Pick<Settings, "agentId" | "mqtt">;
  bootId: string;
  topic: string;
  connection: Connection;
  signer: MessageSigner;
  guard: RetainedGuard;
  /** The hash of the rules that this agent watches, and whether those of rules that act are so. */
  rules: () => { rules: string; truths?: Truths | undefined };
  log: Log;
  /** Another device has to be away for this long before this one takes its place. */
  freeAfterMs: number | undefined;
};

export class OwnPresence {
  readonly #parts: OwnPresenceParts;
  /** The birth of this connection, as published. */
  #birth = "";
  /** The broker has had this run's birth: any other run that publishes after it is another device. */
  #isBorn = false;
  /** The birth of an earlier connection. */
  #earlierBirth: string | undefined;
  /** Runs from before this one: this device's own past, or another device with this id. */
  readonly #earlierRuns = new Set<string>();
  #standby: Standby | undefined;
  #isStopping = false;

  constructor(parts: OwnPresenceParts) {
    this.#parts = parts;
  }

  /** Call it for each new connection, before it subscribes. */
  connected(): void {
    if (this.#isBorn) this.#earlierBirth = this.#birth;
  }

  /** Publishes a new birth. */
  async announce(): Promise<void> {
    const { signer, rules } = this.#parts;
    const birth = presenceText("online", "birth", { session: signer.half, ...rules() });
    this.#birth = signer.sign("presence", birth);
    await this.#publishBirth();
  }

  /** A message on the presence topic. */
  onMessage(text: string, retained: boolean): void {
    const { bootId, connection, guard, signer, topic } = this.#parts;
    // Later subscribers find the retained text: it must not be a stranger's, nor an old one of this agent.
    guard.seen(topic, text);
    if (text === this.#birth || !signer.isOwn(text)) return;
    const presence = checkJson(Presence, text);
    if (!presence.ok) return;
    const { boot_id } = presence.value;
    if (boot_id !== undefined && boot_id !== bootId) this.#otherRun(text, boot_id, retained);
    // This may be the late will of an earlier connection.
    if (presence.value.state === "offline" && !retained && connection.connected && !this.#isStopping)
      void this.#publishBirth();
  }

  /** The text of the goodbye. */
  goodbye(): string {
    return this.#parts.signer.sign("presence", presenceText("offline", "shutdown"));
  }

  stop(): void {
    this.#isStopping = true;
    this.#standby?.stop();
  }

  async #publishBirth(): Promise<void> {
    const { connection, guard, topic } = this.#parts;
    guard.published(topic, this.#birth);
    if (await connection.publish(topic, this.#birth, { retain: true })) this.#isBorn = true;
  }

  /**
   * Another run of this id. A text found at the first connection may be this device's own past. A text found at a later
   * connection was published after this run's birth, so it comes from another device.
   */
  #otherRun(text: string, boot: string, retained: boolean): void {
    const { connection, signer } = this.#parts;
    if (connection.connects <= 1) {
      this.#earlierRuns.add(boot);
      // Its numbers are ahead where the clock was, and counter.json is lost. Only this device's key signs them.
      if (retained && signer.outdo(text)) connection.restart();
      return;
    }
    if (!retained || this.#isStopping || this.#earlierBirth === undefined) return;
    if (!signer.isAfter(text, this.#earlierBirth)) return;
    if (this.#earlierRuns.has(boot)) void this.#giveWay(boot);
    // The other device's numbers are ahead: without this the gateway would take this agent's messages for old ones.
    else if (signer.outdo(text)) connection.restart();
  }

  /** Leaves the broker until the other device is gone. */
  async #giveWay(other: string): Promise<void> {
    if (this.#standby) return;
    const { settings, bootId, connection, signer, topic, freeAfterMs, log } = this.#parts;
    const { agentId, mqtt } = settings;
    log("error", "mqtt.duplicate_agent_id", {
      reason: `another device with the id '${agentId}' was here first`,
      other,
      hint: "give each device an agent_id and a key of its own: pair this one again under another id. It waits until the other one is gone",
    });
    this.#standby = new Standby({
      mqtt,
      clientId: `edgecall-${agentId}-${bootId.slice(0, 8)}`,
      topic,
      isAccepted(text) {
        const presence = signer.isOwn(text) ? checkJson(Presence, text) : undefined;
        return (
          presence?.ok === true && presence.value.state === "online" && presence.value.boot_id !== bootId
        );
      },
      ...(freeAfterMs !== undefined && { freeAfterMs }),
    });
    await connection.leave();
    await this.#standby.free;
    this.#standby = undefined;
    // The other device has published adverts of its own meanwhile.
    signer.renewAdverts();
    log("info", "mqtt.duplicate_gone", {});
    connection.start();
  }
}
