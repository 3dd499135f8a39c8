/** The numbers of what is told of rules that act, and how many news the gateway is told to have missed. */
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { describe, expect, test } from "vitest";
import { NewsQueue } from "./news.ts";

type NewsFrame = Extract<BridgeFrame, { t: "news" }>;

const LOST = { news: [], n: 0, lost: 0 };
const NEWS = { rule: "a-0001", version: 1, paused: "device_gone" };

function queue(content: ConstructorParameters<typeof NewsQueue>[1]) {
  const sent: NewsFrame[] = [];
  const send = (frame: BridgeFrame) => {
    if (frame.t === "news") sent.push(frame);
    return true;
  };
  const news = new NewsQueue({ send }, content);
  const add = (count: number) => {
    for (let nth = 0; nth < count; nth += 1) news.add(NEWS);
    news.written(news.content.n);
  };
  return { news, sent, add };
}

test("a bridge that has lost its file begins behind all that the gateway has stored", () => {
  const { news, sent, add } = queue(LOST);
  const time = Date.UTC(2026, 10, 28);
  news.welcomed(true, time);
  add(1);
  expect(sent).toMatchObject([{ t: "news", news: [{ n: time + 1 }] }]);
  news.stop();
});

test("what waits keeps its number, and another gateway changes none", () => {
  const { news } = queue({ news: [{ n: 7, ...NEWS }], n: 7, lost: 0 });
  news.welcomed(true, Date.UTC(2026, 10, 28));
  expect(news.content.n).toBe(7);
  news.stop();
  const other = queue(LOST);
  other.news.welcomed(false, Date.UTC(2026, 10, 28));
  expect(other.news.content.n).toBe(0);
  other.news.stop();
});

describe("more than is kept", () => {
  test("what gives way while a frame is out is told by the next one", () => {
    const { news, sent, add } = queue(LOST);
    add(200);
    news.welcomed(true);
    expect(sent.at(-1)?.news).toHaveLength(50);
    // 1 to 80 give way, of which the frame has 1 to 50.
    add(80);
    expect(news.stored(50)).toBe(true);
    expect(sent.at(-1)).toMatchObject({ lost: 30 });
    expect(sent.at(-1)?.news[0]?.n).toBe(81);
    news.stored(130);
    expect(sent.at(-1)).not.toHaveProperty("lost");
    news.stop();
  });

  test("what the gateway was told to have missed is not told again", () => {
    const { news, sent, add } = queue(LOST);
    add(210);
    news.welcomed(true);
    expect(sent.at(-1)).toMatchObject({ lost: 10 });
    news.stored(60);
    expect(sent.at(-1)).not.toHaveProperty("lost");
    news.stop();
  });
});
