/** `edgecall rules` lists what a home watches for, reminds of and does by itself; the others pause, resume and remove one of these. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { type ActingList, actingRuleTable, readActingRules } from "./acting-rules.ts";
import { readConnection } from "./connection.ts";
import { Gateway, GatewayError } from "./gateway.ts";
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
  const gateway = new Gateway(readConnection(env));
  const { rules } = await gateway.json(Rules, "GET /v1/rules");
  const acting = await readOrMiss(gateway, io);
  const acts = acting?.rules ?? [];
  if (flag("json"))
    io.out(`${JSON.stringify([...rules, ...acts.map((rule) => ({ kind: "automation", ...rule }))])}\n`);
  else if (rules.length + acts.length > 0) {
    const tables = [
      ...(rules.length > 0 ? [ruleTable(rules, io.width)] : []),
      ...(acting && acts.length > 0 ? [actingRuleTable(acting, io.width)] : []),
    ];
    io.out(tables.join("\n"));
  } else if (acting)
    io.err('there is no rule; for one: edgecall ask "Tell me when the freezer is above -15"\n');
  return acting ? EXIT.ok : EXIT.failed;
}

/** @returns undefined: the gateway did not list them, which is said. The other rules are listed without them. */
async function readOrMiss(gateway: Gateway, io: CommandCall["io"]): Promise<ActingList | undefined> {
  try {
    return await readActingRules(gateway);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    io.err(`the rules that act are missing here: ${printableLine(error.message)}\n`);
    return undefined;
  }
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

const Changed = z.looseObject({ name: z.string() });

export async function pauseRule(call: CommandCall): Promise<number> {
  const rule = idIn(call);
  const gateway = new Gateway(readConnection(call.env));
  const body = { status: "paused" as const };
  const { name } = isActing(rule)
    ? await gateway.json(Changed, "PATCH /v1/automations/{automation}", { path: { automation: rule }, body })
    : await gateway.json(Changed, "PATCH /v1/rules/{rule}", { path: { rule }, body });
  call.io.err(`'${printableLine(name)}' is paused\n`);
  return EXIT.ok;
}

export async function resumeRule(call: CommandCall): Promise<number> {
  const rule = idIn(call);
  // It needs an owner's yes to its card, which a conversation and the console ask for.
  if (isActing(rule))
    throw new UsageError(
      `an owner allows a rule that acts anew, by its card: edgecall ask "resume the rule ${rule}", or the console (Rules)`,
    );
  const gateway = new Gateway(readConnection(call.env));
  const { name } = await gateway.json(Changed, "PATCH /v1/rules/{rule}", {
    path: { rule },
    body: { status: "active" },
  });
  call.io.err(`'${printableLine(name)}' is active\n`);
  return EXIT.ok;
}

export async function removeRule(call: CommandCall): Promise<number> {
  const rule = idIn(call);
  const gateway = new Gateway(readConnection(call.env));
  if (isActing(rule))
    await gateway.text("DELETE /v1/automations/{automation}", { path: { automation: rule } });
  else await gateway.text("DELETE /v1/rules/{rule}", { path: { rule } });
  call.io.err(`${rule} is gone, with its history\n`);
  return EXIT.ok;
}

function isActing(id: string): boolean {
  return id.startsWith("a-");
}

/** @throws UsageError */
function idIn({ positionals: [id, ...more] }: CommandCall): string {
  if (id !== undefined && more.length === 0 && /^[wra]-[0-9a-f]{4,12}$/.test(id)) return id;
  throw new UsageError("takes one rule, as `edgecall rules` shows it: for instance w-1a2b3c");
}
