/**
 * What a question may offer to keep with a yes. The gateway computes it from the call when it asks, and stores it as it was shown. Nothing
 * wider than that is taken.
 */
import {
  exactBounds,
  folderBounds,
  offeredBounds,
  widerThan,
} from "@edgecall/core/permissions/offered-bounds.ts";
import { LIFE_MAX_MS, type StandingPermission, type Who } from "@edgecall/core/permissions/permission.ts";
import { canonicalJson } from "@edgecall/core/protocol/approval.ts";
import { PERMISSIONS_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import { isOwnTool } from "@edgecall/core/tools/own-names.ts";
import { NEEDS_PASSKEY } from "../../api/passkeys.ts";
import type { Keep, PermissionOffer } from "../../api/permissions.ts";
import type { Question } from "../../api/questions.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { auditDecision } from "../audit/decisions.ts";
import type { HomeContext } from "../context.ts";
import type { NewCall } from "../ledger/ledger.ts";
import { rightsOf } from "../notices/rights.ts";
import { type BoundDevice, boundDevice, prepareVersion } from "./bound-device.ts";
import { notifyMade } from "./notify.ts";
import { permissionsOf, type StoredOffer } from "./permission-store.ts";
import { askerOf } from "./standing.ts";

/** The tool of a device that writes a file. */
const WRITE = "write";

type AskedCall = Pick<NewCall, "agent" | "caller" | "conversation" | "flags"> & {
  command: string;
  payload: Record<string, unknown>;
  asker?: NewCall["asker"] | null;
};

/** Stores what the question offers. Has to be awaited before the question is written. @returns undefined: nothing */
export async function prepareOffers(home: HomeContext, call: AskedCall): Promise<StoredOffer[] | undefined> {
  if (call.command !== "tool") return undefined;
  await prepareVersion(home, call.agent, call.payload.tool);
  const offers = offersFor(home, call, Date.now());
  return offers.length > 0 ? offers : undefined;
}

function offersFor(home: HomeContext, call: AskedCall, now: number): StoredOffer[] {
  const { agent, payload, caller, conversation, flags = {} } = call;
  const { tool, parameters } = payload;
  const device = boundDevice(home, agent, tool);
  const asker = askerOf({ caller, asker: call.asker ?? undefined, program: flags.program });
  if (!device || !asker || !isOfferable(home, device)) return [];
  const { advert, key, version } = device;
  if (!advert || version === undefined || !isParameters(parameters)) return [];
  const tainted = flags.tainted === true;
  const isChain = call.asker?.by === "agent" || caller.chain !== undefined;
  const isPerson = "person" in asker;
  // A device that checks it once more knows a person's name alone.
  if (!device.hosted && !isPerson) return [];
  const isFile = !device.hosted && tool === WRITE;
  const common = { device: agent, action: advert.name, until: now + LIFE_MAX_MS, key, version };
  const offers: StoredOffer[] = [];
  const exact = exactBounds(advert.parameters, parameters);
  if (exact && device.hosted && conversation !== null && isPerson && !tainted && !isChain)
    offers.push({ ...common, id: "conversation", bounds: exact, who: [asker], level: "press", conversation });
  const bounds = isFile ? folderBounds(parameters) : offeredBounds(advert.parameters, parameters);
  // What a program's model or a stranger's text may have asked for is kept by a person who is known to be there.
  const isOthers = tainted || isChain || "home" in asker;
  const level = isOthers || isFile ? "verified" : isPerson && device.hosted ? "press" : "tap";
  const who: Who[] = isPerson && !isChain ? [asker, "everybody"] : [asker];
  if (bounds)
    offers.push({
      ...common,
      id: "always",
      bounds,
      who,
      level,
      conversation: null,
      ...(tainted && { tainted: true as const }),
      ...(isChain && { chain: true as const }),
    });
  return offers;
}

/** Never what is dangerous, a setting, or text for a shell; of an agent of its own only one that checks the permission once more. */
function isOfferable(home: HomeContext, { id, advert, hosted }: BoundDevice): boolean {
  if (!advert || advert.danger || advert.setting || advert.effect === undefined || advert.effect === "read")
    return false;
  if (hosted) return true;
  const isKnown = agentRowsOf(home).features(id).includes(PERMISSIONS_FEATURE);
  return isKnown && isOwnTool(advert.name) && (advert.effect === "write" || advert.effect === "device");
}

function isParameters(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @returns the offers for a card: those of the question, or of each question that it lists, with this one's id */
export function shownOffers(
  home: HomeContext,
  { id, members }: Pick<Question, "id"> & { members?: readonly Pick<Question, "id">[] | undefined },
): PermissionOffer[] | undefined {
  const shown = (members ?? [{ id }]).flatMap(({ id: question }) =>
    (permissionsOf(home).offers(question) ?? []).map(
      ({ key: _, version: __, conversation: ___, ...offer }) => (members ? { ...offer, question } : offer),
    ),
  );
  return shown.length > 0 ? shown : undefined;
}

type Refused = { ok: false; status: 400 | 403 | 409; code: string; message: string };
/** @property showsMore the person has a passkey, and answers where a program may press too */
type By = { principal: string; how: StandingPermission["how"]; isOwner: boolean; showsMore: boolean };

const LEVELS: readonly StandingPermission["how"][] = ["press", "tap", "verified"];

/**
 * @param open the question's id, or of one that lists others, the ids of those that are open
 * @returns the permissions that a person keeps of their offers, a row for each; they are not stored yet
 */
export function keptPermissions(
  home: HomeContext,
  open: readonly string[],
  keep: Keep,
  by: By,
): { ok: true; permissions: StandingPermission[] } | Refused {
  const now = Date.now();
  const permissions: StandingPermission[] = [];
  const questions = keep.questions ? [...new Set(keep.questions)] : open;
  if (!questions.every((question) => open.includes(question)))
    return wrong("keep.questions: expected ids of questions that this one lists, and that are open");
  if (questions.length > 1 && keep.bounds)
    return wrong("keep.bounds: expected none where it is kept for several calls");
  for (const question of questions) {
    const kept = keptPermission(home, question, keep, by, now);
    if (!kept.ok) return kept;
    permissions.push(kept.permission);
  }
  if (permissionsOf(home).hasRoomFor(permissions.length)) return { ok: true, permissions };
  const message = "keep: this home has too many standing permissions; end some, or answer without it";
  return { ok: false, status: 409, code: "too_many", message };
}

/** A person keeps permissions with one yes. The record says so, and the people hear of it. */
export function keepPermissions(
  home: HomeContext,
  permissions: readonly StandingPermission[],
  now: number,
): void {
  const added = permissions.filter((permission) => permissionsOf(home).add(permission));
  for (const permission of added) {
    const { id, device, actions, who, by, how, until, conversation, hours, tainted, chain } = permission;
    const role = rightsOf(home, by)?.role ?? "member";
    const caller = { principal: by, role, channel: "api" };
    const kept = { id, device, actions, who, until, ...(conversation !== null && { conversation }) };
    auditDecision(home, "permission", caller, {
      ...kept,
      ...(hours && { hours }),
      ...(tainted && { tainted }),
      ...(chain && { chain }),
      how,
    });
  }
  const [first, ...more] = added;
  if (!first) return;
  notifyMade(home, [first, ...more], now);
  void home.alarm.arm();
}

function keptPermission(
  home: HomeContext,
  question: string,
  keep: Keep,
  by: By,
  now: number,
): { ok: true; permission: StandingPermission } | Refused {
  const offers = permissionsOf(home).offers(question) ?? [];
  const offer = offers.find(({ id }) => id === keep.offer);
  if (!offer) {
    const ids = offers.map(({ id }) => `'${id}'`).join(", ");
    return wrong(`keep.offer: expected ${ids === "" ? "no 'keep': this question offers nothing" : ids}`);
  }
  const who = keep.who ?? offer.who[0];
  const isOffered = offer.who.some((one) => canonicalJson(one) === canonicalJson(who));
  if (who === undefined || !isOffered) return wrong("keep.who: expected one of those that are offered");
  const bounds = keep.bounds ?? offer.bounds;
  const wider = widerThan(offer.bounds, bounds);
  if (wider !== undefined)
    return wrong(`keep.bounds.${wider}: expected bounds within those that are offered`);
  const until = keep.until ?? offer.until;
  if (until <= now || until > offer.until)
    return wrong(`keep.until: expected a time to come, at most ${offer.until}`);
  if (keep.tainted && !offer.tainted) return wrong("keep.tainted: this call is not tainted; leave it out");
  if (keep.chain && !offer.chain)
    return wrong("keep.chain: no other agent asked for this call; leave it out");
  const isOwn = typeof who === "object" && "person" in who && who.person === by.principal;
  if (!isOwn && !by.isOwner)
    return {
      ok: false,
      status: 403,
      code: "forbidden",
      message: "keep.who: only an owner keeps a permission for others",
    };
  // Without a passkey the gateway cannot know more of the person.
  if (by.showsMore && LEVELS.indexOf(by.how) < LEVELS.indexOf(offer.level))
    return {
      ok: false,
      status: 403,
      code: NEEDS_PASSKEY,
      message: "keep: this gives more rights, so it needs a passkey",
    };
  const { key, version } = boundDevice(home, offer.device, offer.action) ?? {};
  if (key !== offer.key || version !== offer.version)
    return {
      ok: false,
      status: 409,
      code: "device_changed",
      message: "keep: the device is something else by now, so nothing can be kept; answer without it",
    };
  return {
    ok: true,
    permission: {
      id: crypto.randomUUID(),
      device: offer.device,
      key: offer.key,
      version: offer.version,
      actions: { [offer.action]: bounds },
      who,
      conversation: offer.conversation,
      channels: null,
      tainted: keep.tainted === true,
      chain: keep.chain === true,
      hours: keep.hours ?? null,
      until,
      by: by.principal,
      how: by.how,
      question,
      at: now,
    },
  };
}

function wrong(message: string): Refused {
  return { ok: false, status: 400, code: "invalid_body", message };
}
