/** Tests the link on real sockets: it carries data, and breaks in the announced ways. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../wait.ts";
import { Link } from "./link.ts";

let server: Server;
let link: Link;
const peers: Socket[] = [];

beforeEach(async () => {
  // An echo server.
  server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => socket.write(data));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const to = (server.address() as AddressInfo).port;
  link = await Link.open({ to, mqtt: false, random: () => 0.5 });
});

afterEach(async () => {
  for (const peer of peers.splice(0)) peer.destroy();
  await link.close();
  server.close();
});

function dial() {
  const socket = connect(link.port, "127.0.0.1");
  peers.push(socket);
  const seen = { text: "", closed: false };
  socket.on("error", () => {});
  socket.on("data", (data) => {
    seen.text += data.toString();
  });
  socket.on("close", () => {
    seen.closed = true;
  });
  return { socket, seen };
}

async function echoed(text: string) {
  const { socket, seen } = dial();
  socket.write(text);
  await until(() => seen.text === text, { what: `${text} comes back` });
  return { socket, seen };
}

test("cut: open and new connections are reset until the link is mended", async () => {
  const before = await echoed("one");
  link.cut();
  await until(() => before.seen.closed);
  const during = dial();
  await until(() => during.seen.closed);
  link.mend();
  await echoed("two");
});

test.each(["both", "toServer", "toClient"] as const)(
  "half open (%s): no bytes come back and no side is notified; at the end the connection is reset",
  async (deaf) => {
    const { socket, seen } = await echoed("one");
    link.halfOpen(deaf);
    socket.write("two");
    const slower = await echoedOver("three");
    expect(slower).toBe(false);
    expect(seen).toEqual({ text: "one", closed: false });
    link.mend();
    await until(() => seen.closed);
    expect(seen.text).toBe("one");
    await echoed("four");
  },
);

/** Checks if a text comes back over a new connection within a moment. */
async function echoedOver(text: string): Promise<boolean> {
  const { socket, seen } = dial();
  socket.write(text);
  return await until(() => seen.text === text, { within: 100 }).catch(() => false);
}

test("slow: all data arrives in order, also what is sent after the link is fast again", async () => {
  const { socket, seen } = await echoed("0");
  link.slow(60);
  const began = performance.now();
  socket.write("1");
  await until(() => performance.now() - began > 5);
  socket.write("2");
  await until(() => performance.now() - began > 10);
  link.mend();
  socket.write("3");
  await until(() => seen.text.length === 4);
  expect(seen.text).toBe("0123");
  expect(performance.now() - began).toBeGreaterThanOrEqual(60);
});
