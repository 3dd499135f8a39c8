/** The outcome of a command, as a card. */
import type { CommandReport } from "@edgecall/client/routes.ts";
import { Pre } from "./markdown-view.tsx";
import { type Media, MediaList } from "./media-view.tsx";
import { outcomeOf } from "./outcome.ts";
import { duration } from "./times.ts";

export function CommandReply({ reply, agent }: { reply: CommandReport; agent: string }) {
  const { payload, elapsed_ms } = reply;
  const { style, words, text } = outcomeOf(reply);
  return (
    <div class={`call ${style}`} role="status">
      <p class="quiet">
        {words} in {duration(elapsed_ms)}
      </p>
      <Pre text={text} label="result" />
      <MediaList media={Array.isArray(payload.media) ? (payload.media as Media[]) : []} agent={agent} />
    </div>
  );
}
