/** What stands around every screen for a person who is signed in: the screens' names, and at the end of each head what waits. */
import type { SessionView } from "@edgecall/client/routes.ts";
import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { addressOfPlace, type Place, type ScreenName } from "./address.ts";
import { client } from "./api.ts";
import { Bell, Toasts } from "./bell.tsx";
import { useLostSince, watchGateway } from "./connection.ts";
import { Small } from "./controls.tsx";
import { Home } from "./home/home.tsx";
import { LaterSheet } from "./later-sheet.tsx";
import { lazy, type ScreenProps } from "./lazy.tsx";
import { Me } from "./me.ts";
import { More } from "./more.tsx";
import { OpenQuestions, useOpenQuestions, WaitsLink } from "./open-questions.tsx";
import { openPalette, Palette } from "./palette.tsx";
import { Icon } from "./parts/icon.tsx";
import type { IconName } from "./parts/icon-paths.ts";
import { Round } from "./parts/parts.tsx";
import { PermissionToast } from "./permission-toast.tsx";
import { ScreenTools } from "./screen-tools.ts";
import { SignOut } from "./sign-out.tsx";
import { language, say, type TextKey, timeText } from "./texts/say.ts";
import { NewsOfPage, useNews } from "./use-news.ts";

const SCREENS: Record<ScreenName, ComponentType<ScreenProps>> = {
  home: Home,
  devices: lazy("devices", async () => (await import("./devices/devices.tsx")).Devices),
  chat: lazy("chats", async () => (await import("./chat.tsx")).Chat),
  rules: lazy("rules", async () => (await import("./rules.tsx")).Rules),
  record: lazy("record", async () => (await import("./audit.tsx")).Audit),
  setup: lazy("setup", async () => (await import("./setup.tsx")).Setup),
  more: More,
  waiting: lazy("waiting", async () => (await import("./waiting.tsx")).Waiting),
};

const NAMES = {
  home: "home",
  devices: "devices",
  chat: "chats",
  rules: "rules",
  record: "record",
  setup: "setup",
  more: "more",
  waiting: "waiting",
} as const satisfies Record<ScreenName, TextKey>;

/** Those that the bar of a phone has, and those for which it has "More". */
const ON_BAR = ["home", "devices", "chat", "rules"] as const satisfies ScreenName[];
const BEHIND_MORE = ["record", "setup"] as const satisfies ScreenName[];
/** Screens whose texts are in all languages. The others are English. */
const TRANSLATED: readonly ScreenName[] = ["home", "devices", "more", "waiting"];

type NavName = (typeof ON_BAR)[number] | (typeof BEHIND_MORE)[number];
const ICONS: Record<NavName, IconName> = {
  home: "home",
  devices: "devices",
  chat: "chats",
  rules: "rules",
  record: "record",
  setup: "setup",
};

const LIST: Place = { screen: "waiting", item: undefined };

