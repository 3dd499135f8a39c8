/** The connection to Home Assistant, with a played one on a real socket: what a real one does seldom, or takes minutes for. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { until } from "../../test/wait.ts";
import { HomeAssistantConnection } from "./connection.ts";

type Message = { type: string; id?: number } & Record<string, unknown>;

let server: WebSocketServer;
let connection: HomeAssistantConnection;
let heard: Message[];
let events: string[];
let socket: WebSocket | undefined;
/** What it says of itself. */
let state: string;
let isTokenRight: boolean;
/** The one that the bridge has. */
let token: string;
/** It takes messages and answers none, as a half-open socket does. */
let isSilent: boolean;

beforeEach(async () => {
  [heard, events] = [[], []];
  [state, isTokenRight, isSilent, token] = ["RUNNING", true, false, "secret"];
  server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  server.on("connection", (client) => {
    socket = client;
    const say = (message: object) => client.send(JSON.stringify(message));
    say({ type: "auth_required", ha_version: "2026.11.0" });
    client.on("message", (data) => {
      const message = JSON.parse(String(data)) as Message;
      heard.push(message);
      if (isSilent) return;
      if (message.type === "auth" && isTokenRight) say({ type: "auth_ok", ha_version: "2026.11.0" });
      else if (message.type === "auth") {
        say({ type: "auth_invalid", message: "Invalid access token or password" });
        client.close(1000);
      } else if (message.type === "ping") say({ type: "pong", id: message.id });
      else if (message.type === "get_config")
        say({ type: "result", id: message.id, success: true, result: { state } });
      else if (message.type === "fails") {
        const error = { code: "service_validation_error", message: "no such value" };
        say({ type: "result", id: message.id, success: false, error });
      } else if (message.type !== "hangs") {
        // Two answers in one frame.
        const result = { id: message.id, type: "result", success: true, result: null };
        client.send(JSON.stringify([result, { id: message.id, type: "event", event: message.type }]));
      }
    });
  });
  connection = opened();
  connection.start();
});

function opened(): HomeAssistantConnection {
  return new HomeAssistantConnection({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/api/websocket`,
    token: () => token,
    log: () => {},
    onRunning: ({ version }) => events.push(`running ${version}`),
    onLost: () => events.push("lost"),
  });
}

afterEach(async () => {
  vi.useRealTimers();
  await connection.stop();
  for (const client of server.clients) client.terminate();
  server.close();
});

const dials = () => heard.filter(({ type }) => type === "auth").length;

test("it is not running before Home Assistant says so", async () => {
  state = "NOT_RUNNING";
  await until(() => heard.filter(({ type }) => type === "get_config").length >= 2);
  expect(connection.running).toBe(false);
  expect(connection.problem).toBe("Home Assistant is starting");
  expect(events).toEqual([]);
  state = "RUNNING";
  await until(() => connection.running);
  expect(events).toEqual(["running 2026.11.0"]);
  expect(connection.problem).toBeUndefined();
});

test("a wrong token: one attempt an hour, words that say what to do, and another token at once", async () => {
  await until(() => connection.running);
  await connection.stop();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const dialled = async (count: number) => {
    while (dials() < count) await new Promise((resolve) => setImmediate(resolve));
    while (connection.condition()?.code !== "home_assistant_refuses" && !connection.running)
      await new Promise((resolve) => setImmediate(resolve));
  };
  heard = [];
  isTokenRight = false;
  connection = opened();
  connection.start();
  await dialled(1);
  expect(connection.problem).toMatch(/Long-lived access tokens.*HA_TOKEN/);
  expect(connection.problem).not.toContain("secret");
  await vi.advanceTimersByTimeAsync(3_590_000);
  expect(dials()).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  await dialled(2);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(dials()).toBe(2);
  [token, isTokenRight] = ["another", true];
  await vi.advanceTimersByTimeAsync(5_000);
  await dialled(3);
  while (!connection.running) await new Promise((resolve) => setImmediate(resolve));
  expect(heard.findLast(({ type }) => type === "auth")).toMatchObject({ access_token: "another" });
  expect(connection.condition()).toBeUndefined();
});

test("what cannot be reached is said, with the address", async () => {
  await until(() => connection.running);
  server.close();
  for (const client of server.clients) client.terminate();
  await until(() => connection.problem?.includes("ECONNREFUSED"));
  const { code, params } = connection.condition() ?? {};
  expect(code).toBe("home_assistant_unreachable");
  expect(params?.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/api\/websocket$/);
});

test("a command has a deadline of its own, and its late answer means nothing", async () => {
  await until(() => connection.running);
  expect(await connection.command({ type: "hangs" }, 100)).toEqual({ kind: "silent", sent: true });
  const { id } = heard.find(({ type }) => type === "hangs") as Message;
  socket?.send(JSON.stringify({ type: "result", id, success: true, result: "late" }));
  expect(await connection.command({ type: "fails" })).toEqual({
    kind: "error",
    code: "service_validation_error",
    message: "no such value",
  });
});

test("a subscription hears its events until the connection ends; what waits then is lost", async () => {
  await until(() => connection.running);
  const said: unknown[] = [];
  const begun = await connection.subscribe({ type: "subscribe_entities" }, (event) => said.push(event));
  expect(begun).toEqual({ kind: "result", result: null });
  await until(() => said.length === 1);
  const waiting = connection.command({ type: "hangs" });
  socket?.close();
  expect(await waiting).toEqual({ kind: "lost", sent: true });
  expect(await connection.command({ type: "x" })).toEqual({ kind: "lost", sent: false });
  await until(() => events.length === 3);
  expect(events).toEqual(["running 2026.11.0", "lost", "running 2026.11.0"]);
});

test("a half-open line is noticed within half a minute", async () => {
  await until(() => connection.running);
  await connection.stop();
  events = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  const happened = async (count: number) => {
    while (events.length < count) await new Promise((resolve) => setImmediate(resolve));
  };
  connection = opened();
  connection.start();
  await happened(1);
  isSilent = true;
  await vi.advanceTimersByTimeAsync(30_000);
  await happened(2);
  expect(heard.at(-1)?.type).toBe("ping");
  isSilent = false;
  await vi.advanceTimersByTimeAsync(1_000);
  await happened(3);
  expect(events).toEqual(["running 2026.11.0", "lost", "running 2026.11.0"]);
});
