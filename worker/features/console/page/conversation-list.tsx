/** The list of conversations: beside the chat on a desktop, behind a button on a phone. */
import { useState } from "preact/hooks";
import { Small } from "./controls.tsx";
import { Problem, Skeleton } from "./load.tsx";
import { ago } from "./times.ts";
import type { Conversations } from "./use-conversations.ts";

type Props = { conversations: Conversations; current: string; onOpen: (id: string) => void };

export function ConversationList({ conversations, current, onOpen }: Props) {
  const { list, problem, more, search } = conversations;
  const [words, setText] = useState("");
  return (
    <>
      <input
        type="search"
        aria-label="Search conversations"
        placeholder="Search titles"
        maxLength={80}
        value={words}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          search(value);
        }}
      />
      <Problem text={problem} />
      {!list && !problem && <Skeleton lines={4} />}
      {list?.length === 0 && (
        <p class="quiet">
          {words.trim() === ""
            ? "Conversations that you start are listed here."
            : "No title contains these words."}
        </p>
      )}
      <ul>
        {list?.map((one) => (
          <li key={one.id}>
            <button
              type="button"
              class="plain"
              aria-current={one.id === current ? "true" : undefined}
              onClick={() => onOpen(one.id)}
            >
              <span>{one.title}</span>
              <small>{ago(one.last_at, Date.now())}</small>
            </button>
          </li>
        ))}
      </ul>
      {more && <Small onClick={more}>Show older ones</Small>}
    </>
  );
}
