/** Shows a call's pictures and offers its files as downloads. The headers of `/v1/media` keep both from running code. */
import type { StoredMedia } from "@edgecall/client/routes.ts";
import { size } from "./times.ts";

/** A command's report may contain a small picture instead of its id: `data`, in base64. */
export type Media = Pick<StoredMedia, "media_type" | "bytes"> & { id?: string; data?: string };

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function MediaList({ media, agent }: { media: Media[] | undefined; agent: string }) {
  if (!media?.length) return null;
  return (
    <div class="media">
      {media.map(({ id, data, media_type, bytes }) => {
        const isPicture = PICTURES.includes(media_type);
        if (id === undefined && !(isPicture && data !== undefined)) return null;
        const address =
          id === undefined ? `data:${media_type};base64,${data}` : `/v1/media/${encodeURIComponent(id)}`;
        const picture = <img src={address} alt={`from ${agent}, ${size(bytes)}`} loading="lazy" />;
        if (id === undefined) return picture;
        return isPicture ? (
          <a href={address} target="_blank" rel="noopener noreferrer">
            {picture}
          </a>
        ) : (
          <a class="file" href={address} download>
            {media_type}, {size(bytes)}
          </a>
        );
      })}
    </div>
  );
}
