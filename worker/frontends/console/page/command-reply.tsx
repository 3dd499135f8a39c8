/** The outcome of a command in words. */
import type { CommandReport } from "@edgecall/client/routes.ts";
import { forPerson } from "@edgecall/core/tools/advice.ts";
import { Pre } from "./markdown-view.tsx";
import { type Media, MediaList } from "./media-view.tsx";
import { duration } from "./times.ts";

export function CommandReply({ reply, agent }: { reply: CommandReport; agent: string }) {
  const { payload, elapsed_ms } = reply;
  const said = payload.silent === true ? undefined : payload.for_user;
  const text = [payload.error, said === payload.result ? undefined : said, payload.result, payload.stderr]
    .filter((part): part is string => typeof part === "string" && part !== "")
    .map((part) => forPerson({ text: part }));
  const shown = text.length > 0 ? text.join("\n") : JSON.stringify(payload, null, 2);
  return (
    <div class={`call ${hasFailed(reply) ? "error" : "success"}`} role="status">
      <p class="quiet">
        {headingOf(reply)}
        {` in ${duration(elapsed_ms)}`}
      </p>
      <Pre text={shown} label="result" />
      <MediaList media={Array.isArray(payload.media) ? (payload.media as Media[]) : []} agent={agent} />
    </div>
  );
}

function hasFailed({ report_type, payload }: CommandReport): boolean {
  return report_type === "error" || payload.status === "error";
}

function headingOf(reply: CommandReport): string {
  const { confirmed, error_type } = reply.payload;
  if (error_type === "outcome_unknown") return "not confirmed";
  if (hasFailed(reply)) return `failed${error_type ? `: ${String(error_type)}` : ""}`;
  return confirmed === false ? "sent, not confirmed" : "done";
}
