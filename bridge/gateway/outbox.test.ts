import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { AGENTS_MAX } from "@edgecall/core/protocol/names.ts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Roster } from "../broker/presence.ts";
import { ReportBuffer } from "../broker/report-buffer.ts";
import { Counts } from "../counts.ts";
import { HomeOutbox } from "./outbox.ts";

const OURS = { capabilities: "thermometer", features: ["v1"] };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An outbox whose broker is up and has sent nothing yet, at a gateway that has texts of the agent `pi`. @param keyed agents with a key */
function begin(keyed: string[] = []) {
  const sent: BridgeFrame[] = [];
  const log = () => {};
  const clock = { now: () => Date.now(), wall: () => Date.now() };
  const roster = new Roster(clock);
  const gateway = {
    up: true,
    send: (frame: BridgeFrame, onSent?: () => void) => {
      sent.push(frame);
      onSent?.();
      return true;
    },
  };
  const reports = new ReportBuffer(log);
  const outbox = new HomeOutbox({ gateway, roster, reports, counts: new Counts(), clock, log });
  roster.brokerConnected();
  outbox.brokerUp();
  outbox.welcomed({ texts: [{ id: "pi", capabilities: "h" }], keyed, hasFlowControl: true });
  return { sent, roster, outbox };
}

test("a snapshot waits for a slow broker while an agent is missing that Home knows", async () => {
  const { sent, roster, outbox } = begin();
  await vi.advanceTimersByTimeAsync(1_500);
  expect(sent).toEqual([]);
  roster.advertised("pi", JSON.stringify(OURS), OURS, false);
  outbox.retainedCame();
  await vi.advanceTimersByTimeAsync(200);
  expect(sent).toMatchObject([{ t: "snapshot", last: true, agents: [{ id: "pi" }] }]);
});

test("a snapshot does not wait once the broker has sent everything that Home has", async () => {
  const { sent, roster, outbox } = begin();
  // With so many of them, others could follow after a pause.
  for (let n = 0; n < 400; n += 1) outbox.retainedCame();
  roster.advertised("pi", JSON.stringify(OURS), OURS, false);
  await vi.advanceTimersByTimeAsync(50);
  expect(sent).toMatchObject([{ t: "snapshot", last: true, agents: [{ id: "pi" }] }]);
});

test("it waits as long as ever while an agent with a key is missing of which Home has nothing", async () => {
  const { sent, roster, outbox } = begin(["eye", "pi"]);
  for (let n = 0; n < 400; n += 1) outbox.retainedCame();
  roster.advertised("pi", JSON.stringify(OURS), OURS, false);
  await vi.advanceTimersByTimeAsync(400);
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(sent).toMatchObject([{ t: "snapshot", last: true, agents: [{ id: "pi" }] }]);
});

test("an agent that is gone from the broker delays a snapshot only for a while", async () => {
  const { sent } = begin();
  await vi.advanceTimersByTimeAsync(2_500);
  expect(sent).toMatchObject([{ t: "snapshot", last: true, agents: [] }]);
});

test("only a few frames are ahead of what Home has stored", async () => {
  const { sent, roster, outbox } = begin();
  for (let n = 0; n < 400; n += 1) roster.advertised(`agent-${n}`, JSON.stringify(OURS), OURS, false);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent.map((frame) => "n" in frame && frame.n)).toEqual([1, 2, 3, 4]);
  outbox.stored(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(sent).toHaveLength(6);
  // A gateway that says nothing more.
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toHaveLength(7);
  expect(sent.at(-1)).toMatchObject({ t: "snapshot", last: true, n: 7 });
});

test("agents too many that come after the snapshot are counted, though nothing else changes", async () => {
  const { sent, roster, outbox } = begin();
  for (let n = 0; n < AGENTS_MAX; n += 1) roster.advertised(`agent-${n}`, JSON.stringify(OURS), OURS, false);
  outbox.stored(Number.MAX_SAFE_INTEGER);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(sent.at(-1)).toMatchObject({ t: "snapshot", last: true, over: 0 });
  sent.length = 0;
  roster.advertised("late", JSON.stringify(OURS), OURS, false);
  outbox.sendChangesSoon();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toMatchObject([{ t: "agents", agents: [], over: 1 }]);
  sent.length = 0;
  outbox.sendChangesSoon();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toEqual([]);
});
