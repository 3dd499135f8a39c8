/** Rules that act, as `edgecall rules` and `edgecall permissions` read them from the gateway. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { type Gateway, GatewayError } from "./gateway.ts";
import { table } from "./table.ts";
import { ago, clock } from "./times.ts";

const ActingRule = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  why: z.nullable(z.string()),
  by: z.string(),
  now: z.nullable(
    z.looseObject({
      state: z.string(),
      over_at: z.optional(z.number()),
      runs: z.array(z.looseObject({ at: z.number(), state: z.string() })),
    }),
  ),
});
type ActingRule = z.infer<typeof ActingRule>;
const List = z.looseObject({ automations: z.array(ActingRule), bridge: z.string() });
export type ActingList = { rules: ActingRule[]; bridge: string };

/** @returns none from a gateway that knows no rules that act @throws GatewayError */
export async function readActingRules(gateway: Gateway): Promise<ActingList> {
  try {
    const { automations, bridge } = await gateway.json(List, "GET /v1/automations");
    return { rules: automations, bridge };
  } catch (error) {
    if (error instanceof GatewayError && error.kind === "not_found") return { rules: [], bridge: "older" };
    throw error;
  }
}

const STATES: Readonly<Record<string, string>> = {
  waiting: "waiting: it has to be over first, and runs when it becomes so anew",
  resting: "resting: it ran very often",
  unknown: "armed, but a value is not known",
  stopped: "stopped by the bridge",
};

function stateText({ state, over_at }: NonNullable<ActingRule["now"]>): string {
  if (over_at === undefined) return STATES[state] ?? state;
  return `waiting: ready at ${clock(new Date(over_at).toISOString())}, if it stays so`;
}

/** The bridge runs the rules, so without it their state is not known. */
const WITHOUT_STATE: Readonly<Record<string, string>> = {
  offline: "active; the bridge is not connected",
  older: "active; the bridge is older and runs no such rules",
};

const RUNS: Readonly<Record<string, string>> = { not_run: "not run", running: "runs now" };

export function actingRuleTable({ rules, bridge }: ActingList, width: number | undefined): string {
  const columns = [
    { title: "RULE THAT ACTS" },
    { title: "NAME", gives: true },
    { title: "BY" },
    { title: "IS", gives: true },
    { title: "LAST RUN" },
  ];
  const at = Date.now();
  const rows = rules.map(({ id, name, by, status, why, now }) => {
    // The oldest comes first. Its time may be wrong: a bridge may begin without a clock.
    const last = now?.runs.at(-1);
    const active = now
      ? stateText(now)
      : (WITHOUT_STATE[bridge] ?? "active; the bridge does not have it yet");
    const is = status === "active" ? active : why === null ? status : `${status}: ${why}`;
    const run = last && `${ago(last.at, at)}: ${RUNS[last.state] ?? last.state}`;
    return [id, name, by, is, run ?? (now ? "never" : "not known")];
  });
  return table(columns, rows, width);
}
