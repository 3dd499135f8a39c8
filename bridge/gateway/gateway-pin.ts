/**
 * The one gateway key whose rules that act this bridge runs, and its home. Pairing names both (own-key.ts); a bridge with a token alone
 * takes those of its first welcome, and keeps them in `gateway-key.json`. Another key later is refused until a person decides.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { automationBytes, PublicKey, splitSigned } from "@edgecall/core/protocol/signing.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { writeAtomic } from "@edgecall/node/atomic-write.ts";
import { type Verifier, verifierOf } from "@edgecall/node/keypair.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";

const FILE = "gateway-key.json";

const Pinned = z.object({ home: z.string(), key: PublicKey });
type Pinned = z.infer<typeof Pinned>;

/** A pairing by an older program wrote no key. */
type Paired = { home: string; key: string | undefined };

/** A welcome, as far as it says which gateway it is. */
type Claimed = { home: string; gateway_key?: string | undefined };

export class GatewayPin {
  readonly #path: string;
  readonly #log: Log;
  #pinned: Pinned | undefined;
  #verifier: Verifier | undefined;
  /** The file is there and cannot be read: what it says is not known, so no key takes its place. */
  #isDamaged = false;
  #problem: Condition | undefined;

  private constructor(folder: string, log: Log) {
    this.#path = join(folder, FILE);
    this.#log = log;
  }

  /** @param paired what pairing wrote. It counts, whatever a welcome said before */
  static async open(folder: string, paired: Paired | undefined, log: Log): Promise<GatewayPin> {
    const pin = new GatewayPin(folder, log);
    if (paired?.key !== undefined) pin.#take({ home: paired.home, key: paired.key });
    else await pin.#load(paired?.home);
    return pin;
  }

  /** The home whose rules count; undefined: no gateway was seen yet. */
  get home(): string | undefined {
    return this.#pinned?.home;
  }

  /** Another gateway welcomes the bridge, or the file is damaged. It names the cure. */
  get problem(): Condition | undefined {
    return this.#problem;
  }

  /** A gateway has welcomed the bridge. @returns whether it is the one whose rules count */
  async welcomed({ home, gateway_key: key }: Claimed): Promise<boolean> {
    if (this.#isDamaged) return false;
    if (!this.#pinned) {
      if (key === undefined) return false;
      const first = { home, key };
      if (!check(Pinned, first).ok) return false;
      try {
        await writeAtomic(this.#path, `${JSON.stringify(first)}\n`);
      } catch (error) {
        // The next welcome may be another's, so nothing rests on this one.
        this.#log("error", "gateway_key.not_written", { error: messageOf(error) });
        return false;
      }
      this.#take(first);
      this.#log("info", "gateway_key.pinned", { home });
      return true;
    }
    const isOurs = key === this.#pinned.key && home === this.#pinned.home;
    this.#problem = isOurs ? undefined : { code: "gateway_key_changed", params: { path: this.#path } };
    if (!isOurs) this.#log("error", "gateway_key.other", { home: home.slice(0, 64), path: this.#path });
    return isOurs;
  }

  /** @returns the signed JSON of a rule that acts; undefined: its signature is not the gateway's */
  bodyOf(text: string): string | undefined {
    const split = splitSigned(text);
    if (!split || !this.#verifier) return undefined;
    return this.#verifier(automationBytes(split.body), split.signature) ? split.body : undefined;
  }

  #take(pinned: Pinned): void {
    this.#pinned = pinned;
    this.#verifier = verifierOf(pinned.key);
  }

  /** @param home that it was paired with; a file of another one is none */
  async #load(home: string | undefined): Promise<void> {
    const text = await readFile(this.#path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") this.#damaged(error.message);
      return undefined;
    });
    if (text === undefined) return;
    const read = checkJson(Pinned, text);
    if (!read.ok) this.#damaged(read.error);
    else if (home === undefined || home === read.value.home) this.#take(read.value);
  }

  #damaged(error: string): void {
    this.#isDamaged = true;
    this.#problem = { code: "gateway_key_damaged", params: { path: this.#path } };
    this.#log("error", "gateway_key.unreadable", { path: this.#path, error: cutText(error, 200) });
  }
}
