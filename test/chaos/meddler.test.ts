import { expect, test } from "vitest";
import { until } from "../wait.ts";
import { Meddler } from "./meddler.ts";

const TOPIC = "evoclaw/agents/alder/commands";

function publish(payload: string): Buffer {
  const body = [
    Buffer.from([0, TOPIC.length]),
    Buffer.from(TOPIC),
    Buffer.from([0, 1]),
    Buffer.from(payload),
  ];
  const all = Buffer.concat(body);
  return Buffer.concat([Buffer.from([0b0011_0010, all.length]), all]);
}

function make() {
  const seen: string[] = [];
  const note = (packet: Buffer) => seen.push(packet.subarray(-1).toString());
  const meddler = new Meddler(
    (_, packet) => note(packet),
    () => 0,
  );
  const send = (payload: string) => meddler.packet("toClient", publish(payload), note);
  return { meddler, seen, send };
}

test("a message is doubled until the meddling ends", async () => {
  const { meddler, seen, send } = make();
  meddler.begin({ kind: "duplicate", topic: "commands" });
  send("a");
  await until(() => seen.length === 2);
  meddler.end();
  send("b");
  expect(seen).toEqual(["a", "a", "b"]);
});

test("the next message overtakes a message; the last one still arrives", () => {
  const { meddler, seen, send } = make();
  meddler.begin({ kind: "reorder", topic: "commands" });
  send("a");
  send("b");
  send("c");
  expect(seen).toEqual(["b", "a"]);
  meddler.end();
  expect(seen).toEqual(["b", "a", "c"]);
});

test("other topics and the other direction stay unchanged", () => {
  const { meddler, seen, send } = make();
  meddler.begin({ kind: "reorder", topic: "reports" });
  send("a");
  expect(seen).toEqual(["a"]);
  expect(meddler.count).toBe(0);
});
