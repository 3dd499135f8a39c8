/** Handles what the bridge sends, frame by frame: a table of the kernel's frames, and those of the features. */

import { BridgeFrame, CLOSE, encodeFrame } from "@edgecall/core/protocol/frames.ts";
import { FRAME_MAX_BYTES, HELLO_MAX_BYTES } from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { logError, logInfo } from "../../log.ts";
import { closeQuietly, sendQuietly } from "../../sockets.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { storeInFlight } from "../calls/in-flight-rows.ts";
import type { HomeContext } from "../context.ts";
import { devicePastOf } from "../devices/device-past.ts";
import { deviceStatesOf } from "../devices/device-states.ts";
import { type FrameHandler, type FrameHandlers, featuresOf } from "../feature.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { onAgent, onAgents, onGone, onSnapshot } from "./agent-states.ts";
import { onEvent } from "./events.ts";
import { onConditions, onHello } from "./hello.ts";
import { onRefused } from "./refused.ts";
import { onReport } from "./reports.ts";

/** A bridge that is welcomed says no second hello. */
const FRAMES: FrameHandlers = {
  snapshot: onSnapshot,
  agent: onAgent,
  agents: onAgents,
  gone: onGone,
  taken: (home, { id }) => ledgerOf(home).markAccepted(id),
  refused: onRefused,
  event: onEvent,
  report: onReport,
  states: (home, frame) => deviceStatesOf(home).onAnswer(frame),
  past: (home, { id, reply }) => devicePastOf(home).answered(id, reply),
  conditions: onConditions,
  updated: (home, { id, ok, text }, socket) => bridgeOf(home).storeUpdate(socket, { id, ok, text }),
};

/** No frame can crash the object or go unanswered. */
export async function onBridgeMessage(
  home: HomeContext,
  socket: WebSocket,
  message: string | ArrayBuffer,
): Promise<void> {
  const bridge = bridgeOf(home);
  if (bridge.isRevoked(socket)) return;
  const isWelcomed = bridge.isWelcomed(socket);
  bridge.heard(socket, Date.now());
  const max = isWelcomed ? FRAME_MAX_BYTES : HELLO_MAX_BYTES;
  if (typeof message !== "string" || message.length > max) {
    const what =
      typeof message === "string"
        ? `a frame of ${message.length} characters, ${max} allowed`
        : "a binary frame";
    return closeQuietly(socket, what, isWelcomed ? CLOSE.badFrame : CLOSE.badHello);
  }
  const frame = checkJson(BridgeFrame, message);
  if (!frame.ok) {
    logInfo("bridge.bad_frame", { problem: frame.error });
    if (!isWelcomed) return closeQuietly(socket, `hello: ${frame.error}`.slice(0, 120), CLOSE.badHello);
    sendQuietly(socket, JSON.stringify({ t: "error", code: "bad_frame", message: frame.error }));
    return;
  }
  try {
    if (isWelcomed) await runHandlers(home, frame.value, socket);
    else if (frame.value.t === "hello") await onHello(home, frame.value, socket);
    else closeQuietly(socket, "the first frame must be hello", CLOSE.badHello);
  } catch (error) {
    // An error that leaves the handler would reset the object, and drop the socket with it.
    logError("bridge.frame_failed", error, { t: frame.value.t });
    sendQuietly(
      socket,
      JSON.stringify({
        t: "error",
        code: "internal",
        message: `the ${frame.value.t} frame could not be handled`,
      }),
    );
  }
  if ("n" in frame.value && frame.value.n !== undefined)
    sendQuietly(socket, encodeFrame({ t: "stored", n: frame.value.n }));
}

async function runHandlers(home: HomeContext, frame: BridgeFrame, socket: WebSocket): Promise<void> {
  for (const handlers of [FRAMES, ...featuresOf(home).map(({ frames }) => frames)]) {
    // SAFETY: the handler is that of this kind of frame.
    const handle = handlers?.[frame.t] as FrameHandler<BridgeFrame> | undefined;
    await handle?.(home, frame, socket);
  }
}

/** A socket closed. Its tags and attachment are gone by now, so the sockets that are left are asked. */
export async function onBridgeClosed(home: HomeContext): Promise<void> {
  const now = Date.now();
  if (bridgeOf(home).isConnected(now)) return;
  bridgeOf(home).storeGone(now);
  await storeInFlight(home);
}
