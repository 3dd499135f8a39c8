/** The oldest questions that wait for the person, each with its answer or the way to its sheet. */
import type { OpenQuestion, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useContext } from "preact/hooks";
import { OpenQuestions } from "../open-questions.tsx";
import { say } from "../texts/say.ts";
import { WaitRow } from "../wait-row.tsx";

const SHOWN = 3;

export function Waits({ session }: { session: SessionView }) {
  const open = useContext(OpenQuestions);
  if (!open || open.total === 0) return null;
  return (
    <section class="card waits-card" aria-labelledby="waits">
      <div class="block-head">
        <h2 id="waits" class="wait">
          {say("waitCount", { count: open.total })}
        </h2>
        <a href="#/waiting">{say("all")}</a>
      </div>
      <ul class="rows">
        {open.questions.slice(0, SHOWN).map((question) => (
          <WaitRow
            key={question.id}
            question={question}
            session={session}
            second={secondOf(question, session)}
          />
        ))}
      </ul>
    </section>
  );
}

/** The asker and the way; of a question that is no approval, the place. */
function secondOf({ approval, channel, conversation, title }: OpenQuestion, { name }: SessionView): string {
  if (approval?.card) return visible(approval.card.asker);
  if (channel === "command") return say("byCommand", { name: name ?? "" });
  return channel === "api"
    ? say("inChat", { title: visible(title ?? conversation) })
    : say("overChat", { channel });
}
