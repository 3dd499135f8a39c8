/** The list of conversations: beside the chat on a desktop, behind a button on a phone. */
import type { ListedConversation } from "@edgecall/client/routes.ts";
import { useContext, useState } from "preact/hooks";
import { Small } from "./controls.tsx";
import { Problem, Skeleton } from "./load.tsx";
import { ago } from "./times.ts";
import type { Conversations } from "./use-conversations.ts";
import { NewsOfPage } from "./use-news.ts";

/** How the ids of the command line's conversations begin. */
const OF_COMMAND = "cli-";

type Props = { conversations: Conversations; current: string; onOpen: (id: string) => void };

export function ConversationList({ conversations, current, onOpen }: Props) {
  const { list, problem, more, search } = conversations;
  const [words, setText] = useState("");
  const { unread } = useContext(NewsOfPage);
  const told = new Set(unread.map(({ conversation }) => conversation));
  // Each `edgecall --ask` has one of its own.
  const [own, fromCommands] = [false, true].map(
    (is) => list?.filter(({ id }) => id.startsWith(OF_COMMAND) === is) ?? [],
  ) as [ListedConversation[], ListedConversation[]];
  const rows = { current, onOpen, told };
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
      <Rows of={own} {...rows} />
      {fromCommands.length > 0 && (
        <details open={words.trim() !== "" || fromCommands.some(({ id }) => id === current)}>
          <summary>
            From the command line ({fromCommands.length})
            {fromCommands.some(({ id }) => told.has(id)) && <Unread />}
          </summary>
          <Rows of={fromCommands} {...rows} />
        </details>
      )}
      {more && <Small onClick={more}>Show older ones</Small>}
    </>
  );
}

type RowsProps = Omit<Props, "conversations"> & {
  of: readonly ListedConversation[];
  /** Conversations in which something was told that was not seen. */
  told: ReadonlySet<string | undefined>;
};

function Rows({ of, current, onOpen, told }: RowsProps) {
  return (
    <ul>
      {of.map((one) => (
        <li key={one.id}>
          <button
            type="button"
            class="plain"
            aria-current={one.id === current ? "true" : undefined}
            onClick={() => onOpen(one.id)}
          >
            <span class="cut">{one.title}</span>
            <small>
              {ago(one.last_at, Date.now())}
              {told.has(one.id) && <Unread />}
            </small>
          </button>
        </li>
      ))}
    </ul>
  );
}

function Unread() {
  return (
    <span class="unread-dot">
      <span class="unseen">, unread</span>
    </span>
  );
}
