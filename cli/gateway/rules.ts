/** `edgecall rules` lists what a home watches for and reminds of; the others pause, resume and remove one of these. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { readConnection } from "./connection.ts";
import { Gateway } from "./gateway.ts";
import { printableLine } from "./printable.ts";
import { table } from "./table.ts";
import { ago } from "./times.ts";

const Rule = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  why: z.nullable(z.string()),
  condition: z.string(),
  state: z.optional(z.string()),
  last_firing: z.nullable(z.number()),
  by: z.string(),
  to: z.string(),
});
type Rule = z.infer<typeof Rule>;
const Rules = z.looseObject({ rules: z.array(Rule) });

export async function listRules({ positionals, flag, env, io }: CommandCall): Promise<number> {
  if (positionals.length > 0) throw new UsageError("takes nothing");
  const { rules } = await new Gateway(readConnection(env)).json(Rules, "GET /v1/rules");
  if (flag("json")) io.out(`${JSON.stringify(rules)}\n`);
  else if (rules.length === 0)
    io.err('there is no rule; for one: edgecall ask "Tell me when the freezer is above -15"\n');
  else io.out(ruleTable(rules, io.width));
  return EXIT.ok;
}

function ruleTable(rules: readonly Rule[], width: number | undefined): string {
  const columns = [
    { title: "RULE" },
    { title: "NAME", gives: true },
    { title: "WHEN", gives: true },
    { title: "TELLS", gives: true },
    { title: "BY" },
    { title: "IS", gives: true },
    { title: "LAST TIME" },
  ];
  const now = Date.now();
  const rows = rules.map(({ id, name, condition, to, by, status, why, state, last_firing }) => [
    ...[id, name, condition, to, by],
    why === null ? (status === "active" ? (state ?? status) : status) : `${status}: ${why}`,
    ago(last_firing, now),
  ]);
  return table(columns, rows, width);
}

export const pauseRule = (call: CommandCall) => change(call, "paused");
export const resumeRule = (call: CommandCall) => change(call, "active");

async function change(call: CommandCall, status: "paused" | "active"): Promise<number> {
  const path = { rule: idIn(call) };
  const gateway = new Gateway(readConnection(call.env));
  const { name } = await gateway.json(Rule, "PATCH /v1/rules/{rule}", { path, body: { status } });
  call.io.err(`'${printableLine(name)}' is ${status}\n`);
  return EXIT.ok;
}

export async function removeRule(call: CommandCall): Promise<number> {
  const rule = idIn(call);
  await new Gateway(readConnection(call.env)).text("DELETE /v1/rules/{rule}", { path: { rule } });
  call.io.err(`${rule} is gone, with its history\n`);
  return EXIT.ok;
}

/** @throws UsageError */
function idIn({ positionals: [id, ...more] }: CommandCall): string {
  if (id !== undefined && more.length === 0 && /^[wr]-[0-9a-f]{4,12}$/.test(id)) return id;
  throw new UsageError("takes one rule, as `edgecall rules` shows it: for instance w-1a2b3c");
}
