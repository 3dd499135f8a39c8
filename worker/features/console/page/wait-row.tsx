/** A question that waits, as one row: its sentence leads to its sheet. What the sentence says whole, and can do no harm, is answered here. */
import type { OpenQuestion, SessionView } from "@edgecall/client/routes.ts";
import { hiddenNotice, visible } from "@edgecall/core/tools/visible.ts";
import type { ComponentChildren } from "preact";
import { addressOfPlace } from "./address.ts";
import { Small } from "./controls.tsx";
import { Problem } from "./load.tsx";
import { sentenceOf } from "./open-questions.tsx";
import { Mark } from "./parts/parts.tsx";
import { say } from "./texts/say.ts";
import { useAnswer } from "./use-answer.ts";

type Props = { question: OpenQuestion; session: SessionView; second: ComponentChildren };

export function WaitRow({ question, session, second }: Props) {
  const { sent, problem, reply } = useAnswer(question);
  const { approval, id } = question;
  const { card } = approval ?? {};
  const isHere = isWhole(question) && (session.scopes?.includes("approve") ?? false);
  const href = addressOfPlace("waiting", id);
  const sentence = sentenceOf(question);
  const named = (label: string) => ({ "aria-label": say("named", { name: label, text: sentence }) });
  return (
    <li class="line wait-row">
      <Mark icon={approval ? "shield" : "chats"} tone={card?.danger ? "bad" : "wait"} />
      <div class="grow">
        <p class="title">
          <a class="wait-title" href={href}>
            {sentence}
          </a>
        </p>
        <p class="second">{second}</p>
        <Problem text={problem} />
      </div>
      <div class="acts">
        {isHere && card ? (
          <>
            <Small disabled={sent} {...named(visible(card.decline))} onClick={() => reply("deny")}>
              {visible(card.decline)}
            </Small>
            <Small
              kind="main"
              disabled={sent}
              {...named(visible(card.verb))}
              onClick={() => reply("approve")}
            >
              {visible(card.verb)}
            </Small>
          </>
        ) : (
          <a class="button small" href={href} {...named(say(approval ? "readIt" : "open"))}>
            {say(approval ? "readIt" : "open")}
          </a>
        )}
      </div>
    </li>
  );
}

/** It is plain, and its sentence has all of it. */
function isWhole({ approval, members, plain }: OpenQuestion): boolean {
  if (!plain || !approval?.card || members) return false;
  const { partial, shows, lines } = approval.card;
  return (
    !partial && shows === undefined && !lines && hiddenNotice({ ...approval, card: undefined }) === undefined
  );
}
