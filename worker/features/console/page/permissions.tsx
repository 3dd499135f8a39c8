/** Standing permissions: what is allowed without a question, within which values, for whom and until when. Each can be ended. */
import type { PermissionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useContext } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { actionText } from "./change-text.ts";
import { Panel, Small } from "./controls.tsx";
import { Problem, Skeleton, useLoaded } from "./load.tsx";
import { Me } from "./me.ts";
import { Pager, useSlice } from "./pager.tsx";
import { Line, Mark } from "./parts/parts.tsx";
import { boundsText, dateText, endText } from "./permission-text.ts";
import type { RuleName } from "./person-text.ts";
import { language, say } from "./texts/say.ts";
import { useRepeated } from "./use-repeated.ts";
import { useRuleNames } from "./use-rule-names.ts";

/** Permissions on a page; a home may hold 200. */
const SHOWN = 25;
const MINUTES_AN_HOUR = 60;

/** Setup's page: all that this person may see. */
export function Permissions() {
  const { value, problem, reload } = useLoaded("GET /v1/permissions");
  useRepeated(reload);
  const ruleName = useRuleNames();
  const { slice, paging } = useSlice(value?.permissions ?? [], SHOWN);
  if (!value) return problem ? <Problem text={problem} /> : <Skeleton lines={4} />;
  return (
    <div lang={language()}>
      <Panel id="permissions" title={say("permissions")}>
        <Problem text={problem} />
        <p class="quiet">{say(value.permissions.length === 0 ? "permissionsNone" : "permissionsText")}</p>
        <Pager paging={paging} what="permissions" />
        <ul class="rows">
          {slice.map((one) => (
            <PermissionLine
              key={one.id}
              permission={one}
              title={say("named", { name: visible(one.name), text: actionsText(one) })}
              ruleName={ruleName}
              onEnded={reload}
            />
          ))}
        </ul>
      </Panel>
    </div>
  );
}

/** Those of one device, asked for again while a person looks. */
export function usePermissions(device: string): { permissions: readonly PermissionView[]; look: () => void } {
  const { value, reload } = useLoaded("GET /v1/permissions", { query: { device } });
  useRepeated(reload);
  return { permissions: value?.permissions ?? [], look: reload };
}

type LinesProps = { permissions: readonly PermissionView[]; look: () => void };

/** Rows of a device's own list. */
export function PermissionLines({ permissions, look }: LinesProps) {
  const ruleName = useRuleNames();
  return permissions.map((one) => (
    <PermissionLine
      key={one.id}
      permission={one}
      title={say("unasked", { text: actionsText(one) })}
      ruleName={ruleName}
      onEnded={look}
    />
  ));
}

type Props = { permission: PermissionView; title: string; ruleName: RuleName; onEnded: () => void };

function PermissionLine({ permission, title, ruleName, onEnded }: Props) {
  const me = useContext(Me);
  const { failed, busy, attempt } = useAttempt(onEnded);
  const end = () =>
    attempt(() => client.json("DELETE /v1/permissions/{id}", { path: { id: permission.id } }));
  return (
    <Line mark={<Mark icon="check" tone="on" />} title={title} second={termsText(permission, me, ruleName)}>
      <Problem text={failed} />
      <Small disabled={busy} aria-label={`${say("endIt")}: ${title}`} onClick={() => void end()}>
        {say("endIt")}
      </Small>
    </Line>
  );
}

/** "lock", "set on and off, brightness pct 1–100" */
function actionsText({ actions }: PermissionView): string {
  return Object.entries(actions)
    .map(([name, bounds]) => `${actionText(name)} ${boundsText(bounds)}`.trim())
    .join(", ");
}

/** "for everybody, until 26 Feb 2027; you allowed it on 28 Nov 2026" */
function termsText(permission: PermissionView, me: string, ruleName: RuleName): string {
  const { who, until, conversation, hours, tainted, chain, by, at } = permission;
  const isHere = conversation !== null;
  const end = endText({ id: isHere ? "conversation" : "always", who: [who], until }, me, ruleName);
  const given = { name: visible(by), date: dateText(at) };
  return [
    isHere ? say("inOneConversation", { end }) : end,
    hours && say("onlyBetween", { from: clockText(hours.from), to: clockText(hours.to) }),
    say(by === me ? "youAllowed" : "theyAllowed", given),
    (tainted || chain) && say("evenForOthers"),
  ]
    .filter(Boolean)
    .join("; ");
}

/** @param minute of the home's day */
function clockText(minute: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minute / MINUTES_AN_HOUR))}:${two(minute % MINUTES_AN_HOUR)}`;
}
