/** An icon never stands alone for something: a name is beside it, or is what it is called. */
import { type IconName, PATHS } from "./icon-paths.ts";

export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" class="icon">
      <path d={PATHS[name]} />
    </svg>
  );
}
