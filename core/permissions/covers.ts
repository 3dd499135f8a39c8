/** The one matcher of standing permissions. Home runs it where it would ask a person, and the device runs it again. */
import { areWithin } from "./bounds.ts";
import type { StandingPermission, Who } from "./permission.ts";

/**
 * A call that would ask a person.
 * @property key of the device as it is now @property version of the device, or the action's advert, as it is now
 * @property effect what this very call does, as the action's advert says it @property dangerous the device says that this call may do harm: no permission covers it
 * @property minute of the home's day
 */
export type UnapprovedCall = {
  key: string;
  version: string;
  action: string;
  parameters: unknown;
  asker: Exclude<Who, "everybody">;
  conversation: string | null;
  channel: string;
  tainted: boolean;
  chain: boolean;
  effect: string | undefined;
  dangerous: boolean;
  now: number;
  minute: number;
};

/** A permission may be for these. Text for a shell, and what goes out of the home, asks each time. */
const EFFECTS: readonly unknown[] = ["write", "device"];

/** @returns true if the permission covers the whole call. Two permissions that cover half of it each do not. */
export function covers(permission: StandingPermission, call: UnapprovedCall): boolean {
  const { actions, conversation, channels, hours } = permission;
  const bounds = Object.hasOwn(actions, call.action) ? actions[call.action] : undefined;
  return (
    bounds !== undefined &&
    !call.dangerous &&
    EFFECTS.includes(call.effect) &&
    call.now >= permission.at &&
    call.now < permission.until &&
    permission.key === call.key &&
    permission.version === call.version &&
    isFor(permission.who, call.asker) &&
    (conversation === null || conversation === call.conversation) &&
    (channels === null || channels.includes(call.channel)) &&
    (permission.tainted || !call.tainted) &&
    (permission.chain || !call.chain) &&
    (hours === null || isDuring(hours, call.minute)) &&
    areWithin(call.parameters, bounds)
  );
}

function isFor(who: Who, asker: UnapprovedCall["asker"]): boolean {
  if (who === "everybody") return "person" in asker;
  if ("person" in who) return "person" in asker && asker.person === who.person;
  if ("program" in who) return "program" in asker && asker.program === who.program;
  if ("home" in who) return "home" in asker && asker.home === who.home;
  return "rule" in asker && asker.rule === who.rule && asker.version === who.version;
}

function isDuring({ from, to }: { from: number; to: number }, minute: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}
