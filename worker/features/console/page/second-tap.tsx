/** Names what does harm, and asks for a second tap. The first button stays where it is and does nothing more, so that a tap that comes twice is one. */
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useRef } from "preact/hooks";
import { say } from "./texts/say.ts";

type Props = { texts: readonly string[]; verb: string; disabled: boolean; onYes: () => void };

export function SecondTap({ texts, verb, disabled, onYes }: Props) {
  const words = useRef<HTMLParagraphElement>(null);
  // A screen reader has to read this before the second.
  useEffect(() => words.current?.focus(), []);
  return (
    <div class="notice second-tap">
      <p ref={words} tabIndex={-1}>
        {say("tapAgain")}
      </p>
      <ul>
        {texts.map((text) => (
          <li key={text}>{visible(text)}</li>
        ))}
      </ul>
      <button type="button" class="bad" disabled={disabled} onClick={onYes}>
        {say("sureVerb", { verb: visible(verb) })}
      </button>
    </div>
  );
}
