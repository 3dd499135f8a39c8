/** `HOST=0.0.0.0 npm start`: the gateway answers in the network, to whoever has a token. */
import { createHash, randomBytes } from "node:crypto";
import { networkInterfaces } from "node:os";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { freePort } from "../../local/port.ts";
import { GatewayClient } from "./gateway-client.ts";
import { npmStart, running, useStateFolder } from "./npm-start.ts";

/** Another address than 127.0.0.1 that reaches this machine: of its network, if it has one. */
const OTHER =
  Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.family === "IPv4" && !one.internal)?.address ?? "127.0.0.2";

describe("npm start in the network", { tags: ["needs/linux"] }, () => {
  const folder = useStateFolder();

  test("a device is asked over the network's address; nothing is told without a token; guesses are counted", async () => {
    const port = await freePort();
    const started = npmStart(folder.path, [], { PORT: String(port), HOST: "0.0.0.0" });
    const local = await running(started);
    const token = /token\s+(\S+)/.exec(started.out())?.[1] ?? "";
    expect(started.out()).toMatch(/In this network: http:\/\/\S+ \(everybody needs a token\)/);
    expect(started.out()).toContain("WARNING: plain HTTP in this network");

    const url = `http://${OTHER}:${port}`;
    const client = new GatewayClient(url, token);
    const turn = await client.ask("How much memory is in use?", "network");
    expect(turn).toMatchObject({ status: "done", answer: expect.stringMatching(/memory: \d+ % used /) });

    for (const path of ["/v1/status", "/v1/agents", "/v1/conversations/network", "/mcp", "/v1/models"])
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 401]);
    // No cookie over plain HTTP, not even with the token.
    const session = await fetch(`${url}/v1/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url, "x-edgecall-console": "1" },
      body: JSON.stringify({ token: token }),
    });
    expect([session.status, session.headers.get("set-cookie")]).toEqual([403, null]);
    expect((await fetch(`${url}/`)).status).toBe(200);
    // The Worker's own port is not the network's.
    expect((await fetch(`${url}/cdn-cgi/local/explorer`)).status).toBe(404);
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/bridge`, {
      headers: { authorization: `Bearer ${randomBytes(32).toString("base64url")}` },
    });
    const refused = await new Promise((resolve) =>
      socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode)),
    );
    expect(refused).toBe(401);

    // Beyond the loopback a network has strangers: their guesses run into the limit, and the owner's token still counts.
    const guess = () =>
      fetch(`${url}/v1/status`, {
        headers: { authorization: `Bearer ${createHash("sha256").update(randomBytes(8)).digest("hex")}` },
      });
    let last = 401;
    for (let n = 0; n < 200 && last === 401; n += 1) last = (await guess()).status;
    expect(last).toBe(429);
    expect(
      (await fetch(`${local.url}/v1/status`, { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(200);
  });
});
