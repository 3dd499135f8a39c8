/** Pictures and files of a conversation, in its own rows: they are deleted with it, or when their time is over. */
import { fromBase64, toBase64 } from "@edgecall/core/encoding.ts";
import type { Outcome } from "@edgecall/core/loop/history.ts";
import { isPicture, MEDIA_MAX_BYTES, type StoredMedia } from "@edgecall/core/protocol/media.ts";
import type { KeptFile } from "../../api/files.ts";
import { type MediaContent, mediaId, type NewMedia, newMedia } from "../../api/media.ts";
import type { Env } from "../../env.ts";
import type { MediaLimits } from "../../settings/settings.ts";
import { settingsOrError } from "../../settings/settings.ts";
import { SettingsError } from "../../settings/settings-error.ts";
import { SqlStore } from "../../sql-store.ts";
import { Tables } from "./tables.ts";

/** Of one row; SQLite objects take 2 MB, and a smaller row is read in one page run. */
const PART_BYTES = 512 * 1024;
/** A picture above this is named to the model and not shown: its request has an end too. */
const SHOWN_MAX_BYTES = 4 * 1024 * 1024;

/** While the settings cannot be read. */
const DEFAULT_LIMITS: MediaLimits = { keepMs: 30 * 86_400_000, keepBytes: 64 * 1024 * 1024 };

function mediaLimits(env: Env): MediaLimits {
  const settings = settingsOrError(env);
  return settings instanceof SettingsError ? DEFAULT_LIMITS : settings.media;
}

type MediaRow = { id: string; media_type: string; bytes: number; sha256: string; created_at: number };

export class MediaStore extends SqlStore {
  readonly #env: Env;
  readonly #name: string;
  readonly #tables: Tables;

  /** @param name `home/channel/id` of the conversation */
  constructor(storage: DurableObjectStorage, env: Env, name: string, tables = new Tables(storage)) {
    super(storage);
    this.#env = env;
    this.#name = name;
    this.#tables = tables;
  }

  /**
   * Keeps something, once: the same id again is recognised. The oldest go when there is too much.
   * @returns false when something else is kept under this id
   */
  add(media: NewMedia): boolean {
    const known = this.#row(media.id);
    if (known) return known.sha256 === media.sha256;
    if (media.data.length !== media.bytes || media.bytes > MEDIA_MAX_BYTES)
      throw new RangeError(`${media.data.length} bytes where ${media.bytes} were announced`);
    this.#tables.need("media");
    this.#tables.need("media_part");
    this.sql.insert("INTO media", {
      id: media.id,
      media_type: media.media_type,
      bytes: media.bytes,
      sha256: media.sha256,
      created_at: Date.now(),
    });
    for (let position = 0; position * PART_BYTES < media.data.length; position += 1) {
      // A copy: SQLite's driver takes a view for all of its buffer.
      const part = media.data.slice(position * PART_BYTES, (position + 1) * PART_BYTES);
      this.sql.insert("INTO media_part", { media: media.id, position, data: part.buffer });
    }
    this.trim();
    return true;
  }

  /** Stores the principal that this is for, once. */
  setOwner(principal: string): void {
    this.#tables.need("belongs");
    this.sql.exec("INSERT OR IGNORE INTO belongs (one, principal) VALUES (1, ?)", principal);
  }

  owner(): string | undefined {
    if (!this.#tables.has("belongs")) return undefined;
    return this.sql.first<{ principal: string }>("SELECT principal FROM belongs")?.principal;
  }

  has(id: string): boolean {
    return this.#row(id) !== undefined;
  }

  /** Those of these that are here. @param lifeMs they are deleted so long after they came, if not before */
  keptOf(ids: readonly string[], lifeMs = Number.MAX_SAFE_INTEGER): KeptFile[] {
    const life = Math.min(lifeMs, mediaLimits(this.#env).keepMs);
    return ids.flatMap((id): KeptFile[] => {
      const row = this.#row(id);
      if (!row) return [];
      const { media_type, bytes, created_at: at } = row;
      return [{ id, media_type, bytes, at, endsAt: at + life }];
    });
  }

  get(id: string): MediaContent | undefined {
    const row = this.#row(id);
    if (!row) return undefined;
    const data = new Uint8Array(row.bytes);
    let at = 0;
    const parts = this.sql.exec<{ data: ArrayBuffer }>`SELECT data FROM media_part WHERE media = ${id}
      ORDER BY position`;
    for (const { data: part } of parts) {
      data.set(new Uint8Array(part), at);
      at += part.byteLength;
    }
    return { mediaType: row.media_type, sha256: row.sha256, data };
  }

  /** A picture as a `data:` URL for a model. Undefined: it was deleted, or is too large. */
  dataUrl(id: string): string | undefined {
    const row = this.#row(id);
    if (!row || row.bytes > SHOWN_MAX_BYTES || !isPicture(row)) return undefined;
    const content = this.get(id);
    return content && `data:${row.media_type};base64,${toBase64(content.data)}`;
  }

  /** Deletes everything that is too old, and the oldest while there is too much. */
  trim(): void {
    if (!this.#tables.has("media")) return;
    const { keepMs, keepBytes } = mediaLimits(this.#env);
    const now = Date.now();
    const rows = this.sql.all<MediaRow>("SELECT * FROM media ORDER BY created_at DESC, id DESC");
    let total = 0;
    for (const row of rows) {
      total += row.bytes;
      if (row.created_at + keepMs > now && total <= keepBytes) continue;
      this.sql.exec("DELETE FROM media_part WHERE media = ?", row.id);
      this.sql.exec("DELETE FROM media WHERE id = ?", row.id);
    }
  }

  /** The time at which the oldest is deleted (epoch ms). */
  nextExpiry(): number | undefined {
    if (!this.#tables.has("media")) return undefined;
    const { oldest } = this.sql.one<{ oldest: number | null }>("SELECT MIN(created_at) AS oldest FROM media");
    return oldest === null ? undefined : oldest + mediaLimits(this.#env).keepMs;
  }

  /**
   * Pictures that came in a report become kept ones, to be added with the outcome: a row of an outcome holds
   * references only. Ids are made of the call's, so a repeat is recognised.
   */
  async separate(callId: string, outcome: Outcome): Promise<{ outcome: Outcome; added: NewMedia[] }> {
    const added: NewMedia[] = [];
    if (!outcome.media) return { outcome, added };
    const stored: StoredMedia[] = [];
    let text = outcome.text;
    for (const [index, item] of outcome.media.entries()) {
      if ("data" in item) {
        const id = mediaId(`${callId}-${index}`, this.#name);
        const media = await newMedia(id, item.media_type, fromBase64(item.data));
        added.push(media);
        stored.push(refOf(media));
      } else if (this.has(item.id)) stored.push(item);
      else text += `\n[${item.media_type} of ${item.bytes} bytes: it did not arrive]`;
    }
    return { outcome: { ...outcome, text, media: stored }, added };
  }

  #row(id: string): MediaRow | undefined {
    if (!this.#tables.has("media")) return undefined;
    return this.sql.first<MediaRow>("SELECT * FROM media WHERE id = ?", id);
  }
}

/** Ids of the pictures and files that a call brought. */
export function filesOf({ media = [] }: Outcome): string[] {
  return media.flatMap((one) => ("id" in one ? [one.id] : []));
}

function refOf({ id, media_type, bytes, sha256 }: StoredMedia): StoredMedia {
  return { id, media_type, bytes, sha256 };
}
