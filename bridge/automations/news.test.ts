/** The numbers of what is told of rules that act. */
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { expect, test } from "vitest";
import { NewsQueue } from "./news.ts";

const LOST = { news: [], n: 0, lost: 0 };
const NEWS = { rule: "a-0001", version: 1, paused: "device_gone" };

function queue(content: ConstructorParameters<typeof NewsQueue>[1]) {
  const sent: BridgeFrame[] = [];
  const send = (frame: BridgeFrame) => {
    sent.push(frame);
    return true;
  };
  return { news: new NewsQueue({ send }, content), sent };
}

test("a bridge that has lost its file begins behind all that the gateway has stored", () => {
  const { news, sent } = queue(LOST);
  const time = Date.UTC(2026, 10, 28);
  news.welcomed(true, time);
  news.add(NEWS);
  news.written(news.content.n);
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
