/**
 * Lets a device in again whose numbers are lower than those that it used before: its clock was ahead once, and it lost its
 * counter.json.
 *
 * The gateway's own counters stay, so no recorded message counts again. Instead the device is told, in a command that only
 * the gateway can sign and only the device's present run obeys, above which number it has to go on. The bridge says which
 * run that is. If it is wrong, because somebody replays an old recording, no device obeys.
 */

import { COUNTER_BLOCK } from "@edgecall/core/protocol/counter.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { stamped } from "@edgecall/core/protocol/signing.ts";
import type { Readmitted } from "../../api/keys.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { gatewayFeatures } from "../agents/gateway-features.ts";
import { gatewayKeyOf } from "../agents/gateway-key.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { GATEWAY_CALLER } from "../calls/commands.ts";
import type { HomeContext } from "../context.ts";
import { ledgerOf } from "../ledger/ledger.ts";

/** A connection that Home was not told of may have used further blocks. */
const MORE_BLOCKS = 16;
const NOTICE_LIFE_MS = 60_000;

export async function readmitAgent(home: HomeContext, agent: string): Promise<Readmitted> {
  const { env } = home;
  if (keysOf(home).standing(agent) !== "signed") return "unknown";
  const run = agentRowsOf(home).seenCondition(agent, "old_numbers")?.params?.run;
  if (run === undefined) return "not_needed";
  const now = Date.now();
  const payload = {
    version: VERSION,
    features: gatewayFeatures(bridgeOf(home), env),
    above: keysOf(home).newestCounter(agent) + MORE_BLOCKS * COUNTER_BLOCK,
  };
  const notice = {
    command: "gateway",
    payload,
    request_id: crypto.randomUUID(),
    expires_in_ms: NOTICE_LIFE_MS,
    caller: GATEWAY_CALLER,
  };
  const text = stamped(JSON.stringify(notice), { boot_id: run, n: ledgerOf(home).nextN(now) });
  const signed = await gatewayKeyOf(home).sign(agent, text);
  return bridgeOf(home).send({ t: "publish", agent, payload: signed }, now) ? "sent" : "no_bridge";
}
