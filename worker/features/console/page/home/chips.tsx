/** The home at a glance. A chip opens the list of what it counts, and never acts. */

import { addressOfPlace } from "../address.ts";
import { Icon } from "../parts/icon.tsx";
import { say } from "../texts/say.ts";
import type { Thing } from "../things.ts";
import { chipsOf } from "./summary.ts";

type Props = { things: readonly Thing[]; counts: { known: number; online: number } | undefined };

export function Chips({ things, counts }: Props) {
  return (
    <ul class="chips" aria-label={say("atAGlance")}>
      {chipsOf(things, counts).map(({ show, icon, strong, quiet, on }) => (
        <li key={show}>
          <a class={on ? "chip on" : "chip"} href={addressOfPlace("devices", `:${show}`)}>
            <Icon name={icon} />
            <span>{strong}</span>
            {quiet !== "" && <span class="quiet">{quiet}</span>}
          </a>
        </li>
      ))}
    </ul>
  );
}
