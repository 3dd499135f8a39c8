/** The tool `past`: asks the bridge, which keeps the values at home, and words its answer. */
import { pastText } from "@edgecall/core/history/answer-text.ts";
import { PAST_TOOL, type PastInput, questionOf } from "@edgecall/core/history/past-tool.ts";
import { type Source, STRANGER } from "@edgecall/core/loop/taint.ts";
import { HISTORY_FEATURE, type PastAnswer, type PastReply } from "@edgecall/core/protocol/past.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { isLabel } from "@edgecall/core/text/label.ts";
import { errorText } from "@edgecall/core/tools/errors.ts";
import { checkArguments } from "../../../kernel/api/check-arguments.ts";
import { EDGE_CALL } from "../../../kernel/api/edge-call.ts";
import type { HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import { refused, type ToolAnswer } from "../../../kernel/api/tool-answer.ts";
import { hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { devicePastOf } from "../../../kernel/home/devices/device-past.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import { whyText } from "./why.ts";

const NAME_MAX = 60;

/** @returns undefined: it is another tool */
export function runPast(home: HomeContext, request: HomeToolRequest): Promise<ToolAnswer> | undefined {
  return request.name === PAST_TOOL.name ? past(home, request) : undefined;
}

async function past(home: HomeContext, request: HomeToolRequest): Promise<ToolAnswer> {
  if (!readSettings(home.env).tools.history)
    return refused("not_found", errorText.unknownTool(PAST_TOOL.name, [EDGE_CALL]));
  if (request.viewer.role === "guest")
    return refused("permission_denied", "The past of devices is for members of the home.");
  const checked = checkArguments(PAST_TOOL, request);
  if (!checked.ok) return checked.outcome;
  // SAFETY: they were parsed with the schema of this tool.
  const input = checked.input as PastInput;
  const device = hostedDevicesOf(home).get(input.agent_id);
  const reach = request.origin.limits?.agents;
  const isInReach = device && device.setting?.mode !== "off" && (!reach || reach.includes(device.id));
  if (!isInReach)
    return invalid(
      `agent_id: the home's bridge keeps the past of its own devices, and has none '${plainText(input.agent_id, 64)}'`,
    );
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const question = questionOf(input, zone, now);
  if (!question.ok) return invalid(question.error);
  const reply = await devicePastOf(home).ask((id) => ({ t: "past", id, question: question.value }));
  if (!reply) return refused("offline", whyNoAnswer(home, now));
  if ("error" in reply) return invalid(errorIn(reply));
  const name = device.setting?.name ?? device.hosted.name;
  const { answer } = reply;
  const { last } = answer.facts;
  const why = input.ask === "why" && last ? whyText(home, device.id, last.at, zone, request.viewer) : "";
  const text = pastText(answer, {
    device: plainText(isLabel(name) ? name : device.id, NAME_MAX),
    ask: question.value.ask,
    by: input.by,
    zone,
    now,
  });
  return { status: "success", text: [text, why].filter((one) => one !== "").join("\n"), sources: sourcesOf(answer), ...pictureIn(answer) };
}

function whyNoAnswer(home: HomeContext, now: number): string {
  if (!bridgeOf(home).isConnected(now))
    return "The past is kept at home, by its bridge, and that is not connected now.";
  return bridgeOf(home).has(HISTORY_FEATURE, now)
    ? "The home's bridge, which keeps the past, did not answer in time."
    : "The home's bridge keeps no values: it is older than 0.5, has no folder, or its MQTT_HISTORY is off.";
}

/** Home's tools bring pictures as a device's report does: the conversation stores them. */
function pictureIn({ picture }: PastAnswer): Pick<ToolAnswer, "media"> {
  if (picture === undefined) return {};
  const bytes = Math.floor((picture.replace(/=+$/, "").length * 3) / 4);
  return { media: [{ media_type: "image/png", bytes, data: picture }] };
}

/** Names of readings are the publisher's words. One that reads like more than a label is left out. */
function errorIn({ error, readings }: Extract<PastReply, { error: string }>): string {
  const named = readings?.filter(isLabel) ?? [];
  const those = named.length > 0 ? `; it has ${named.join(", ")}` : "";
  return plainText(`${error}${those}`, 600);
}

/** Numbers and labels are nobody's words. */
function sourcesOf({ reading, unit, is, facts, by = [], compare }: PastAnswer): Source[] {
  const all = [facts, ...by.map((step) => step.facts), ...(compare ? [compare.facts] : [])];
  const values = all.flatMap(({ last, list = [] }) => [last?.value, ...list.map(({ value }) => value)]);
  const texts = [reading, unit, is, ...values].filter((text) => typeof text === "string");
  return texts.every((text) => isLabel(text.replace(/^[<>]|\p{Sc}/gu, ""))) ? [] : [STRANGER];
}

function invalid(error: string): ToolAnswer {
  return refused("invalid_params", { text: `Error: ${error.replace(/\.$/, "")}.` });
}
