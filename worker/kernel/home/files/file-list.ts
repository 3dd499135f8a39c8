/**
 * The list of the pictures and files that devices sent to any conversation of the home, the newest first. Rows of Home; the
 * conversations have the bytes, and decide what is left of them.
 */

import { toBase64Url, utf8 } from "@edgecall/core/encoding.ts";
import type { FileQuery, ListedFile, NewFiles } from "../../api/files.ts";
import { maySee, type Viewer } from "../../api/may-see.ts";
import { kindOfMedia } from "../../api/media.ts";
import { SqlStore } from "../../sql-store.ts";
import { slot } from "../slot.ts";

/** The newest so many files of a home are listed: a page reads no more rows. */
const LISTED_MAX = 2_000;

type FileRow = {
  id: string;
  at: number;
  ends_at: number;
  principal: string | null;
  agent: string;
  action: string | null;
  media_type: string;
  bytes: number;
};

export class FileList extends SqlStore {
  /** The same file again changes nothing. */
  add({ files, by }: NewFiles): void {
    for (const { id, at, endsAt, agent, action, media_type, bytes } of files)
      this.sql.exec(
        `INSERT OR IGNORE INTO file (at, id, ends_at, principal, agent, action, media_type, bytes)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[at, id, endsAt, by ?? null, agent, action, media_type, bytes],
      );
  }

  /**
   * Those that the caller may see, by the same rule as the files themselves (routes/media.ts).
   * @param shared the conversations that were shared with the caller, as `home/channel/id`
   */
  page(
    viewer: Viewer,
    shared: ReadonlySet<string>,
    home: string,
    { after, limit }: FileQuery,
    now: number,
  ): ListedFile[] {
    const rows = this.sql.exec<FileRow>`SELECT * FROM file
      WHERE (at, id) < (${after?.at ?? Number.MAX_SAFE_INTEGER}, ${after?.id ?? ""})
      ORDER BY at DESC, id DESC LIMIT ${LISTED_MAX}`;
    const page: ListedFile[] = [];
    for (const { principal, ends_at: endsAt, ...file } of rows) {
      const place = kindOfMedia(file.id);
      if (endsAt <= now || !place) continue;
      const by = principal ?? undefined;
      const sharedWith = shared.has(`${home}/${place.name}`) ? [viewer.name] : [];
      if (!maySee(viewer, { kind: place.kind, by, sharedWith })) continue;
      page.push({ ...file, endsAt });
      if (page.length === limit) break;
    }
    return page;
  }

  /** The files of a conversation were deleted with it. @param name `home/channel/id` */
  forget(name: string): void {
    const [, ...rest] = name.split("/");
    const place = toBase64Url(utf8(rest.join("/")));
    this.sql.exec("DELETE FROM file WHERE substr(id, instr(id, '.') + 1) = ?", place);
  }

  /** The conversation does not have it any more. */
  remove(id: string): void {
    this.sql.exec("DELETE FROM file WHERE id = ?", id);
  }

  prune(now: number): void {
    this.sql.exec("DELETE FROM file WHERE ends_at <= ?", now);
    this.sql.exec`DELETE FROM file WHERE (at, id) <= (SELECT at, id FROM file
      ORDER BY at DESC, id DESC LIMIT 1 OFFSET ${LISTED_MAX})`;
  }
}

export const filesOf = slot(({ ctx }) => new FileList(ctx.storage));
