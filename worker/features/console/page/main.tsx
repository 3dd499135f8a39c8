/** The console: the session and the screens. The address's hash names the screen. */
import { ResponseError } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { type ComponentType, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { client, errorText } from "./api.ts";
import { Chat } from "./chat.tsx";
import { Small } from "./controls.tsx";
import { Fleet } from "./fleet.tsx";
import { lazy } from "./lazy.tsx";
import { Problem } from "./load.tsx";
import { Palette } from "./palette.tsx";
import { type Place, type ScreenName, usePlace } from "./place.ts";
import { Setup } from "./setup.tsx";
import { SignIn } from "./sign-in.tsx";
import { OpenQuestions, useOpenQuestions, Waiting, WaitsLink } from "./waiting.tsx";

const SCREENS: Record<ScreenName, ComponentType<{ session: SessionView; item: string | undefined }>> = {
  chat: Chat,
  devices: lazy("Devices", "BrokerDevices"),
  fleet: Fleet,
  rules: lazy("Rules", "Rules"),
  audit: lazy("Audit", "Audit"),
  metrics: lazy("Metrics", "Metrics"),
  setup: Setup,
  waiting: Waiting,
};

function App() {
  const [session, setSession] = useState<SessionView>();
  const [error, setError] = useState<unknown>();
  const place = usePlace();
  useEffect(() => {
    client.json("GET /v1/console/session").then(setSession, setError);
  }, []);
  if (!session)
    return (
      <main class="sign-in">
        <Problem text={error === undefined ? undefined : errorText(error)} />
        {error instanceof ResponseError && error.code === "not_configured" && (
          <p>
            A new gateway? <a href="/tokens">Make its tokens</a>.
          </p>
        )}
      </main>
    );
  if (!session.signed_in) return <SignIn access={session.access} onSession={setSession} />;
  return <Signed session={session} place={place} />;
}

function Signed({ session, place }: { session: SessionView; place: Place }) {
  const { screen } = place;
  const Shown = SCREENS[screen];
  // Coming back from another screen shows the same conversation.
  const talk = useRef<string | undefined>(undefined);
  if (screen === "chat") talk.current = place.item;
  const addressOf = (name: ScreenName) =>
    name === "chat" && talk.current !== undefined ? `#/chat/${talk.current}` : `#/${name}`;
  const names = Object.keys(ICONS) as Array<keyof typeof ICONS>;
  const questions = useOpenQuestions();
  const waits = questions?.total ?? 0;
  useEffect(() => {
    document.title = `${waits > 0 ? `(${waits}) ` : ""}${titleOf(screen)} · edgecall`;
  }, [screen, waits]);
  return (
    <OpenQuestions.Provider value={questions}>
      <div class="app">
        <header class="top">
          <a class="skip" href={addressOf(screen)} onClick={toMain}>
            Skip to the content
          </a>
          <span class="brand">
            <img src="/icon.svg" alt="" width="26" height="26" /> <span class="name">edgecall</span>
          </span>
          <nav aria-label="Screens">
            {names.map((name) => (
              <a href={addressOf(name)} aria-current={name === screen ? "page" : undefined}>
                <Icon name={name} />
                {titleOf(name)}
              </a>
            ))}
          </nav>
          <Palette screens={names.map((name) => ({ title: titleOf(name), address: addressOf(name) }))} />
          <WaitsLink />
          <span class="who">
            <span class="quiet">{session.name}</span>
            <Small onClick={() => signOut()}>Sign out</Small>
          </span>
        </header>
        <main id="main" tabIndex={-1}>
          <Shown session={session} item={place.item} />
        </main>
      </div>
    </OpenQuestions.Provider>
  );
}

const ICONS = {
  chat: "M4 5h16v11H10l-4 4v-4H4z",
  devices: "M9 18h6M10 21h4M12 3a6 6 0 0 0-3.5 10.9V16h7v-2.1A6 6 0 0 0 12 3z",
  fleet: "M5 4h14v6H5zM5 14h14v6H5zM8 7h.1M8 17h.1",
  rules: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  audit: "M6 3h9l4 4v14H6zM9 11h7M9 15h7",
  metrics: "M5 20V11M12 20V4M19 20v-7",
  setup: "M4 8h9M17 8h3M4 16h3M11 16h9M15 6v4M9 14v4",
};

function Icon({ name }: { name: keyof typeof ICONS }) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" class="icon">
      <path d={ICONS[name]} />
    </svg>
  );
}

function toMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

async function signOut(): Promise<void> {
  await client.json("DELETE /v1/console/session").catch(() => undefined);
  // The next person at this machine must not see which conversation it was.
  location.replace("#/");
  location.reload();
}

function titleOf(name: string): string {
  if (name === "waiting") return "Waiting for you";
  return name.charAt(0).toUpperCase() + name.slice(1);
}

// A pressed notification names a place.
navigator.serviceWorker?.addEventListener("message", ({ data }: MessageEvent<{ place: string }>) => {
  location.hash = data.place.slice(1);
});

const root = document.getElementById("root");
if (root) {
  root.replaceChildren();
  render(<App />, root);
}
