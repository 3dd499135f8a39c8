/** What a yes has just allowed, over the screen, with the way back: it is read where it was given, not in a list. */
import type { PermissionView } from "@edgecall/client/routes.ts";
import { useContext, useEffect, useState } from "preact/hooks";
import { addressOfPlace } from "./address.ts";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Small } from "./controls.tsx";
import { Problem } from "./load.tsx";
import { Me } from "./me.ts";
import { Icon } from "./parts/icon.tsx";
import { boundsText, endText } from "./permission-text.ts";
import { say } from "./texts/say.ts";

/** @property sentence the question @property questions ids of the calls for which it was given */
type Given = { sentence: string; questions: readonly string[] };

const listeners = new Set<(given: Given) => void>();

export function announcePermissions(given: Given): void {
  for (const listener of listeners) listener(given);
}

/** Long enough to be read and pressed. */
const SHOWN_MS = 20_000;
const ENDED_MS = 5_000;

type Shown = { sentence: string; made: readonly PermissionView[]; ended: boolean };

export function PermissionToast() {
  const [shown, setShown] = useState<Shown>();
  const { failed, busy, attempt } = useAttempt();
  const me = useContext(Me);
  useEffect(() => {
    const onGiven = ({ sentence, questions }: Given) =>
      void attempt(async () => {
        const { permissions } = await client.json("GET /v1/permissions");
        const made = permissions.filter(({ question }) => question !== null && questions.includes(question));
        if (made.length > 0) setShown({ sentence, made, ended: false });
      });
    listeners.add(onGiven);
    return () => void listeners.delete(onGiven);
  }, []);
  useEffect(() => {
    if (!shown) return;
    const timer = setTimeout(() => setShown(undefined), shown.ended ? ENDED_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  const undo = (before: Shown) =>
    attempt(async () => {
      for (const { id } of before.made) await client.json("DELETE /v1/permissions/{id}", { path: { id } });
      setShown({ ...before, ended: true });
    });
  return (
    <div class="toasts" role="status">
      {shown && (
        <div class="toast permission">
          <Icon name="shield" />
          <p class="grow">
            <span class="title">
              {shown.ended ? say("asksAgain") : say("notAskedNow", { text: shown.sentence })}
            </span>
            {!shown.ended && <span class="second">{describe(shown.made, me)}</span>}
          </p>
          <Problem text={failed} />
          {!shown.ended && (
            <Small disabled={busy} onClick={() => void undo(shown)}>
              {say("undo")}
            </Small>
          )}
          <a href={addressOfPlace("setup", "permissions")}>{say("permissions")}</a>
          <Small kind="bare" onClick={() => setShown(undefined)}>
            {say("close")}
          </Small>
        </div>
      )}
    </div>
  );
}

/** Those of one yes have the same holder and end; their values are said where there is one. */
function describe(made: readonly PermissionView[], me: string): string {
  const [first] = made;
  if (!first) return "";
  const { actions, who, until, conversation } = first;
  const values = made.length === 1 ? Object.values(actions).map(boundsText) : [];
  const end = endText({ id: conversation === null ? "always" : "conversation", who: [who], until }, me);
  return [...values, end].filter(Boolean).join("; ");
}
