/** What waits for the person: the oldest few, each with its way to the whole question. */
import type { OpenQuestion, SessionView } from "@edgecall/client/routes.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { useContext } from "preact/hooks";
import { addressOfPlace } from "../address.ts";
import { OpenQuestions } from "../open-questions.tsx";
import { Line, Mark } from "../parts/parts.tsx";
import { say } from "../texts/say.ts";

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
          <Line
            key={question.id}
            mark={<Mark icon={question.approval ? "shield" : "chats"} tone="wait" />}
            title={titleOf(question)}
            second={fromOf(question, session)}
          >
            <a class="button small" href={addressOfPlace("waiting", question.id)}>
              {say("open")}
            </a>
          </Line>
        ))}
      </ul>
    </section>
  );
}

/** Of an approval it is the sentence. */
/** A question is one sentence; what follows it stands in its card. */
function titleOf({ text }: OpenQuestion): string {
  return visible(text.split("\n", 1)[0] ?? "");
}

function fromOf({ channel, conversation, title }: OpenQuestion, { name }: SessionView): string {
  if (channel === "command") return say("byCommand", { name: name ?? "" });
  return channel === "api"
    ? say("inChat", { title: visible(title ?? conversation) })
    : say("overChat", { channel });
}
