/** What was done on a device lately, in sentences. For administrators, who may read the record. */
import type { SessionView } from "@edgecall/client/routes.ts";
import { happeningsOf } from "../home/happenings.ts";
import { useLoaded } from "../load.tsx";
import { say, timeText } from "../texts/say.ts";
import type { Thing } from "../things.ts";
import { useRuleNames } from "../use-rule-names.ts";

const SHOWN = 5;

export function Lately({ agent, thing, session }: { agent: string; thing: Thing; session: SessionView }) {
  const { value } = useLoaded("GET /v1/audit", { query: { agent, limit: 40 } });
  const ruleName = useRuleNames();
  const now = Date.now();
  const all = happeningsOf({
    lines: value?.entries ?? [],
    things: [thing],
    rules: [],
    ruleName,
    now,
    me: session.name ?? "",
    since: 0,
  });
  if (all.length === 0) return null;
  return (
    <section>
      <h3>{say("lately")}</h3>
      <ol class="rows">
        {all.slice(0, SHOWN).map(({ at, title, second, isBad }) => (
          <li key={at} class="event">
            <time class="num quiet" dateTime={new Date(at).toISOString()}>
              {timeText(at, now)}
            </time>
            <div class="grow">
              <p class={isBad ? "bad-text" : undefined}>{title}</p>
              <p class="second">{second}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
