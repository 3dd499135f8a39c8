/** Why a device changed, where a rule did it: joined from the runs that the bridge keeps, told or not, and from who allowed the rule. */
import { ENGLISH } from "@edgecall/core/phrases/phrases.ts";
import { plainText } from "@edgecall/core/rules/plain-text.ts";
import { seesAll, type Viewer } from "../../../kernel/api/may-see.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { personText } from "../../../kernel/home/people/person-name.ts";
import { statusOf } from "./ask-bridge.ts";
import { automationsOf } from "./automation-store.ts";
import { idOf } from "./faithful.ts";

/** A step's outcome comes so long after the change, or before it. */
const WITHIN_MS = 30_000;
const WORDS_MAX = 300;

/** @returns undefined: no rule's step was under way then, as far as the bridge says */
export async function causeOf(
  home: HomeContext,
  agent: string,
  at: number,
  viewer: Viewer,
): Promise<string | undefined> {
  const rows = automationsOf(home)
    .all()
    .map((row) => ({ row, steps: [...row.automation.do, ...row.automation.end] }))
    .filter(({ steps }) => steps.some((step) => idOf(home, step) === agent));
  if (rows.length === 0) return undefined;
  const said = await statusOf(
    home,
    rows.map(({ row }) => row.automation.id),
  );
  const by = (principal: string) =>
    seesAll(viewer) || principal === viewer.name
      ? personText(home, { principal })
      : "another person of the home";
  for (const { row, steps } of rows) {
    const { automation, maker, allowed } = row;
    const runs = said?.status.find(({ rule }) => rule === automation.id)?.runs ?? [];
    const run = runs.find(({ version, steps: ran }) =>
      ran.some(({ step, at: then }) => {
        const one = version === automation.version ? steps[step] : undefined;
        return one && idOf(home, one) === agent && Math.abs(then - at) <= WITHIN_MS;
      }),
    );
    if (!run) continue;
    const time = ENGLISH.time(run.at, clockOf(home).read().zone, at);
    const words = `By the rule “${automation.name}” (${automation.id}) of ${by(maker.principal)}, allowed by ${by(allowed.by)}: it ran at ${time}, since ${run.because.join("; ")}`;
    return `${plainText(words, WORDS_MAX)}.`;
  }
  return undefined;
}
