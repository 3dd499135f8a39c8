/** One message when a permission is made: to the person who gave it, and to the one for whom it is. */
import type { StandingPermission } from "@edgecall/core/permissions/permission.ts";
import { rosterOf } from "../agents/home-roster.ts";
import type { HomeContext } from "../context.ts";
import { sendNotice } from "../notices/hand-over.ts";
import { connectionsOf, ownSubscriptions, privateChatOf } from "../notices/reach.ts";
import { personText } from "../people/person-name.ts";

export function notifyMade(home: HomeContext, permission: StandingPermission, now: number): void {
  const { id, by, who } = permission;
  const people = typeof who === "object" && "person" in who ? [by, who.person] : [by];
  const recipients = [...new Set(people.flatMap((principal) => placesOf(home, principal)))];
  const text = `${describePermission(home, permission)} End it on the page Devices of the console, or with 'edgecall permissions end ${id}'.`;
  sendNotice(
    home,
    recipients,
    { id: `permission:${id}`, text, rules: [], buttons: [], critical: false, at: now },
    null,
    now,
  );
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

function describePermission(home: HomeContext, permission: StandingPermission): string {
  const { device, actions, who, by, until, conversation } = permission;
  const names = rosterOf(home).withNames([device]).join();
  const whose =
    who === "everybody"
      ? "everybody of the home"
      : "person" in who
        ? personText(home, { principal: who.person })
        : "program" in who
          ? "a connected program"
          : "home" in who
            ? "another home"
            : "a rule";
  const where = conversation === null ? "" : " in one conversation";
  const end = new Date(until).toISOString().slice(0, 10);
  return `${personText(home, { principal: by })} allowed ${whose}${where}, without a question until ${end}: ${Object.keys(actions).join(", ")} on ${names}.`;
}
