/** What needs a look: rules that fire, what is wrong, what is offline, batteries that are low. Nothing is drawn when there is nothing. */
import { useState } from "preact/hooks";
import { client } from "../api.ts";
import { useAttempt } from "../attempt.ts";
import { Small } from "../controls.tsx";
import { Problem } from "../load.tsx";
import { Line, Mark } from "../parts/parts.tsx";
import { say } from "../texts/say.ts";
import type { Need } from "./summary.ts";

/** More are behind a button. */
const SHOWN = 5;

export function NeedsALook({ needs, reload }: { needs: readonly Need[]; reload: () => void }) {
  const { failed, busy, attempt } = useAttempt(reload);
  const [all, setAll] = useState(false);
  if (needs.length === 0) return null;
  const shown = all ? needs : needs.slice(0, SHOWN);
  return (
    <section aria-labelledby="needs">
      <h2 id="needs" class="unseen">
        {say("needsALook")}
      </h2>
      <ul class="card rows needs">
        {shown.map(({ key, icon, tone, title, second, firing, href }) => (
          <Line key={key} mark={<Mark icon={icon} tone={tone} />} title={title} second={second}>
            {firing ? (
              <Small
                kind="bare"
                disabled={busy}
                aria-label={say("gotItOf", { name: title })}
                onClick={() =>
                  attempt(() => {
                    const { rule, occurrence } = firing;
                    const body = { do: "ack", occurrence } as const;
                    return client.json("POST /v1/rules/{rule}/press", { path: { rule }, body });
                  })
                }
              >
                {say("gotIt")}
              </Small>
            ) : (
              <a class="more-link" href={href} aria-label={say("showOf", { name: title })}>
                {say("show")}
              </a>
            )}
          </Line>
        ))}
        {needs.length > shown.length && (
          <li class="line">
            <Small kind="bare" onClick={() => setAll(true)}>
              {say("moreOf", { count: needs.length - shown.length })}
            </Small>
          </li>
        )}
      </ul>
      <Problem text={failed} />
    </section>
  );
}
