/** Who is at home: what each source says, who said that they are away, and the word of the person who looks. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useId } from "preact/hooks";
import { client } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Small } from "../controls.tsx";
import { Problem } from "../load.tsx";
import { Line, Mark } from "../parts/parts.tsx";
import { agoText, language, say } from "../texts/say.ts";

type List = Pick<AnswerOf<"GET /v1/automations">, "away" | "presence">;
type Props = { list: List; session: SessionView; onChange: () => void };

const HOME = { somebody: "homeSomebody", nobody: "homeNobody", unknown: "homeUnknown" } as const;
const SAYS = { home: "isAtHome", away: "isAway", unknown: "notKnown" } as const;

export function AtHome({ list: { away, presence }, session, onChange }: Props) {
  const id = useId();
  const { failed, busy, attempt } = useAttempt(onChange);
  const isAway = away.some(({ person }) => person === session.name);
  const now = Date.now();
  return (
    <section class="panel" aria-labelledby={id} lang={language()}>
      <div class="row">
        <h2 id={id}>{say("atHome")}</h2>
        {session.role !== "guest" && (
          <Small
            disabled={busy}
            onClick={() => attempt(() => client.json("PUT /v1/presence", { body: { away: !isAway } }))}
          >
            {say(isAway ? "iAmBack" : "iAmAway")}
          </Small>
        )}
      </div>
      <p role="status">{say(presence ? HOME[presence.home] : "homeNoSource")}</p>
      <ul class="rows">
        {presence?.sources.map(({ name, says }) => (
          <Line
            key={name}
            mark={<Mark icon="home" tone={says === "home" ? "on" : says === "away" ? "plain" : "gone"} />}
            title={visible(name)}
            second={say(SAYS[says])}
          />
        ))}
        {away.map(({ person, name, at }) => (
          <Line
            key={person}
            mark={<Mark icon="away" />}
            title={visible(name)}
            second={say("saidAway", { ago: agoText(at, now) })}
          />
        ))}
      </ul>
      <Problem text={failed} />
    </section>
  );
}
