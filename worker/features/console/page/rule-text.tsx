/** What a rule says, or the confirmation of one that was made, with its buttons; once one is pressed, what came of it. */
import type { TurnResult } from "@edgecall/client/routes.ts";
import { unjoined } from "@edgecall/core/rules/plain-text.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { useAttempt } from "./attempt.ts";
import { Small } from "./controls.tsx";
import { Problem } from "./load.tsx";

type Said = NonNullable<TurnResult["rules"]>[number];

/** @param text plain: no model wrote it, and a device's words may be in it */
export function RuleText({ text, buttons, pressed }: Said) {
  const { failed, busy, attempt } = useAttempt();
  const [answer, setAnswer] = useState<{ done: boolean; text: string }>();
  const line = useRef<HTMLParagraphElement>(null);
  // The conversation tells it of every press. Of a rule that is gone only the one who pressed hears.
  const came = pressed ?? (answer?.done ? answer.text : undefined);
  const wasPressed = answer !== undefined && came !== undefined;
  // The buttons are gone, so the focus moves to what stands in their place.
  useEffect(() => {
    if (wasPressed) line.current?.focus();
  }, [wasPressed]);
  const press = ({ do: what, rule, occurrence }: Said["buttons"][number]) =>
    attempt(async () => {
      const body = { do: what, occurrence };
      setAnswer(await client.json("POST /v1/rules/{rule}/press", { path: { rule }, body }));
    });
  return (
    <div class="said">
      {text !== undefined && <p>{shown(text)}</p>}
      {came === undefined ? (
        buttons.length > 0 && (
          <div class="row">
            {buttons.map((button) => (
              <Small disabled={busy} onClick={() => press(button)}>
                {button.label}
              </Small>
            ))}
          </div>
        )
      ) : (
        <p class="answered" ref={line} tabIndex={-1}>
          {shown(came)}
        </p>
      )}
      <Problem text={failed ?? (answer?.done === false ? answer.text : undefined)} />
    </div>
  );
}

function shown(words: string): string {
  return visible(unjoined(words));
}
