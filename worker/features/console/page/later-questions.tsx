/** The questions of a call on Home. Their card is a script of its own: most visits have none. */
import type { OpenQuestion, SessionView } from "@edgecall/client/routes.ts";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

type Props = { of: readonly OpenQuestion[]; session: SessionView };

export function LaterQuestions(props: Props) {
  const [Shown, setShown] = useState<ComponentType<Props>>();
  const isAsked = props.of.length > 0;
  useEffect(() => {
    if (!isAsked) return;
    import("./waiting.tsx").then(
      ({ Questions }) => setShown(() => Questions),
      // What waits stands above with its link, which tries again.
      () => {},
    );
  }, [isAsked]);
  return isAsked && Shown ? <Shown {...props} /> : null;
}
