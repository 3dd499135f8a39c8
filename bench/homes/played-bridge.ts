/** The bridge of a played home: one socket, and one agent of ours that answers every call at once. */
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { BRIDGE_PROTOCOL, KEEPALIVE_EVERY_MS, VERSION } from "@edgecall/core/protocol/names.ts";
import { WebSocket } from "ws";

export const PLAYED_AGENT = "pi";
export const PLAYED_ACTION = "temperature_read";

const AGENT = {
  id: PLAYED_AGENT,
  online: true,
  last_seen: null,
  foreign: false,
  presence: JSON.stringify({ state: "online", boot_id: "b1", reason: "birth" }),
  capabilities: JSON.stringify({
    agent_id: PLAYED_AGENT,
    capabilities: "a sensor in the hall",
    agent_type: "monitor",
    version: VERSION,
    features: ["tool", "cancel", "ack", "events", "presence", "tools", "route"],
  }),
  tools: JSON.stringify({
    hash: "one",
    tools: [
      {
        name: PLAYED_ACTION,
        description: "Read the temperature.",
        parameters: { type: "object", properties: {} },
        effect: "read",
        idempotent: true,
      },
    ],
  }),
};

/** Dials, and sends its agent. @returns once Home has welcomed it */
export async function playBridge(url: string, token: string): Promise<{ stop(): void }> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/bridge`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const send = (frame: BridgeFrame) => socket.send(JSON.stringify(frame));
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", (code) => reject(new Error(`a played bridge was closed with ${code}`)));
    socket.once("open", () =>
      send({ t: "hello", protocol: BRIDGE_PROTOCOL, bridge: "played", version: VERSION }),
    );
    socket.on("message", (text) => {
      if (String(text) === "pong") return;
      const frame = JSON.parse(String(text)) as HomeFrame;
      if (frame.t === "welcome") {
        send({ t: "snapshot", agents: [AGENT], last: true });
        resolve();
      }
      if (frame.t !== "call") return;
      send({ t: "taken", id: frame.id });
      send({ t: "report", id: frame.id, agent: frame.agent, payload: reportOf(frame) });
    });
  });
  // Home calls a bridge lost that has given no sign of life for 75 s, and a slow machine takes longer for all homes.
  const pings = setInterval(() => socket.send("ping"), KEEPALIVE_EVERY_MS);
  return {
    stop() {
      clearInterval(pings);
      socket.terminate();
    },
  };
}

function reportOf({ id, payload }: HomeFrame & { t: "call" }): string {
  const command = JSON.parse(payload) as { route?: string };
  return JSON.stringify({
    agent_id: PLAYED_AGENT,
    agent_type: "monitor",
    report_type: "result",
    payload: { request_id: id, tool: PLAYED_ACTION, status: "success", result: "21.5" },
    ...(command.route !== undefined && { route: command.route }),
    timestamp: 1,
  });
}
