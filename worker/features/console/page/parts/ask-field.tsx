/** The field in which the home is asked or told something. */
import { useState } from "preact/hooks";
import { Icon } from "./icon.tsx";

export function AskField({
  label,
  send,
  onAsk,
}: {
  label: string;
  send: string;
  onAsk: (text: string) => void;
}) {
  const [text, setText] = useState("");
  return (
    <form
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") onAsk(text.trim());
      }}
    >
      <input
        aria-label={label}
        placeholder={label}
        maxLength={32_000}
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="main go" aria-label={send}>
        <Icon name="up" />
      </button>
    </form>
  );
}
