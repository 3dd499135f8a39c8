/** Something that another home lends: how it is, and where the terms stand. */
import { Mark } from "../parts/parts.tsx";
import { say } from "../texts/say.ts";
import type { Thing } from "../things.ts";

export function LentPage({ thing: { id, name, tone, state, source, line } }: { thing: Thing }) {
  return (
    <article class="card device-page" aria-labelledby={`lent-${id}`}>
      <header>
        <Mark icon="globe" tone={tone} large />
        <div class="grow">
          <h2 id={`lent-${id}`}>{name}</h2>
          <p>
            <strong>{state}</strong> <span class="quiet">{source}</span>
          </p>
        </div>
      </header>
      {line && <p>{line}</p>}
      <p>
        <a href="#/setup/lending">{say("lentTerms")}</a>
      </p>
    </article>
  );
}
