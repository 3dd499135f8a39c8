/** Today, in sentences: what was changed and by whom, what a rule told, what went away. The newest first. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import type { SessionView } from "@edgecall/client/routes.ts";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useLoaded } from "../load.tsx";
import { say, timeText } from "../texts/say.ts";
import type { Thing } from "../things.ts";
import { useRepeated } from "../use-repeated.ts";
import { type Happening, happeningsOf } from "./happenings.ts";

type Rules = readonly AnswerOf<"GET /v1/rules">["rules"][number][];
type Props = {
  session: SessionView;
  things: readonly Thing[] | undefined;
  rules: Rules;
  /** Another number: something may have been done. */
  looks: number;
};

const SHOWN = 8;
const LINES = 200;

type Automation = AnswerOf<"GET /v1/automations">["automations"][number];
type Listed = Omit<Props, "looks"> & { automations: readonly Automation[] };

export function Today(props: Props) {
  const { value, reload } = useLoaded("GET /v1/automations");
  useRepeated(reload);
  const given = { ...props, automations: value?.automations ?? [] };
  // The devices' records are for administrators.
  return props.session.scopes?.includes("admin") ? <WithRecord {...given} /> : <List {...given} lines={[]} />;
}

function WithRecord(props: Listed & Pick<Props, "looks">) {
  const since = useMemo(() => {
    const day = new Date();
    day.setHours(0, 0, 0, 0);
    return `${day.toISOString().slice(0, 19)}Z`;
  }, []);
  const { value, reload } = useLoaded("GET /v1/audit", { query: { since, limit: LINES } });
  // A state that changes was changed by something that the record may have.
  const changes = `${props.looks} ${props.things?.map(({ state }) => state).join()}`;
  const seen = useRef<string>(undefined);
  useEffect(() => {
    if (props.things === undefined) return;
    if (seen.current !== undefined) void reload();
    seen.current = changes;
  }, [changes]);
  return <List {...props} lines={value?.entries ?? []} />;
}

function List({
  session,
  things = [],
  rules,
  automations,
  lines,
}: Listed & { lines: AnswerOf<"GET /v1/audit">["entries"] }) {
  const now = Date.now();
  const all = happeningsOf({ lines, things, rules, automations, now, me: session.name ?? "" });
  return (
    <aside class="today" aria-labelledby="today">
      <div class="block-head">
        <h2 id="today">{say("today")}</h2>
        <a href="#/record">{say("all")}</a>
      </div>
      {all.length === 0 ? (
        <p class="quiet">{say("nothingToday")}</p>
      ) : (
        <ol class="card rows">
          {all.slice(0, SHOWN).map((one) => (
            <Row key={`${one.at} ${one.title}`} one={one} now={now} />
          ))}
        </ol>
      )}
    </aside>
  );
}

function Row({ one: { at, title, second, isBad }, now }: { one: Happening; now: number }) {
  return (
    <li class="event">
      <time class="num quiet" dateTime={new Date(at).toISOString()}>
        {timeText(at, now)}
      </time>
      <div class="grow">
        <p class={isBad ? "title bad-text" : "title"}>{title}</p>
        {second !== "" && <p class="second">{second}</p>}
      </div>
    </li>
  );
}
