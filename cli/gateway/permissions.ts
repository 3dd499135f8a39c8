/** `edgecall permissions` lists the standing permissions of a home, and ends them. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { readActingRules } from "./acting-rules.ts";
import { readConnection } from "./connection.ts";
import { Gateway, GatewayError } from "./gateway.ts";
import { table } from "./table.ts";
import { ago } from "./times.ts";

const Permission = z.looseObject({
  id: z.string(),
  device: z.string(),
  actions: z.record(z.string(), z.record(z.string(), z.looseObject({}))),
  who: z.union([z.string(), z.looseObject({})]),
  until: z.number(),
  by: z.string(),
  uses: z.number(),
  used_at: z.nullable(z.number()),
  ended: z.nullable(z.looseObject({ at: z.number(), why: z.string() })),
});
type Permission = z.infer<typeof Permission>;
const Permissions = z.looseObject({ permissions: z.array(Permission) });

export async function listPermissions({ positionals, flag, env, io }: CommandCall): Promise<number> {
  if (positionals.length > 0) throw new UsageError("takes nothing");
  const query = flag("ended") ? { ended: "yes" as const } : {};
  const gateway = new Gateway(readConnection(env));
  const { permissions } = await gateway.json(Permissions, "GET /v1/permissions", { query });
  if (flag("json")) io.out(`${JSON.stringify(permissions)}\n`);
  else if (permissions.length === 0) io.err("there is no permission: each change of a device asks\n");
  else io.out(permissionTable(permissions, await ruleNames(gateway, permissions), io.width));
  return EXIT.ok;
}

/** The names of the rules that act, by id. A rule that is gone has none. */
async function ruleNames(
  gateway: Gateway,
  permissions: readonly Permission[],
): Promise<ReadonlyMap<string, string>> {
  if (!permissions.some(({ who }) => typeof who !== "string" && "rule" in who)) return new Map();
  try {
    const { rules } = await readActingRules(gateway);
    return new Map(rules.map(({ id, name }) => [id, name]));
  } catch (error) {
    // The list is worth more than the names.
    if (error instanceof GatewayError) return new Map();
    throw error;
  }
}

function permissionTable(
  permissions: readonly Permission[],
  names: ReadonlyMap<string, string>,
  width: number | undefined,
): string {
  const columns = [
    { title: "DEVICE" },
    { title: "MAY BE TOLD", gives: true },
    { title: "BY", gives: true },
    { title: "GIVEN BY", gives: true },
    { title: "UNTIL" },
    { title: "USES" },
    { title: "LAST USED" },
    { title: "ID" },
  ];
  const now = Date.now();
  const rows = permissions.map(({ id, device, actions, who, by, until, uses, used_at, ended }) => [
    device,
    Object.entries(actions)
      .map(([action, bounds]) => [action, ...Object.entries(bounds).map(boundText)].join(" "))
      .join("; "),
    typeof who === "string" ? who : (names.get(String(who.rule)) ?? Object.values(who).join(" ")),
    by,
    ended ? `ended: ${ended.why}` : new Date(until).toISOString().slice(0, 10),
    String(uses),
    ago(used_at, now),
    id,
  ]);
  return table(columns, rows, width);
}

/** `temperature 18–23`, `on true|false`, `path /home/pi/notes/…` */
function boundText([name, bound]: [string, Record<string, unknown>]): string {
  const { is, oneOf, from, to, under, any, max, each } = bound;
  if (Array.isArray(oneOf)) return `${name} ${oneOf.join("|")}`;
  if (from !== undefined) return `${name} ${String(from)}–${String(to)}`;
  if (under !== undefined) return `${name} ${String(under)}/…`;
  if (any !== undefined) return `${name} any text (${String(max)} bytes)`;
  if (each !== undefined) return `${name} each ${Object.values(each as object).join("–")}`;
  return `${name} ${String(is)}`;
}

export async function endPermissions({ positionals, text, env, io }: CommandCall): Promise<number> {
  const [id, ...more] = positionals;
  const of = { person: text("person"), device: text("device") };
  const isOne = id !== undefined;
  const isMany = of.person !== undefined || of.device !== undefined;
  if (more.length > 0 || isOne === isMany)
    throw new UsageError("takes one permission's id, or --device, or --person");
  const gateway = new Gateway(readConnection(env));
  const ended = isOne
    ? [await gateway.json(Permission, "DELETE /v1/permissions/{id}", { path: { id } })]
    : (
        await gateway.json(Permissions, "DELETE /v1/permissions", {
          query: {
            ...(of.person !== undefined && { person: of.person }),
            ...(of.device !== undefined && { device: of.device }),
          },
        })
      ).permissions;
  for (const { device, actions } of ended)
    io.err(`ended: '${device}' asks again before ${Object.keys(actions).join(", ")}\n`);
  if (ended.length === 0) io.err("there is none that could end\n");
  return EXIT.ok;
}
