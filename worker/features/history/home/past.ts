/** The tool `past`, and a drawing's line: the bridge is asked, which keeps the values at home, or an agent, which keeps its own. */
import { PAST_TOOL, type PastInput } from "@edgecall/core/history/past-tool.ts";
import { type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import { check } from "@edgecall/core/protocol/parse.ts";
import { HISTORY_FEATURE, PAST_ERROR_MAX, PastReply } from "@edgecall/core/protocol/past.ts";
import type { PastQuestion } from "@edgecall/core/protocol/past-question.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { checkArguments } from "../../../kernel/api/check-arguments.ts";
import { EDGE_CALL } from "../../../kernel/api/edge-call.ts";
import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { refused, type ToolAnswer } from "../../../kernel/api/tool-answer.ts";
import { agentRowsOf } from "../../../kernel/home/agents/agent-rows.ts";
import { type HostedDevice, hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import { servedAgentsOf } from "../../../kernel/home/agents/served-agents.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { askAgent } from "../../../kernel/home/calls/ask-agent.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { devicePastOf } from "../../../kernel/home/devices/device-past.ts";
import { causeOf } from "../../../kernel/home/feature.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import type { HistoryApi } from "../history-api.ts";
import { whyText } from "./why.ts";

const NAME_MAX = 60;
/** A small device reads its files slowly. */
const KEEPER_WITHIN_MS = 15_000;

/** @returns undefined: it is another tool */
export function runPast(home: HomeContext, request: HomeToolRequest): Promise<ToolAnswer> | undefined {
  return request.name === PAST_TOOL.name ? past(home, request) : undefined;
}

/** A rule's run says more than the record of its call. */
async function whyChanged(
  home: HomeContext,
  agent: string,
  at: number,
  zone: string,
  viewer: HomeToolRequest["viewer"],
): Promise<string> {
  return (await causeOf(home, agent, at, viewer)) ?? whyText(home, agent, at, zone, viewer);
}

async function past(home: HomeContext, request: HomeToolRequest): Promise<ToolAnswer> {
  if (!readSettings(home.env).tools.history)
    return refused("not_found", errorText.unknownTool(PAST_TOOL.name, [EDGE_CALL]));
  if (request.viewer.role === "guest")
    return refused("permission_denied", "The past of devices is for members of the home.");
  const checked = checkArguments(PAST_TOOL, request);
  if (!checked.ok) return checked.outcome;
  // SAFETY: they were parsed with the schema of this tool.
  const { agent_id, ask, ...asked } = checked.input as PastInput;
  const device = hostedDevicesOf(home).get(agent_id);
  const reach = request.origin.limits?.agents;
  const isThere = device ? device.setting?.mode !== "off" : keepsItself(home, agent_id);
  if (!isThere || (reach && !reach.includes(agent_id)))
    return invalid(
      `agent_id: the home's bridge keeps the past of its own devices, and an agent that of its [history] readings; there is none of '${plainText(agent_id, 64)}'`,
    );
  const { zone } = clockOf(home).read();
  const question: PastQuestion = {
    ...asked,
    ...(device ? deviceIn(home, device) : { agent: agent_id, name: agent_id, zone }),
    ask: ask === "why" ? "last" : ask,
  };
  const reply = device
    ? await devicePastOf(home).ask((id) => ({ t: "past", id, question }))
    : await askKeeper(home, question);
  if (!reply)
    return refused(
      "offline",
      device
        ? whyNoAnswer(home, Date.now())
        : `'${agent_id}' keeps the past of its readings itself, and does not answer now.`,
    );
  if ("error" in reply) return invalid(plainText(reply.error, PAST_ERROR_MAX));
  const { text, last, tainted, picture } = reply;
  const why =
    ask === "why" && last !== undefined
      ? `\n${await whyChanged(home, agent_id, last, zone, request.viewer)}`
      : "";
  const sources: Source[] = tainted ? [STRANGER] : [];
  return { status: "success", text: text + why, sources, ...mediaOf(picture) };
}

/** True of a paired agent that keeps readings of its own. */
function keepsItself(home: HomeContext, id: string): boolean {
  return agentRowsOf(home).has(id) && agentRowsOf(home).features(id).includes(HISTORY_FEATURE);
}

/** @returns undefined: it did not answer in time, or wrote something else */
async function askKeeper(home: HomeContext, question: PastQuestion): Promise<PastReply | undefined> {
  const { agent } = question;
  if (!servedAgentsOf(home).isOnline(agent, Date.now())) return undefined;
  const answer = await askAgent(home, agent, "past", question, KEEPER_WITHIN_MS);
  const read = check(PastReply, answer?.past);
  return read.ok ? read.value : undefined;
}

/** Of the question: the device, what it is called, and the home's zone. */
function deviceIn(home: HomeContext, { id, setting, hosted }: HostedDevice) {
  const name = setting?.name ?? hosted.name;
  const { zone } = clockOf(home).read();
  return { agent: id, name: plainText(isLabel(name) ? name : id, NAME_MAX), zone };
}

export async function lastDays(
  home: HomeContext,
  id: string,
  reading: string,
  days: number,
): ReturnType<HistoryApi["lastDays"]> {
  if (!readSettings(home.env).tools.history) return "off";
  const device = hostedDevicesOf(home).get(id);
  if (!device || device.setting?.mode === "off") return "unknown";
  const period = `${days * 24} h`;
  const asked = { ...deviceIn(home, device), reading, period, ask: "chart", line: true } as const;
  const reply = await devicePastOf(home).ask((id) => ({ t: "past", id, question: asked }));
  if (!reply) return "offline";
  return "error" in reply ? reply : { text: reply.text, line: reply.line ?? null };
}

function whyNoAnswer(home: HomeContext, now: number): string {
  if (!bridgeOf(home).isConnected(now))
    return "The past is kept at home, by its bridge, and that is not connected now.";
  return bridgeOf(home).has(HISTORY_FEATURE, now)
    ? "The home's bridge, which keeps the past, did not answer in time."
    : "The home's bridge keeps no values: it is older than 0.5, has no folder, or its MQTT_HISTORY is off.";
}

/** Home's tools bring pictures as a device's report does: the conversation stores them. */
function mediaOf(picture: string | undefined): Pick<ToolAnswer, "media"> {
  if (picture === undefined) return {};
  const bytes = Math.floor((picture.replace(/=+$/, "").length * 3) / 4);
  return { media: [{ media_type: "image/png", bytes, data: picture }] };
}

function invalid(error: string): ToolAnswer {
  return refused("invalid_params", { text: `Error: ${error.replace(/\.$/, "")}.` });
}
