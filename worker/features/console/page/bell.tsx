/** The bell: how much is unread, the newest of it, and a toast when something new comes while a person looks. */
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { addressOfPlace } from "./address.ts";
import { Small } from "./controls.tsx";
import type { NewsItem } from "./news.ts";
import { Icon } from "./parts/icon.tsx";
import { Round } from "./parts/parts.tsx";
import { say, timeText } from "./texts/say.ts";
import { NewsOfPage } from "./use-news.ts";

const SHOWN = 12;
const TOAST_MS = 8_000;

export function Bell() {
  const { loaded, items, unread, seeAll } = useContext(NewsOfPage);
  const [open, setOpen] = useState(false);
  /** What was new when the list was opened stays marked in it. */
  const fresh = useRef<ReadonlySet<string>>(new Set());
  const box = useRef<HTMLDivElement>(null);
  // Opened before they are loaded, it shows them when they come.
  useEffect(() => {
    if (!open || !loaded) return;
    fresh.current = new Set(unread.map(({ key }) => key));
    seeAll();
  }, [open, loaded]);
  useEffect(() => {
    if (!open) return;
    box.current?.querySelector<HTMLElement>(".news")?.focus();
    const close = (event: Event) => {
      const isEscape = event instanceof KeyboardEvent && event.key === "Escape";
      const isOutside = event.type === "pointerdown" && !box.current?.contains(event.target as Node);
      if (!isEscape && !isOutside && event.type !== "hashchange") return;
      setOpen(false);
      if (isEscape) box.current?.querySelector("button")?.focus();
    };
    const events = ["keydown", "pointerdown", "hashchange"] as const;
    for (const name of events) addEventListener(name, close);
    return () => {
      for (const name of events) removeEventListener(name, close);
    };
  }, [open]);
  return (
    <div class="bell" ref={box}>
      <Round
        icon="bell"
        label={unread.length > 0 ? say("newsUnread", { count: unread.length }) : say("news")}
        count={unread.length}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <section class="news" aria-label={say("news")} tabIndex={-1}>
          {items.length === 0 ? (
            <p class="quiet">{say("noNews")}</p>
          ) : (
            <ol class="rows">
              {items.slice(0, SHOWN).map((item) => (
                <Item key={item.key} item={item} isNew={fresh.current.has(item.key)} />
              ))}
            </ol>
          )}
        </section>
      )}
    </div>
  );
}

function Item({ item, isNew }: { item: NewsItem; isNew: boolean }) {
  const now = Date.now();
  return (
    <li>
      <a class={isNew ? "event new" : "event"} href={hrefOf(item)}>
        <time class="num quiet" dateTime={new Date(item.at).toISOString()}>
          {timeText(item.at, now)}
        </time>
        <span class="grow">
          <span class="title">{item.title}</span>
          <span class="second">{item.second}</span>
        </span>
        {isNew && <span class="unseen">{say("isNew")}</span>}
      </a>
    </li>
  );
}

function hrefOf({ conversation }: NewsItem): string {
  return conversation === undefined ? "#/rules" : addressOfPlace("chat", conversation);
}

/** What comes while the page is open. The first answer is none of it. */
export function Toasts({ current }: { current: string | undefined }) {
  const { loaded, items, see } = useContext(NewsOfPage);
  const known = useRef<ReadonlySet<string>>(undefined);
  const [shown, setShown] = useState<readonly NewsItem[]>([]);
  const newest = items[0]?.key;
  useEffect(() => {
    if (!loaded) return;
    const before = known.current;
    known.current = new Set(items.map(({ key }) => key));
    if (before === undefined) return;
    const come = items.filter(({ key }) => !before.has(key));
    // In its own conversation it stands already.
    for (const { conversation } of come) if (conversation === current && current !== undefined) see(current);
    const toasts = come.filter(({ conversation }) => conversation === undefined || conversation !== current);
    if (toasts.length > 0) setShown(toasts.slice(0, 3));
  }, [loaded, newest, items.length]);
  useEffect(() => {
    if (shown.length === 0) return;
    const timer = setTimeout(() => setShown([]), TOAST_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <div class="toasts" role="status">
      {shown.map((item) => (
        <div key={item.key} class="toast">
          <Icon name="bell" />
          <a class="grow" href={hrefOf(item)} onClick={() => setShown([])}>
            <span class="title">{item.title}</span>
            <span class="second">{item.second}</span>
          </a>
          <Small kind="bare" onClick={() => setShown([])}>
            {say("close")}
          </Small>
        </div>
      ))}
    </div>
  );
}
