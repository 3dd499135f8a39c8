/** A bridge that is played: one socket that reports a thousand devices, each with the actions of a real one. */
import type { AgentState, BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { BRIDGE_PROTOCOL, VERSION } from "@edgecall/core/protocol/names.ts";
import { WebSocket } from "ws";
import { TOKENS } from "../tokens.ts";

const BATCH = 50;
const ACTIONS = [
  ...["temperature", "memory", "disk", "cpu", "network", "camera", "ls", "read", "write", "edit", "shell"],
  ...[
    "python",
    "git",
    "http_get",
    "gpio_read",
    "gpio_write",
    "i2c_scan",
    "service_status",
    "service_restart",
  ],
];

export function largeHome(count: number): AgentState[] {
  return Array.from({ length: count }, (_, n) => {
    const id = `node-${String(n).padStart(4, "0")}`;
    const online = n % 4 !== 3;
    const line = n % 10 === 0 ? `Greenhouse ${n}: soil and light` : `Lamp in room ${n}`;
    return {
      id,
      online,
      last_seen: online ? null : Date.now() - 3_600_000,
      foreign: false,
      presence: JSON.stringify({ state: online ? "online" : "offline", boot_id: "b1", reason: "birth" }),
      capabilities: JSON.stringify({
        agent_id: id,
        capabilities: line,
        agent_type: "monitor",
        version: VERSION,
        features: ["tool", "cancel", "ack", "events", "presence", "tools"],
      }),
      tools: JSON.stringify({
        hash: "one",
        tools: ACTIONS.map((name) => ({
          name,
          description: `Does ${name}.`,
          parameters: { type: "object", properties: {} },
          effect: "read",
          idempotent: true,
        })),
      }),
    };
  });
}

/** Dials in place of another bridge. @returns once Home has welcomed it and was sent all devices */
export async function playLargeBridge(url: string, agents: AgentState[]): Promise<{ stop(): void }> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/bridge`, {
    headers: { authorization: `Bearer ${TOKENS.bridge}` },
  });
  const send = (frame: BridgeFrame) => socket.send(JSON.stringify(frame));
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("close", (code) => reject(new Error(`the played bridge was closed with ${code}`)));
    socket.once("open", () =>
      send({ t: "hello", protocol: BRIDGE_PROTOCOL, bridge: "played", version: VERSION }),
    );
    socket.on("message", (text) => {
      const frame = JSON.parse(String(text)) as HomeFrame;
      if (frame.t !== "welcome") return;
      for (let from = 0; from < agents.length; from += BATCH)
        send({
          t: "snapshot",
          agents: agents.slice(from, from + BATCH),
          last: from + BATCH >= agents.length,
        });
      resolve();
    });
  });
  return { stop: () => socket.terminate() };
}
