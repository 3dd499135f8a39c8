/** Ctrl-K, or the search of a screen's head: goes to any screen, or to any conversation by its title. */
import type { ListedConversation } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./api.ts";
import { Form } from "./controls.tsx";
import { newConversationId } from "./place.ts";

type Place = { title: string; address: string };

const SHOWN = 12;
const OPEN = "edgecall-find";

export function openPalette(): void {
  dispatchEvent(new Event(OPEN));
}

export function Palette({ screens }: { screens: readonly Place[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setText] = useState("");
  const [conversations, setConversations] = useState<readonly ListedConversation[]>([]);

  useEffect(() => {
    const open = () => {
      if (dialog.current?.open) return dialog.current.close();
      setText("");
      dialog.current?.showModal();
      client.json("GET /v1/conversations", { query: { limit: 100 } }).then(
        (page) => setConversations(page.conversations),
        // Without the conversations, the screens are still listed.
        () => {},
      );
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", onKey);
    addEventListener(OPEN, open);
    return () => {
      removeEventListener("keydown", onKey);
      removeEventListener(OPEN, open);
    };
  }, []);

  const places: Place[] = [
    ...screens,
    { title: "New conversation", address: `#/chat/${newConversationId()}` },
    ...conversations.map(({ id, title }) => ({ title: visible(title), address: `#/chat/${id}` })),
  ];
  const wanted = words.toLowerCase().split(/\s+/);
  const fitting = places
    .filter(({ title }) => wanted.every((word) => title.toLowerCase().includes(word)))
    .slice(0, SHOWN);
  const go = (place: Place | undefined) => {
    if (!place) return;
    dialog.current?.close();
    location.hash = place.address;
  };

  return (
    <dialog ref={dialog} class="palette" aria-label="Go to">
      <Form
        class="list"
        onSend={() => {
          go(fitting[0]);
        }}
      >
        <input
          type="search"
          aria-label="Find a screen or a conversation"
          placeholder="Find a screen or a conversation"
          value={words}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        {fitting.map((place) => (
          <button key={place.address} type="button" class="plain" onClick={() => go(place)}>
            {place.title}
          </button>
        ))}
        {fitting.length === 0 && <p class="quiet">No match.</p>}
      </Form>
    </dialog>
  );
}
