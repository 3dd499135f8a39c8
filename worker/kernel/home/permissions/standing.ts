/** Finds the permission under which a call goes without a question. Home asks here where it would ask a person. */
import { personOf } from "@edgecall/core/permissions/asker.ts";
import { covers } from "@edgecall/core/permissions/covers.ts";
import type { StandingPermission, Who } from "@edgecall/core/permissions/permission.ts";
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { localTime } from "@edgecall/core/time/zone.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import type { Asker } from "../ledger/ledger.ts";
import { boundDevice, prepareVersion } from "./bound-device.ts";
import { endWhatIsOver } from "./ends.ts";
import { permissionsOf } from "./permission-store.ts";

/** @property program the grant of the connected program that calls; absent: none does @property payload of a `tool` command */
export type CallToJudge = {
  agent: string;
  command: string;
  payload: Record<string, unknown>;
  caller: Caller;
  asker?: Asker | undefined;
  program?: string | undefined;
  conversation: string | null;
  tainted: boolean;
};

/** @returns whose call it is; undefined: nobody's to whom something could be allowed */
export function askerOf({
  caller,
  asker,
  program,
}: Pick<CallToJudge, "caller" | "asker" | "program">): Exclude<Who, "everybody"> | undefined {
  if (asker?.by === "home") return { home: asker.grant };
  if (asker?.by === "rule") return { rule: asker.rule, version: asker.version };
  if (program !== undefined) return { program };
  return personOf(caller);
}

/** Has to be awaited before `standingFor`: versions of paired agents' actions take time to compute. */
export async function prepareStanding(
  home: HomeContext,
  agent: string,
  action: string | undefined,
): Promise<void> {
  const bound = action === undefined ? undefined : boundDevice(home, agent, action);
  if (bound && permissionsOf(home).open(bound.key).length > 0) await prepareVersion(home, agent, action);
}

/** @returns the permission that covers the whole call; undefined: a person is asked as ever */
export function standingFor(
  home: HomeContext,
  call: CallToJudge,
  now: number,
): StandingPermission | undefined {
  const { tool, parameters = {} } = call.payload;
  const bound = call.command === "tool" ? boundDevice(home, call.agent, tool) : undefined;
  if (!bound || permissionsOf(home).open(bound.key).length === 0) return undefined;
  const asker = askerOf(call);
  const { advert, version, key } = bound;
  const rows = endWhatIsOver(home, now, key);
  if (!asker || !advert || version === undefined || rows.length === 0) return undefined;
  const time = localTime(clockOf(home).read().zone, now);
  const judged = {
    key,
    version,
    action: advert.name,
    parameters,
    asker,
    conversation: call.conversation,
    channel: call.caller.channel,
    tainted: call.tainted,
    chain: call.asker?.by === "agent" || call.caller.chain !== undefined,
    effect: advert.effect,
    dangerous: advert.danger === true || advert.setting === true,
    now,
    minute: time.hour * 60 + time.minute,
  };
  return rows.find(({ permission }) => covers(permission, judged))?.permission;
}

/** True if a call that waited may still go under this permission. */
export function stillHolds(home: HomeContext, id: string, now: number): boolean {
  const row = permissionsOf(home).get(id);
  if (!row) return false;
  return endWhatIsOver(home, now, row.permission.key).some(({ permission }) => permission.id === id);
}
