/** Home, from top to bottom: asking, what waits, what needs a look, the home in a few chips, its areas, and today. */

import { useContext } from "preact/hooks";
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
          {things && !isEmpty && <Chips things={things} counts={status?.agents} />}
          {things && !isEmpty && <Areas things={things} pressing={pressing} />}
          {isEmpty && <New session={session} />}
        </div>
        {!isEmpty && <Today session={session} things={things} rules={news.rules} />}
      </div>
    </Screen>
  );
}

function bridgeText(since: number | null): string {
  return since === null ? say("bridgeNever") : say("bridgeAway", { time: timeText(since, Date.now()) });
}

function ask(text: string): void {
  const id = newConversationId();
  askLater(id, text);
  openConversation(id);
}
