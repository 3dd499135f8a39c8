/** Asks for a paused rule anew: the card as it would be allowed now, and a second tap where it may do harm. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Small } from "../controls.tsx";
import { Problem, Skeleton } from "../load.tsx";
import { RuleLines } from "../rule-lines.tsx";
import { SecondTap } from "../second-tap.tsx";
import { say } from "../texts/say.ts";
import { type Automation, wordsOf } from "./automation.ts";

type Card = AnswerOf<"POST /v1/automations/{automation}/card">;
type Props = { automation: Automation; onDone: (isAllowed: boolean) => void };

export function AllowAgain({ automation: { id, name }, onDone }: Props) {
  const [card, setCard] = useState<Card>();
  const [problem, setProblem] = useState<string>();
  const [isSecond, setSecond] = useState(false);
  const { failed, busy, attempt } = useAttempt();
  const group = useRef<HTMLDivElement>(null);
  const path = { automation: id };
  useEffect(() => {
    // The button that opened it is gone, so the focus moves to what stands in its place.
    group.current?.focus();
    client
      .json("POST /v1/automations/{automation}/card", { path })
      .then(setCard, (error: unknown) => setProblem(errorText(error)));
  }, []);
  const allow = () =>
    attempt(async () => {
      if (!card) return;
      await client.json("PATCH /v1/automations/{automation}", {
        path,
        body: { status: "active", allow: card.allow, second_tap: isSecond },
      });
      onDone(true);
    });
  const asksTwice = (card?.second_tap.length ?? 0) > 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: it contains no form fields
    <div
      ref={group}
      tabIndex={-1}
      class="question approval"
      role="group"
      aria-label={say("named", { name: say("actAgain"), text: visible(name) })}
    >
      <p class="sentence">{say("actAgain")}</p>
      {!card && !problem && <Skeleton lines={3} />}
      {card && <RuleLines lines={wordsOf(card.card, name)} />}
      {card && isSecond && (
        <SecondTap texts={card.second_tap} verb={say("allow")} disabled={busy} onYes={allow} />
      )}
      <Problem text={problem ?? failed} />
      <div class="row answers">
        <Small onClick={() => onDone(false)}>{say("notNow")}</Small>
        {card && (
          <Small
            kind={asksTwice ? "bad" : "good"}
            disabled={busy || isSecond}
            onClick={() => (asksTwice ? setSecond(true) : void allow())}
          >
            {say("allow")}
          </Small>
        )}
      </div>
    </div>
  );
}
