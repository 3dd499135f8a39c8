import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { afterEach, expect, test } from "vitest";
import { fetchPicture, httpUrl } from "./pictures.ts";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  stops.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/camera_proxy/camera.x`;
}

test("where Home Assistant is over HTTP follows from its WebSocket", () => {
  expect(httpUrl("ws://homeassistant.local:8123/api/websocket")).toBe("http://homeassistant.local:8123");
  expect(httpUrl("wss://ha.example/api/websocket")).toBe("https://ha.example");
  expect(httpUrl("ws://supervisor/core/websocket")).toBe("http://supervisor/core");
});

test("a picture comes with its type, and the token goes to Home Assistant alone", async () => {
  const tokens: unknown[] = [];
  const url = await served(({ headers }, response) => {
    tokens.push(headers.authorization);
    response.writeHead(200, { "content-type": "image/png; q=1" }).end("picture");
  });
  expect(await fetchPicture(url, "t")).toEqual({ mediaType: "image/png", bytes: Buffer.from("picture") });
  const elsewhere = await served((_, response) => response.writeHead(302, { location: url }).end());
  expect(await fetchPicture(elsewhere, "t")).toMatchObject({ error: expect.any(String) as string });
  expect(tokens).toEqual(["Bearer t"]);
});

test("one that is too large, or that Home Assistant does not have, is an error in words", async () => {
  const large = await served((_, response) => response.end(Buffer.alloc(MEDIA_MAX_BYTES + 1)));
  expect(await fetchPicture(large, "t")).toEqual({ error: "its picture is too large" });
  const none = await served((_, response) => response.writeHead(503).end());
  expect(await fetchPicture(none, "t")).toEqual({ error: "Home Assistant has no picture of it now (503)" });
});
