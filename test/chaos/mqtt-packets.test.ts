import { expect, test } from "vitest";
import { asNewPublish, PacketCutter, topicOfPublish } from "./mqtt-packets.ts";

const TOPIC = "evoclaw/agents/alder/commands";

/** Makes a PUBLISH with QoS 1 that is marked as a repetition. */
function publish(payload: string, packetId = 7): Buffer {
  const body = Buffer.concat([
    Buffer.from([0, TOPIC.length]),
    Buffer.from(TOPIC),
    Buffer.from([0, packetId]),
    Buffer.from(payload),
  ]);
  const length: number[] = [];
  for (let left = body.length; ; left >>= 7) {
    if (left < 128) {
      length.push(left);
      break;
    }
    length.push((left & 0x7f) | 0x80);
  }
  return Buffer.concat([Buffer.from([0b0011_1010, ...length]), body]);
}

const PINGREQ = Buffer.from([0xc0, 0]);

test.each([1, 2, 3, 100_000])("a stream in pieces of %i bytes is cut into its packets", (size) => {
  const packets = [PINGREQ, publish("x".repeat(20_000)), publish(""), PINGREQ];
  const stream = Buffer.concat(packets);
  const cutter = new PacketCutter();
  const cut: Buffer[] = [];
  for (let at = 0; at < stream.length; at += size) cut.push(...cutter.push(stream.subarray(at, at + size)));
  expect(cut.map((packet) => packet.toString("hex"))).toEqual(
    packets.map((packet) => packet.toString("hex")),
  );
});

test("only a publish has a topic", () => {
  expect(topicOfPublish(publish("x".repeat(300)))).toBe(TOPIC);
  expect(topicOfPublish(PINGREQ)).toBeUndefined();
});

test("a copy has another packet id and the same text, and is not a repetition; the original is unchanged", () => {
  const packet = publish("payload");
  const copy = asNewPublish(packet, 60_001);
  expect(copy.readUInt16BE(2 + 2 + TOPIC.length)).toBe(60_001);
  expect(copy[0]).toBe(0b0011_0010);
  expect(copy.toString("utf8")).toContain("payload");
  expect(packet).toEqual(publish("payload"));
});
