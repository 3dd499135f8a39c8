/** News of rules that act, for the gateway: each is kept until it is stored there, and sent again until then. */
import type { AutomationNews } from "@edgecall/core/protocol/automation.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import type { GatewayLink } from "../gateway/gateway.ts";

/** The oldest give way. */
const NEWS_MAX = 200;
const A_FRAME_MAX = 50;
/** A run with all its steps has some kilobytes. */
const A_FRAME_CHARS = 100_000;
/** News that the gateway did not take is sent again so often. */
const AGAIN_MS = windowMs(30_000, 2_000);

export class NewsQueue {
  readonly #gateway: Pick<GatewayLink, "send">;
  #news: AutomationNews[];
  #n: number;
  #lost: number;
  /** The newest that is on the disk. */
  #durable: number;
  #isWanted = false;
  /** The last number of the frame that is out; undefined: none is. */
  #out: number | undefined;
  #again: NodeJS.Timeout | undefined;

  constructor(
    gateway: Pick<GatewayLink, "send">,
    { news, n, lost }: { news: readonly AutomationNews[]; n: number; lost: number },
  ) {
    this.#gateway = gateway;
    this.#news = [...news];
    this.#n = n;
    this.#lost = lost;
    this.#durable = n;
  }

  /** The part of the file. */
  get content(): { news: readonly AutomationNews[]; n: number; lost: number } {
    return { news: this.#news, n: this.#n, lost: this.#lost };
  }

  /** Takes one more. It is sent once it is on the disk (`written`). */
  add(news: Omit<AutomationNews, "n">): void {
    this.#n += 1;
    this.#news.push({ n: this.#n, ...news });
    const tooMany = this.#news.length - NEWS_MAX;
    if (tooMany <= 0) return;
    this.#news.splice(0, tooMany);
    this.#lost += tooMany;
  }

  /** A file with all of it up to `n` is on the disk. */
  written(n: number): void {
    if (n <= this.#durable) return;
    this.#durable = n;
    this.send();
  }

  /**
   * @param isWanted whether the gateway is the home's @param time of the gateway (epoch ms). A bridge that has lost its file, or takes
   * another's place, must not begin with numbers that the gateway has stored: those it would not tell.
   */
  welcomed(isWanted: boolean, time = 0): void {
    if (isWanted && this.#news.length === 0) this.#n = Math.max(this.#n, time);
    this.#isWanted = isWanted;
    this.#out = undefined;
    this.send();
  }

  /** The connection to the gateway is gone. */
  gatewayLost(): void {
    this.#isWanted = false;
    clearTimeout(this.#again);
  }

  /** The gateway has stored all up to this number. @returns whether something is to be written down */
  stored(upto: number): boolean {
    const { length } = this.#news;
    const lost = this.#lost;
    this.#news = this.#news.filter(({ n }) => n > upto);
    // The frame does not tell what gave way since it was sent; its own news that gave way was stored.
    if (this.#out !== undefined && upto >= this.#out) this.#lost = this.#missingAfter(upto);
    this.#out = undefined;
    this.send();
    return this.#news.length < length || this.#lost < lost;
  }

  /** Sends the oldest news, unless a frame is out already. */
  send(): void {
    const news = this.#next();
    const last = news.at(-1);
    if (!this.#isWanted || this.#out !== undefined || !last) return;
    if (!this.#gateway.send({ t: "news", news, ...(this.#lost > 0 && { lost: this.#lost }) })) return;
    this.#out = last.n;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#out = undefined;
      this.send();
    }, AGAIN_MS);
  }

  /** @returns how many of those behind this number gave way: what waits has no other gaps */
  #missingAfter(n: number): number {
    const first = this.#news[0]?.n ?? n + 1;
    return Math.max(0, first - n - 1);
  }

  #next(): AutomationNews[] {
    const all = this.#news.filter(({ n }) => n <= this.#durable).slice(0, A_FRAME_MAX);
    let left = A_FRAME_CHARS;
    return all.filter((one, at) => {
      left -= JSON.stringify(one).length;
      return at === 0 || left >= 0;
    });
  }

  /** Sends nothing again. */
  stop(): void {
    clearTimeout(this.#again);
  }
}
