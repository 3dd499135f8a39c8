/** A rule is drafted at the bridge, which knows the devices' readings and their past, and is compared with what was asked for. */
import type { AutomateInput } from "@edgecall/core/automations/tool.ts";
import type { Automation, AutomationDraft } from "@edgecall/core/protocol/automation.ts";
import { TRUTHS_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import { type Parsed, wrong } from "@edgecall/core/protocol/parse.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import type { Language } from "@edgecall/core/text/languages.ts";
import { agentReadings } from "../../../kernel/home/calls/agent-readings.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { boundDevice } from "../../../kernel/home/permissions/bound-device.ts";
import { type Draft, prepareSteps } from "./allow.ts";
import { draftsOf } from "./ask-bridge.ts";
import { namesFor, unallowed, unfaithful } from "./faithful.ts";

const ERROR_MAX = 1_200;
const LINE_MAX = 500;

/** @param rule its id and version @returns undefined: the bridge does not answer; the error names what is wrong with the input */
export async function draftRule(
  home: HomeContext,
  input: AutomateInput,
  rule: Pick<Automation, "id" | "version">,
  language: Language,
): Promise<Parsed<Draft> | undefined> {
  const { zone } = clockOf(home).read();
  const names = namesFor(home, input);
  const readings: NonNullable<AutomationDraft["readings"]> = {};
  for (const [at, { agent_id, reading }] of (input.when ?? []).entries()) {
    const bound = boundDevice(home, agent_id.trim().toLowerCase(), undefined);
    if (!bound || bound.hosted) continue;
    const [named = ""] = reading.split(".");
    const known = readings[bound.id] ?? [];
    if (known.some(({ name }) => name === named)) continue;
    const read = await agentReadings(home, bound.id, named, TRUTHS_FEATURE);
    if (!read.ok) return wrong(`when.${at}.${read.error}`);
    readings[bound.id] = [...known, ...read.value];
  }
  const drafted = await draftsOf(home).ask((id) => ({
    t: "draft",
    draft: { id, rule, input: JSON.stringify(input), zone, language, names, readings },
  }));
  if (!drafted) return undefined;
  if ("error" in drafted) return wrong(plainText(drafted.error, ERROR_MAX));
  const { automation } = drafted;
  const isIts = automation.id === rule.id && automation.version === rule.version && automation.zone === zone;
  const other = isIts ? unfaithful(home, automation, input) : "rule";
  if (other !== undefined)
    return wrong(`${other}: the home's bridge made something else of it than was asked for`);
  await prepareSteps(home, automation);
  const why = unallowed(home, automation);
  if (why !== undefined) return wrong(`do: ${why}`);
  const card = drafted.card.map((line) => plainText(line, LINE_MAX));
  const second_tap = drafted.second_tap.map((line) => plainText(line, LINE_MAX));
  return { ok: true, value: { automation, card, second_tap } };
}

/** The arguments of which a rule was made. */
export function inputOf(json: string): AutomateInput {
  // SAFETY: they were parsed with the schema of the tool.
  return JSON.parse(json) as AutomateInput;
}
