/**
 * Keeps the pictures of a call that belongs to no conversation (of MCP, or a command), where its uploads are kept, and lists both: a client
 * finds them again later.
 */

import { fromBase64 } from "@edgecall/core/encoding.ts";
import type { SettledOutcome } from "../../api/calls.ts";
import { mediaId, newMedia } from "../../api/media.ts";
import { conversationOf } from "../../api/stubs.ts";
import { logError } from "../../log.ts";
import type { HomeContext } from "../context.ts";
import { filesOf } from "../files/file-list.ts";
import type { LedgerCall } from "../ledger/ledger.ts";
import { placeOf } from "./call-watchers.ts";

/** Nothing waits for it: the outcome brings the pictures all the same. */
export function keepBroughtFiles(home: HomeContext, call: LedgerCall, outcome: SettledOutcome): void {
  if (call.conversation !== null || call.asker !== null || !outcome.media) return;
  home.ctx.waitUntil(
    keep(home, call, outcome).catch((error: unknown) => logError("files.unlisted", error, { call: call.id })),
  );
}

async function keep(home: HomeContext, call: LedgerCall, { media = [] }: SettledOutcome): Promise<void> {
  const files = filesOf(home);
  const { env, name } = home;
  const { id, agent, payload, caller } = call;
  const place = placeOf(call, name);
  const pictures = await Promise.all(
    media.flatMap((item, index) =>
      "data" in item
        ? [newMedia(mediaId(`${id}-${index}`, place), item.media_type, fromBase64(item.data))]
        : [],
    ),
  );
  // A device may claim any id; its place says which of them it has.
  const uploads = media.flatMap((item) => ("id" in item ? [item.id] : []));
  const ids = [...pictures.map((picture) => picture.id), ...uploads];
  const { principal } = caller;
  const kept = await conversationOf(env, place).keepBrought({ pictures, ids, principal });
  const from = { agent, action: typeof payload.tool === "string" ? payload.tool : null };
  files.add({ files: kept.map((file) => ({ ...file, ...from })), by: principal });
}
