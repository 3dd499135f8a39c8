import { type AgentState, BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { FRAME_MAX_BYTES } from "@edgecall/core/protocol/names.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { expect, test } from "vitest";
import { MAX_BYTES } from "../broker/inbound.ts";
import { SNAPSHOT_MAX_AGENTS, SNAPSHOT_MAX_BYTES, snapshotFrames } from "./snapshot.ts";

const agents = (count: number, tools: string): AgentState[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `a${i}`,
    online: true,
    last_seen: null,
    foreign: false,
    tools,
  }));

const sizes = (count: number, tools: string) =>
  snapshotFrames(agents(count, tools)).map((frame) => (frame.t === "snapshot" ? frame.agents.length : -1));

test("one empty frame when there are no agents", () => {
  expect(snapshotFrames([])).toEqual([{ t: "snapshot", agents: [], last: true }]);
});

test("at most 64 agents a frame, and only the last frame is marked as last", () => {
  expect(sizes(2 * SNAPSHOT_MAX_AGENTS + 1, "")).toEqual([64, 64, 1]);
  const last = snapshotFrames(agents(130, "")).map((frame) => frame.t === "snapshot" && frame.last);
  expect(last).toEqual([false, false, true]);
});

test("at most 64 KiB a frame", () => {
  const tools = "x".repeat(25 * 1024);
  expect(sizes(5, tools)).toEqual([2, 2, 1]);
  for (const frame of snapshotFrames(agents(5, tools))) {
    expect(JSON.stringify(frame).length).toBeLessThan(SNAPSHOT_MAX_BYTES + 1_024);
  }
});

test("the largest agent that the bridge admits fits a frame, even if every character doubles", () => {
  const state = {
    ...(agents(1, '"'.repeat(MAX_BYTES.tools))[0] as AgentState),
    capabilities: '"'.repeat(MAX_BYTES.capabilities),
    presence: '"'.repeat(MAX_BYTES.presence),
  };
  const [frame] = snapshotFrames([state]);
  expect(check(BridgeFrame, frame).ok).toBe(true);
  expect(JSON.stringify(frame).length).toBeLessThan(FRAME_MAX_BYTES);
});