export function Frame({ session, place: address }: { session: SessionView; place: Place }) {
  const sheet = address.screen === "waiting" ? address.item : undefined;
  // A sheet lies over the screen on which it was opened.
  const below = useRef(LIST);
  if (sheet === undefined) below.current = address;
  const place = below.current;
  const { screen } = place;
  const Shown = SCREENS[screen];
  // Coming back from another screen shows the same conversation.
  const talk = useRef<string | undefined>(undefined);
  if (screen === "chat") talk.current = place.item;
  const addressOf = (name: ScreenName) => addressOfPlace(name, name === "chat" ? talk.current : undefined);
  useEffect(watchGateway, []);
  const questions = useOpenQuestions();
  const news = useNews();
  const waits = questions?.total ?? 0;
  const counted = waits + news.unread.length;
  const waited = useRef(waits);
  useEffect(() => {
    // A question has gone with the button that had the focus, so it moves to the screen.
    if (waits < waited.current && document.activeElement === document.body) toMain();
    waited.current = waits;
  }, [waits]);
  useEffect(() => {
    document.title = `${counted > 0 ? `(${counted}) ` : ""}${say(NAMES[screen])} · edgecall`;
  }, [screen, counted]);
  const talksIn = screen === "chat" ? place.item : undefined;
  useEffect(() => {
    if (talksIn !== undefined) news.see(talksIn);
  }, [talksIn, news.loaded]);
  const isTold = news.unread.some(({ conversation }) => conversation !== undefined);
  const link = (name: NavName, isWide = false) => (
    <a
      key={name}
      href={addressOf(name)}
      class={isWide ? "on-wide" : undefined}
      aria-current={name === screen ? "page" : undefined}
    >
      <Icon name={ICONS[name]} />
      <span class="cut">{say(NAMES[name])}</span>
      {((name === "home" && waits > 0) || (name === "chat" && isTold)) && <span class="waits-dot" />}
    </a>
  );
  const isBehindMore = screen === "more" || BEHIND_MORE.some((name) => name === screen);
  const names = [...ON_BAR, ...BEHIND_MORE];
  const initial = (session.name ?? "").trim().charAt(0).toUpperCase();
  return (
    <Me.Provider value={session.name ?? ""}>
      <OpenQuestions.Provider value={questions}>
        <NewsOfPage.Provider value={news}>
          <ScreenTools.Provider
            value={
              <>
                {screen !== "home" && <WaitsLink />}
                <Bell />
                <Round icon="search" label={say("find")} onClick={openPalette} />
                <a class="face" href={addressOf("more")} aria-label={`${say("more")}: ${session.name}`}>
                  {initial}
                </a>
              </>
            }
          >
            <div class="app">
              <nav class="nav" aria-label={say("screens")}>
                <a class="skip" href={addressOf(screen)} onClick={toMain}>
                  {say("skip")}
                </a>
                <span class="brand">
                  <img src="/icon.svg" alt="" width="28" height="28" /> <span class="name">edgecall</span>
                </span>
                {ON_BAR.map((name) => link(name))}
                {BEHIND_MORE.map((name) => link(name, true))}
                <a class="on-phone" href={addressOf("more")} aria-current={isBehindMore ? "page" : undefined}>
                  <Icon name="more" />
                  <span class="cut">{say("more")}</span>
                </a>
                <div class="who">
                  <span class="face" aria-hidden="true">
                    {initial}
                  </span>
                  <span class="cut">
                    {session.name} · {session.role}
                  </span>
                  <SignOut />
                </div>
              </nav>
              <Lost />
              <main
                id="main"
                tabIndex={-1}
                lang={language() === "en" || TRANSLATED.includes(screen) ? undefined : "en"}
              >
                <Shown session={session} item={place.item} />
              </main>
              {sheet !== undefined && (
                <LaterSheet
                  key={sheet}
                  id={sheet}
                  session={session}
                  onClose={() => location.replace(addressOfPlace(screen, place.item))}
                />
              )}
              <Toasts current={talksIn} />
              <PermissionToast />
              <Palette
                screens={names.map((name) => ({ title: say(NAMES[name]), address: addressOf(name) }))}
              />
            </div>
          </ScreenTools.Provider>
        </NewsOfPage.Provider>
      </OpenQuestions.Provider>
    </Me.Provider>
  );
}

/** Says that the gateway does not answer, as long as it is so. */
function Lost() {
  const since = useLostSince();
  return (
    <div class="lost" role="status">
      {since !== undefined && (
        <div class="banner bad">
          <Icon name="away" />
          <span class="grow">{say("lost", { time: timeText(since, Date.now()) })}</span>
          <Small kind="bare" onClick={() => client.json("GET /v1/console/session").catch(() => undefined)}>
            {say("tryNow")}
          </Small>
        </div>
      )}
    </div>
  );
}

function toMain(event?: Event): void {
  event?.preventDefault();
  document.getElementById("main")?.focus();
}
