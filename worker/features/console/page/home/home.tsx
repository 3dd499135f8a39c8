/** Home, from top to bottom: asking, what waits, what needs a look, the home in a few chips, its areas, and today. */

import type { SessionView } from "@edgecall/client/routes.ts";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { addressOfPlace } from "../address.ts";
import { askLater } from "../ask-later.ts";
import { FailedPress } from "../failed-press.tsx";
import { useOwnQuestion } from "../later-sheet.tsx";
import type { ScreenProps } from "../lazy.tsx";
import { Problem, Screen } from "../load.tsx";
import { OpenQuestions } from "../open-questions.tsx";
import { AskField } from "../parts/ask-field.tsx";
import { Banner, Fine } from "../parts/parts.tsx";
import { newConversationId, openConversation } from "../place.ts";
import { say, timeText } from "../texts/say.ts";
import type { Thing } from "../things.ts";
import { useHome } from "../use-home.ts";
import { NewsOfPage } from "../use-news.ts";
import { usePress } from "../use-press.ts";
import { Areas, AreasSkeleton } from "./areas.tsx";
import { Chips } from "./chips.tsx";
import { NeedsALook } from "./needs.tsx";
import { New } from "./new.tsx";
import { needsOf } from "./summary.ts";
import { Today } from "./today.tsx";
import { Waits } from "./waits.tsx";

export function Home({ session }: ScreenProps) {
  const { things, problem, status, reload } = useHome(session);
  const news = useContext(NewsOfPage);
  const open = useContext(OpenQuestions);
  const pressing = usePress(reload);
  const looks = useLooksAfterAnswers(open?.total, reload);
  useOwnQuestion(pressing.call);
  const needs = things && needsOf(things, news.rules);
  const isFine = needs?.length === 0 && open?.total === 0;
  const bridge = status?.bridge;
  const isEmpty = things?.length === 0;
  return (
    <Screen title={say("home")}>
      {bridge && !bridge.online && things?.some(({ device }) => device) && (
        <Banner kind="wait" icon="alarm" text={bridgeText(bridge.last_seen)}>
          <a class="more-link" href="#/setup/gateway">
            {say("why")}
          </a>
        </Banner>
      )}
      <div class="home">
        <div class="home-now">
          {/* Before what it asks of, so that it is read and reached first; on a phone it stands at the thumb. */}
          {session.scopes?.includes("ask") && (
            <search class="dock">
              <AskField label={say("ask")} send={say("askSend")} onAsk={ask} />
            </search>
          )}
          <Problem text={problem} />
          <Waits session={session} />
          <FailedPress pressing={pressing} />
          {needs && <NeedsALook needs={needs} reload={news.reload} />}
          {isFine && !isEmpty && <Fine text={say("allFine")} />}
          {!things && !problem && <AreasSkeleton />}
          {things && isFirst(session, things) && (
            <p class="quiet">
              {say("profileNow")} <a href={addressOfPlace("setup", "profile")}>{say("profileChoose")}</a>
            </p>
          )}
          {things && !isEmpty && <Chips things={things} counts={status?.agents} />}
          {things && !isEmpty && <Areas things={things} pressing={pressing} />}
          {isEmpty && <New session={session} />}
        </div>
        {!isEmpty && <Today session={session} things={things} rules={news.rules} looks={looks} />}
      </div>
    </Screen>
  );
}

/** A device has done by then what was approved, and its record says so. */
const SETTLED_MS = 2_500;

/** Looks at the home again when a question comes or goes: what it was about changes then. @returns how often it has looked */
function useLooksAfterAnswers(questions: number | undefined, reload: () => void): number {
  const [looks, setLooks] = useState(0);
  const before = useRef(questions);
  useEffect(() => {
    const isFirst = before.current === undefined;
    before.current = questions;
    if (isFirst) return;
    const look = () => {
      reload();
      setLooks((count) => count + 1);
    };
    look();
    const timer = setTimeout(look, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [questions]);
  return looks;
}

/** Nobody has chosen yet what may be done with the broker's devices. */
function isFirst({ role, scopes }: SessionView, things: readonly Thing[]): boolean {
  const devices = things.flatMap(({ device }) => device ?? []);
  const isOwner = role === "owner" && (scopes?.includes("admin") ?? false);
  return isOwner && devices.length > 0 && devices.every(({ chosen, mode }) => !chosen && mode !== "allowed");
}

function bridgeText(since: number | null): string {
  return since === null ? say("bridgeNever") : say("bridgeAway", { time: timeText(since, Date.now()) });
}

function ask(text: string): void {
  const id = newConversationId();
  askLater(id, text);
  openConversation(id);
}
