/** What the gateway is to be told of rules that act: kept until it has stored it, and sent again until then. */
import type { AutomationNews } from "@edgecall/core/protocol/automation.ts";
import { windowMs } from "@edgecall/core/test-clock.ts";
import type { GatewayLink } from "../gateway/gateway.ts";

/** The oldest give way. */
const NEWS_MAX = 200;
const A_FRAME_MAX = 50;
/** A run with all its steps has some kilobytes. */
const A_FRAME_CHARS = 100_000;
/** What the gateway did not take is sent again so often. */
const AGAIN_MS = windowMs(30_000, 2_000);

export class NewsQueue {
  readonly #gateway: Pick<GatewayLink, "send">;
  #news: AutomationNews[];
  #n: number;
  #lost: number;
  /** The newest that is on the disk. */
  #durable: number;
  #isWanted = false;
  #isOut = false;
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

  /** For the file. */
  get content(): { news: readonly AutomationNews[]; n: number; lost: number } {
    return { news: this.#news, n: this.#n, lost: this.#lost };
  }

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
    this.#isOut = false;
    this.send();
  }

  gatewayLost(): void {
    this.#isWanted = false;
    clearTimeout(this.#again);
  }

  /** @returns whether something went */
  stored(upto: number): boolean {
    const before = this.#news.length;
    this.#news = this.#news.filter(({ n }) => n > upto);
    const isSmaller = this.#news.length < before;
    if (isSmaller) this.#lost = 0;
    this.#isOut = false;
    this.send();
    return isSmaller;
  }

  send(): void {
    const news = this.#next();
    if (!this.#isWanted || this.#isOut || news.length === 0) return;
    if (!this.#gateway.send({ t: "news", news, ...(this.#lost > 0 && { lost: this.#lost }) })) return;
    this.#isOut = true;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#isOut = false;
      this.send();
    }, AGAIN_MS);
  }

  #next(): AutomationNews[] {
    const all = this.#news.filter(({ n }) => n <= this.#durable).slice(0, A_FRAME_MAX);
    let left = A_FRAME_CHARS;
    return all.filter((one, at) => {
      left -= JSON.stringify(one).length;
      return at === 0 || left >= 0;
    });
  }

  stop(): void {
    clearTimeout(this.#again);
  }
}
