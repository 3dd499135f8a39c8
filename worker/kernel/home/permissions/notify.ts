/**
 * One message when permissions are made with one yes: to the person who gave it, and to the one for whom they are. Its button "It wasn't
 * me" ends all that this yes made.
 */
import type { StandingPermission, Who } from "@edgecall/core/permissions/permission.ts";
import type { MessageKey } from "@edgecall/core/phrases/languages/phrase-data.ts";
import { type Said, saidText } from "@edgecall/core/phrases/said-text.ts";
import type { Pressed, RuleButton, RulePress } from "../../api/notices.ts";
import { phrasesOf } from "../../phrases.ts";
import { rosterOf } from "../agents/home-roster.ts";
import { clockOf } from "../clock.ts";
import type { HomeContext } from "../context.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { connectionsOf, ownSubscriptions, privateChatOf } from "../notices/reach.ts";
import { personText } from "../people/person-name.ts";
import { endPermission } from "./ends.ts";
import { permissionsOf } from "./permission-store.ts";

const BUTTON = /^g-([0-9a-f]{12})$/;
const LISTED_MAX = 10;

/** @param made with one yes: they differ in device, action and bounds */
export function notifyMade(
  home: HomeContext,
  made: readonly [StandingPermission, ...StandingPermission[]],
  now: number,
): void {
  const [{ id, by, who }] = made;
  const people = typeof who === "object" && "person" in who ? [by, who.person] : [by];
  const recipients = [...new Set(people.flatMap((principal) => placesOf(home, principal)))];
  const { zone } = clockOf(home).read();
  const parts = partsOf(home, made);
  const labels: MessageKey[] = ["notMe"];
  const buttons: RuleButton[] = [
    { label: phrasesOf().say("notMe"), do: "stop", rule: markOf(id), occurrence: 0 },
  ];
  const text = saidText(parts, phrasesOf(), zone, now);
  sendNotice(
    home,
    recipients,
    {
      id: `permission:${id}`,
      text,
      rules: [],
      buttons,
      critical: false,
      at: now,
      said: { parts, labels, zone },
    },
    null,
    now,
  );
}

export function isPermissionButton(rule: string): boolean {
  return BUTTON.test(rule);
}

/** "It wasn't me": all that this yes made ends. It takes rights away, so a press in the console is enough. */
export function pressPermissionButton(home: HomeContext, { rule, by }: RulePress): Pressed {
  const all = [...permissionsOf(home).open(), ...permissionsOf(home).ended()];
  const first = all.find(({ permission: { id } }) => markOf(id) === rule)?.permission;
  if (!first) return { done: false, text: "This permission is over." };
  const { who } = first;
  const isFor = typeof who === "object" && "person" in who && who.person === by.principal;
  if (by.role !== "owner" && first.by !== by.principal && !isFor)
    return {
      done: false,
      text: "Only an owner, or a person whom the permission names, can end it.",
    };
  const channel = by.conversation?.split("/")[1] ?? "api";
  const caller = { principal: by.principal, role: by.role, channel };
  const ended = permissionsOf(home)
    .open()
    .filter(({ permission }) => permission.by === first.by && permission.at === first.at)
    .flatMap(({ permission: { id } }) => endPermission(home, id, "not_me", caller) ?? []);
  const count = ended.length === 1 ? "The permission has" : `${ended.length} permissions have`;
  const text =
    ended.length === 0
      ? "It has ended already."
      : `${count} ended, and what was allowed asks again. Somebody else has what ${personText(home, { principal: first.by })} signs in with: replace the token, and look at the passkeys.`;
  return { done: true, text };
}

/** The permission in a button, whose text is short. */
function markOf(id: string): string {
  return `g-${id.replaceAll("-", "").slice(0, 12)}`;
}

/** Private chats, browsers and topics of a person. */
function placesOf(home: HomeContext, principal: string): string[] {
  const [channel = ""] = principal.split(":", 1);
  const sender = principal.slice(channel.length + 1);
  const chats = connectionsOf(home)
    .filter((one) => one.channel === channel && sender !== "")
    .flatMap((one) => privateChatOf(home, one, sender) ?? []);
  return [...chats, ...ownSubscriptions(home, principal)];
}

function partsOf(home: HomeContext, made: readonly [StandingPermission, ...StandingPermission[]]): Said[] {
  const [{ id, who, by, until, conversation }] = made;
  const listed = made.slice(0, LISTED_MAX).map(({ device, actions }) => {
    const names = rosterOf(home).withNames([device]).join();
    return `${names} (${Object.keys(actions).join(", ")})`;
  });
  const more = made.length > LISTED_MAX ? "; …" : "";
  const holder = holderOf(who);
  const person = typeof who === "object" && "person" in who ? who.person : undefined;
  return [
    {
      key: "permissionMade",
      given: {
        by: personText(home, { principal: by }),
        date: new Date(until).toISOString().slice(0, 10),
        list: `${listed.join("; ")}${more}`,
        command: made.length === 1 ? `'edgecall permissions end ${id}'` : "'edgecall permissions end'",
        ...(person !== undefined && { whose: personText(home, { principal: person }) }),
      },
      keys: { notMe: "notMe", ...(holder && { whose: holder }) },
    },
    ...(conversation === null ? [] : [{ key: "permissionMadeHere" as const }]),
  ];
}

/** @returns undefined: a person, who has a name */
function holderOf(who: Who): MessageKey | undefined {
  if (who === "everybody") return "holderEverybody";
  if ("person" in who) return undefined;
  if ("program" in who) return "holderProgram";
  return "home" in who ? "holderHome" : "holderRule";
}
