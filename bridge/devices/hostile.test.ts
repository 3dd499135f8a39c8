/** Properties: whatever a device is called and reports, only valid frames of bounded size go to Home. */

import { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import type { HostedDevice, Reading } from "@edgecall/discovery/model/device.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inGroups } from "../gateway/snapshot.ts";
import { HostedAgents } from "./hosted-agents.ts";
import { statesFrames } from "./states-frames.ts";
import { isDeviceTopic } from "./topics.ts";

const text = fc.oneof(fc.string(), fc.string({ minLength: 90, maxLength: 700, unit: "binary" }));
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

const reading = fc.record({
  name: text,
  value: fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null)),
  text,
  unit: maybe(text),
  kind: text,
  class: maybe(text),
  at: fc.option(fc.nat()),
  unavailable: maybe(fc.constant(true as const)),
  tainted: fc.boolean(),
}) as fc.Arbitrary<Reading>;

const device = fc.record({
  source: fc.constantFrom("mqtt", "home-assistant"),
  key: fc.oneof(fc.stringMatching(/^[a-f0-9]{32}$/), text),
  id: fc.oneof(fc.stringMatching(/^[a-z-]{1,20}$/), text),
  name: text,
  area: maybe(text),
  model: maybe(text),
  publisher: maybe(text),
  line: text,
  kinds: fc.constant(["switch"]),
  online: fc.boolean(),
  reason: maybe(text),
  lastSeen: fc.option(fc.nat()),
  actions: fc.array(
    fc.record({
      name: text,
      description: text,
      parameters: fc.constant({ type: "object" }),
      effect: fc.constant("read" as const),
    }),
    { maxLength: 5 },
  ),
  allowHash: text,
  allowHashBefore: fc.option(text),
  ghost: fc.boolean(),
  notOffered: fc.array(fc.record({ what: text, why: text }), { maxLength: 30 }),
}) as fc.Arbitrary<HostedDevice>;

test("any devices and readings", () => {
  fc.assert(
    fc.property(
      fc.array(device, { maxLength: 20 }),
      fc.array(reading, { maxLength: 80 }),
      (devices, readings) => {
        const hosted = new HostedAgents({
          modes: { mqtt: "allow", "home-assistant": "allow" },
          roster: { isServed: () => false },
          clock: { now: () => 0, wall: () => 0 },
          log: () => {},
        });
        hosted.brokerConnected();
        hosted.welcomed(true);
        hosted.update(devices, () => true);
        const frames = [
          ...inGroups(hosted.snapshot()).map((agents) => ({ t: "agents", agents })),
          ...statesFrames(
            { t: "states", id: "q" },
            { readings: () => readings, counts: () => ({ configs: 0, ignored: [] }) },
            hosted,
            0,
          ),
        ];
        for (const frame of frames) {
          expect(check(BridgeFrame, frame)).toMatchObject({ ok: true });
          expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(512 * 1_024);
        }
      },
    ),
    { numRuns: 200 },
  );
}, 60_000);

test.each([
  ["plugs/a b/set", true],
  ["", false],
  ["x".repeat(201), false],
  ["plugs/+", false],
  ["#", false],
  ["$SYS/x", false],
  ["evoclaw", false],
  ["evoclaw/agents/pi/commands", false],
  ["evoclaws/lamp", true],
  ["küche/lämpchen", true],
  ["a\u0000b", false],
  ["a\u0085b", false],
  ["a\ufffeb", false],
  ["a\ud800b", false],
])("a topic %j may be used: %s", (topic, may) => expect(isDeviceTopic(topic, "evoclaw")).toBe(may));
